"""What a person types while a turn runs.

The terminal's echo is off meanwhile, because it would tear the text that streams; what is typed is shown on the status
line. A finished line is handed over; an unfinished one stays and becomes the beginning of the next prompt.
"""

from __future__ import annotations

import codecs
import os
import sys
import termios
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import anyio

from legato.cli.terminal.filter import TerminalFilter

_CHUNK = 4_096
_ERASES = "\x7f\x08"
_KILL = "\x15"


class TypingAhead:
    """Gathers keys into lines. `typed` is the line that is not finished yet."""

    def __init__(self) -> None:
        self.typed = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._filter = TerminalFilter()

    def feed(self, data: bytes) -> list[str]:
        """Take keys; the lines that they finish."""
        lines: list[str] = []
        for character in self._decoder.decode(data):
            if character in "\r\n":
                lines.append(self.typed)
                self.typed = ""
            elif character in _ERASES:
                self.typed = self.typed[:-1]
            elif character == _KILL:
                self.typed = ""
            else:
                self.typed += self._filter.feed(character)
        return [line for line in lines if line.strip()]

    def take(self) -> str:
        """The unfinished line, which is then no longer here."""
        typed, self.typed = self.typed, ""
        return typed


class Keyboard:
    """Reads keys while a turn runs, except while somebody asks a question."""

    def __init__(self) -> None:
        self.ahead = TypingAhead()
        self._scope: anyio.CancelScope | None = None
        self._borrowers = 0
        self._changed = anyio.Event()

    async def lend(self) -> None:
        """Stop reading: somebody else needs the keys. The terminal is as it was when this returns."""
        self._borrowers += 1
        while self._scope is not None:
            self._scope.cancel()
            await self._changed.wait()

    def take_back(self) -> None:
        """One who needed the keys is done."""
        self._borrowers -= 1
        self._announce()

    async def listen(self, heard: Callable[[str], None]) -> None:
        """Read until cancelled; `heard` gets each line."""
        while True:
            while self._borrowers:
                await self._changed.wait()
            try:
                with anyio.CancelScope() as self._scope, _without_echo():
                    if not await self._read(heard):
                        return
            finally:
                self._scope = None
                self._announce()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _read(self, heard: Callable[[str], None]) -> bool:
        """Read until the keyboard is lent; False if there is no keyboard any more."""
        while True:
            await anyio.wait_readable(sys.stdin.fileno())
            try:
                data = os.read(sys.stdin.fileno(), _CHUNK)
            except OSError:
                return False
            if not data:
                return False
            for line in self.ahead.feed(data):
                heard(line)


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
