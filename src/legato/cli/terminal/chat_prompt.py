"""What a conversation needs of its prompt, and the plainest one: lines, for terminals that can do nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from typing import Protocol

from msgspec import Struct

from legato.cli.terminal.reading import PlainReader
from legato.cli.terminal.screen import Screen

MARK = "› "
"""before what a person says"""


class Suggestion:
    """One completion: the text that replaces the last `length` characters, and a word about it."""

    __slots__ = ("about", "length", "text")

    def __init__(self, text: str, length: int, about: str = "") -> None:
        self.text, self.length, self.about = text, length, about


Suggest = Callable[[str], Iterable[Suggestion]]
"""what may be behind the text before the cursor"""


class PromptActions(Struct, kw_only=True):
    """What keys do outside of the prompt, and what is shown below it."""

    below: Callable[[], str] = lambda: ""
    suggest: Suggest = lambda _: ()

    interrupt: Callable[[], None] = lambda: None
    """end what runs"""
    submitted: Callable[[str], bool] = lambda _: False
    """a line was sent while something runs; returns whether that is all, or it is to wait for its turn"""
    next_mode: Callable[[], None] = lambda: None
    """go on to the next approval mode"""
    open_output: Callable[[], None] = lambda: None
    """show what was folded"""
    last_message: Callable[[], str] = lambda: ""
    """what the person said last"""


class ChatPrompt(Protocol):
    """Asks for messages and answers."""

    @property
    def actions(self) -> PromptActions:
        """What keys do; it is there to be changed."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """The prompt is there until this is left."""
        ...

    def busy(self) -> AbstractContextManager[None]:
        """Something runs that can be interrupted."""
        ...

    def aside(self) -> AbstractAsyncContextManager[None]:
        """Someone else reads the keys."""
        ...

    async def message(self, *, default: str = "") -> str:
        """The next message; raises `EOFError` on Ctrl-D and `KeyboardInterrupt` on Ctrl-C at an empty line."""
        ...

    async def line(self, question: str, *, default: str = "") -> str:
        """The answer to a question; raises `EOFError` and `KeyboardInterrupt` likewise."""
        ...

    def take_messages(self) -> list[str]:
        """The messages that were sent meanwhile, up to the first command; they wait no longer."""
        ...

    def take_back(self) -> None:
        """Put what waits back to where it can be edited."""
        ...

    def take_replacing(self) -> bool:
        """Whether the message that was just given takes the place of the last one; asked once."""
        ...

    def tell(self, title: str, *, bell: bool = False) -> None:
        """Name the terminal's window, and ring if a person is waited for."""
        ...


class PlainPrompt:
    """Reads lines as the terminal gives them. While something runs nothing is read, and Ctrl-C is a signal."""

    def __init__(self, screen: Screen) -> None:
        self.actions = PromptActions()
        self._reader = PlainReader(screen)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Nothing is drawn."""
        return nullcontext()

    def busy(self) -> AbstractContextManager[None]:
        """Nothing is read."""
        return nullcontext()

    def aside(self) -> AbstractAsyncContextManager[None]:
        """Nothing is in the way."""
        return nullcontext()

    async def message(self, *, default: str = "") -> str:
        """A line."""
        return await self._reader.line(MARK, default=default)

    async def line(self, question: str, *, default: str = "") -> str:
        """A line."""
        return await self._reader.line(question, default=default)

    def take_messages(self) -> list[str]:
        """None: nothing was read."""
        return []

    def take_back(self) -> None:
        """Nothing waits."""

    def take_replacing(self) -> bool:
        """Never."""
        return False

    def tell(self, title: str, *, bell: bool = False) -> None:
        """Such a terminal has no title, and may show the bell as a letter."""
