"""One stream to a person: lines, and below them one line that comes and goes.

The status line is drawn only on a terminal that can erase it again and only where a line is free; whatever is written
takes its place. No one but this module writes control sequences that move the cursor.

Standard output and standard error usually end at the same terminal, which has one cursor. Two screens for it are made
`beside` each other and share what is known about that cursor: neither draws its status line over the other's text, and
neither goes on in a line that the other began.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TextIO

from legato.cli.terminal.styles import ColorChoice, Style, is_dumb, paint, wants_colour

_ERASE = "\r\x1b[K"


class _Cursor:
    """Where a terminal's cursor is, as far as what was written tells."""

    def __init__(self) -> None:
        self.writer: Screen | None = None
        """who wrote the unfinished line that it is in; None at the beginning of a line"""
        self.status = ""
        """the status line that it is behind"""


class Screen:
    """Writes to `stream`. Text given to `write` must be harmless already."""

    has_keys = False
    """whether keys are read beside it, such as the one that opens what was folded"""

    def __init__(self, stream: TextIO, color: ColorChoice = ColorChoice.AUTO, *, beside: Screen | None = None) -> None:
        self._stream = stream
        self.has_colour = wants_colour(stream, color)
        self.is_terminal = stream.isatty()
        self.is_live = self.is_terminal and not is_dumb()
        """whether a line can be erased again"""
        # Two different terminals are taken for one: that is rare, and costs no more than an additional line end.
        is_shared = beside is not None and beside.is_terminal and self.is_terminal
        self._cursor = beside._cursor if beside is not None and is_shared else _Cursor()

    @property
    def width(self) -> int:
        """Columns; 80 where no one knows."""
        return max(shutil.get_terminal_size((80, 24)).columns, 20)

    def write(self, text: str, style: Style | None = None) -> None:
        """Write `text` where the cursor is."""
        if not text:
            return
        if self._cursor.writer is not self:
            self.fresh_line()
        self._erase()
        self._stream.write(self.painted(text, style))
        self._stream.flush()
        self._cursor.writer = None if text.endswith("\n") else self

    def line(self, text: str = "", style: Style | None = None) -> None:
        """Write `text` as lines of its own; words are wrapped where a terminal would break them."""
        self.fresh_line()
        self.write(f"{self._wrapped(text)}\n", style)

    def row(self, painted: str) -> None:
        """Write a row that fits, in colours of its own."""
        self.fresh_line()
        self.write(f"{painted}\n")

    def preview(self, rows: Sequence[str]) -> None:
        """Show rows that may still change, where that is possible."""

    def _wrapped(self, text: str) -> str:
        if not self.is_live or "\x1b" in text:
            return text
        from legato.cli.terminal.spans import cells, wrap_text

        return "\n".join(
            row
            for line in text.split("\n")
            for row in (wrap_text(line, self.width) if cells(line) > self.width else [line])
        )

    def quote(self, line: str, style: Style | None = None) -> None:
        """Write one line of someone else behind a bar, where it cannot pass for one of ours, however long it is."""
        from legato.cli.terminal.cells import barred

        for piece in barred(line, self.width):
            self.line(piece, style)

    def fresh_line(self) -> None:
        """Go to the beginning of a line, if that is not where the cursor is."""
        if self._cursor.writer is not None:
            self._stream.write("\n")
            self._stream.flush()
            self._cursor.writer = None

    def entered(self) -> None:
        """Someone pressed Enter: the terminal itself began a line."""
        self._cursor.writer = None

    def leave(self) -> None:
        """Nothing more is written here: leave the cursor where others may write."""
        self.status("")
        self.fresh_line()

    def painted(self, text: str, style: Style | None) -> str:
        """`text` in `style`, where colours are wanted."""
        return paint(text, style) if style is not None and self.has_colour else text

    def status(self, text: str) -> None:
        """Show `text` on the status line, or take it away if it is empty."""
        if not self.is_live or self._cursor.writer is not None or text == self._cursor.status:
            return
        if not text:
            self._erase()
            self._stream.flush()
            return
        from legato.cli.terminal.cells import clip

        shown = clip(text, self.width - 1)
        self._stream.write(f"{_ERASE}{self.painted(shown, Style.DIM)}")
        self._stream.flush()
        self._cursor.status = text

    def _erase(self) -> None:
        if self._cursor.status:
            self._stream.write(_ERASE)
            self._cursor.status = ""
