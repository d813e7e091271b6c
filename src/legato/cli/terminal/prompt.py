"""The prompt of a conversation: editing, history, completion, and a line below it.

Enter sends, Alt-Enter begins a new line. Ctrl-C empties the line, and at an empty one says so to whoever called. At a
question it always does: who means to stop must not find that the next thing they type is taken as the answer.
This is the one module that loads prompt_toolkit; only an interactive conversation imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_selection
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from legato.cli.terminal.cells import one_line
from legato.cli.terminal.reading import drop_typed_ahead


class Suggestion:
    """One completion: the text that replaces the last `length` characters, and a word about it."""

    __slots__ = ("about", "length", "text")

    def __init__(self, text: str, length: int, about: str = "") -> None:
        self.text, self.length, self.about = text, length, about


Suggest = Callable[[str], Iterable[Suggestion]]
"""what may stand behind the text before the cursor"""


class Prompt:
    """Asks for the next message, and for answers to short questions. `below` gives the line below the prompt."""

    below: Callable[[], str]

    def __init__(
        self,
        *,
        suggest: Suggest = lambda _: (),
        history: Path | None = None,
        has_colour: bool = True,
    ) -> None:
        depth = ColorDepth.MONOCHROME if not has_colour else None
        self.below = lambda: ""
        self._messages: PromptSession[str] = PromptSession(
            history=_history(history),
            completer=_SuggestionCompleter(suggest),
            complete_while_typing=True,
            key_bindings=_bindings(_clear_or_interrupt),
            multiline=True,
            color_depth=depth,
            bottom_toolbar=self._toolbar,
            enable_open_in_editor=True,
            reserve_space_for_menu=4,
        )
        self._answers: PromptSession[str] = PromptSession(
            history=InMemoryHistory(), color_depth=depth, key_bindings=_bindings(_interrupt), multiline=True
        )

    async def message(self, *, default: str = "") -> str:
        """The next message; raises `EOFError` on Ctrl-D and `KeyboardInterrupt` on Ctrl-C at an empty line."""
        # Signals are the program's own business, so prompt_toolkit must not take them over.
        return await self._messages.prompt_async("› ", default=default, handle_sigint=False)

    async def line(self, question: str, *, default: str = "") -> str:
        """The answer to a question; raises as `message` does, and on Ctrl-C whatever was typed."""
        drop_typed_ahead()
        return (await self._answers.prompt_async(question, default=default, handle_sigint=False)).strip()

    def _toolbar(self) -> FormattedText:
        return FormattedText([("noreverse dim", one_line(self.below()))])


def _history(path: Path | None) -> History:
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()  # what was typed is then forgotten; no reason not to talk
    return FileHistory(str(path))


def _interrupt(event: KeyPressEvent) -> None:
    event.app.exit(exception=KeyboardInterrupt())


def _clear_or_interrupt(event: KeyPressEvent) -> None:
    if event.current_buffer.text:
        event.current_buffer.reset()
    else:
        _interrupt(event)


def _bindings(on_interrupt: Callable[[KeyPressEvent], None]) -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter", filter=~has_selection)
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
            return
        buffer.validate_and_handle()

    @bindings.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    bindings.add("c-c")(on_interrupt)

    @bindings.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            event.app.exit(exception=EOFError())

    del send, new_line, leave  # they live in the bindings
    return bindings


class _SuggestionCompleter(Completer):
    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Completions for the text before the cursor."""
        for item in self._suggest(document.text_before_cursor):
            yield Completion(
                item.text,
                start_position=-item.length,
                display=one_line(item.text),
                display_meta=one_line(item.about),
            )
