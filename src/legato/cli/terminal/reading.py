"""Lines that a person types, read without anything but the terminal's own line editing.

For a question or two; the prompt of a conversation has its own reader, with history and completion.
"""

from __future__ import annotations

import os
import sys
from typing import Protocol

import anyio

from legato.cli.terminal.screen import Screen

_CHUNK = 4_096
"""bytes that are read at once: a page, more than anyone types"""


class PromptReader(Protocol):
    """Who reads an answer. Raises `EOFError` where no one can answer, `KeyboardInterrupt` on Ctrl-C."""

    async def line(self, question: str, *, default: str = "") -> str:
        """One line, typed behind `question`; `default` is there to be changed, where that can be."""
        ...


class PlainReader:
    """Reads lines from standard input, as the terminal gives them."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._rest = b""

    async def line(self, question: str, *, default: str = "") -> str:
        """One line; an empty one means `default`."""
        self._screen.fresh_line()
        drop_typed_ahead()
        self._screen.write(f"{question}[{default}] " if default else question)
        while b"\n" not in self._rest:
            await anyio.wait_readable(sys.stdin.fileno())
            data = os.read(sys.stdin.fileno(), _CHUNK)
            if not data:
                raise EOFError
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        self._screen.entered()
        return line.decode(errors="replace").strip() or default


def drop_typed_ahead() -> None:
    """Forget what was typed before a question was shown: it cannot be an answer to it."""
    import termios

    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except (termios.error, OSError, ValueError):
        return  # no terminal, so no one types
