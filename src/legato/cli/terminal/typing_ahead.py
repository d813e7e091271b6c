"""What a person types while a turn runs.

The terminal's echo is off meanwhile, because it would tear the text that streams; what is typed is shown on the status
line. A finished line is handed over; an unfinished one stays and becomes the beginning of the next prompt. Esc
interrupts, and leaves what was typed as it is.
"""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from math import inf
from typing import Any, Literal

import anyio

from legato.cli.terminal.keys import ESCAPE_SECONDS, KeyParser, Press, SpecialKey

_CHUNK = 4_096
"""bytes that are read at once: a page, more than anyone types"""

Heard = str | Literal[SpecialKey.ESCAPE]
"""a finished line, or Esc"""


class TypingAhead:
    """Gathers keys into lines. `typed` is the line that is not finished yet."""

    def __init__(self) -> None:
        self.typed = ""
        self._keys = KeyParser()

    @property
    def is_waiting(self) -> bool:
        """Whether a key may still become another one; `settle` says that it will not."""
        return self._keys.is_waiting

    def feed(self, data: bytes) -> list[Heard]:
        """Take what the terminal sent; the lines that it finishes, and each Esc among them."""
        return self._take(self._keys.feed(data))

    def settle(self) -> list[Heard]:
        """Nothing followed what was begun."""
        return self._take(self._keys.settle())

    def take(self) -> str:
        """The unfinished line, which is then no longer here."""
        typed, self.typed = self.typed, ""
        self._keys = KeyParser()  # who reads next does not see what this one has begun to read
        return typed

    def _take(self, presses: Iterable[Press]) -> list[Heard]:
        heard: list[Heard] = []
        for press in presses:
            match press:
                case str():
                    self.typed += press
                case SpecialKey.ENTER:
                    if self.typed.strip():
                        heard.append(self.typed)
                    self.typed = ""
                case SpecialKey.ERASE:
                    self.typed = self.typed[:-1]
                case SpecialKey.ERASE_WORD:
                    self.typed = self.typed.rstrip().rpartition(" ")[0]
                case SpecialKey.ERASE_LINE:
                    self.typed = ""
                case SpecialKey.ESCAPE:
                    heard.append(press)
        return heard


class Keyboard:
    """Reads keys while a turn runs, except while someone asks a question.

    `mark_pastes` lets the terminal say what is pasted, or no longer: a pasted line end is none that sends.
    """

    def __init__(self, mark_pastes: Callable[[bool], None] = lambda _: None) -> None:
        self.ahead = TypingAhead()
        self._mark_pastes = mark_pastes
        self._scope: anyio.CancelScope | None = None
        self._borrowers = 0
        self._changed = anyio.Event()

    async def lend(self) -> None:
        """Stop reading: someone else needs the keys. The terminal is as it was when this returns."""
        self._borrowers += 1
        while self._scope is not None:
            self._scope.cancel()
            await self._changed.wait()

    def take_back(self) -> None:
        """One who needed the keys is done."""
        self._borrowers -= 1
        self._announce()

    async def listen(self, heard: Callable[[str], None], *, interrupted: Callable[[], None]) -> None:
        """Read until cancelled; `heard` gets each line, `interrupted` is called for each Esc."""

        def tell(presses: list[Heard]) -> None:
            for press in presses:
                if isinstance(press, str):
                    heard(press)
                else:
                    interrupted()

        while True:
            while self._borrowers:
                await self._changed.wait()
            try:
                with anyio.CancelScope() as self._scope, self._own_terminal():
                    if not await self._read(tell):
                        return
            finally:
                self._scope = None
                tell(self.ahead.settle())  # whatever follows is someone else's
                self._announce()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    @contextmanager
    def _own_terminal(self) -> Generator[None]:
        with _without_echo():
            self._mark_pastes(True)
            try:
                yield
            finally:
                self._mark_pastes(False)

    async def _read(self, tell: Callable[[list[Heard]], None]) -> bool:
        """Read until the keyboard is lent; False if there is no keyboard any more."""
        descriptor = sys.stdin.fileno()
        while True:
            with anyio.move_on_after(ESCAPE_SECONDS if self.ahead.is_waiting else inf):
                await anyio.wait_readable(descriptor)
            if not _is_readable(descriptor):  # also if this loop was late: what has arrived belongs to what was begun
                tell(self.ahead.settle())
                continue
            try:
                data = os.read(descriptor, _CHUNK)
            except OSError:
                return False
            if not data:
                return False
            tell(self.ahead.feed(data))


def _is_readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])


@contextmanager
def _without_echo() -> Generator[None]:
    """Keys come one by one and are not shown; Ctrl-C still is a signal."""
    descriptor = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        yield
        return
    quiet: list[Any] = [*before]
    quiet[3] = before[3] & ~(termios.ECHO | termios.ICANON)
    quiet[6] = [*before[6]]
    quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, quiet)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
