"""One stream to a person: lines, and below them one line that comes and goes.

The status line is drawn only on a terminal that can erase it again and only where a line is free; whatever is written
takes its place. Nobody but this module writes control sequences that move the cursor.
"""

from __future__ import annotations

import shutil
from typing import TextIO

from legato.cli.terminal.styles import ColorChoice, Style, is_dumb, paint, wants_colour

_ERASE = "\r\x1b[K"


class Screen:
    """Writes to `stream`. Text given to `write` must be harmless already."""

    def __init__(self, stream: TextIO, color: ColorChoice = ColorChoice.AUTO) -> None:
        self._stream = stream
        self.has_colour = wants_colour(stream, color)
        self.is_live = stream.isatty() and not is_dumb()
        """whether a line can be erased again"""
        self._at_start = True
        self._status = ""

    @property
    def width(self) -> int:
        """Columns; 80 where nobody knows."""
        return max(shutil.get_terminal_size((80, 24)).columns, 20)

    def write(self, text: str, style: Style | None = None) -> None:
        """Write `text` where the cursor is."""
        if not text:
            return
        self._erase()
        self._at_start = text.endswith("\n")
        self._stream.write(self.painted(text, style))
        self._stream.flush()

    def line(self, text: str = "", style: Style | None = None) -> None:
        """Write `text` as lines of its own."""
        self.fresh_line()
        self.write(f"{text}\n", style)

    def quote(self, line: str, style: Style | None = None) -> None:
        """Write one line of somebody else behind a bar, where it cannot pass for one of ours, however long it is."""
        from legato.cli.terminal.cells import barred

        for piece in barred(line, self.width):
            self.line(piece, style)

    def fresh_line(self) -> None:
        """Go to the beginning of a line, if that is not where the cursor is."""
        if not self._at_start:
            self.write("\n")

    def entered(self) -> None:
        """Somebody pressed Enter: the terminal itself began a line."""
        self._at_start = True

    def painted(self, text: str, style: Style | None) -> str:
        """`text` in `style`, where colours are wanted."""
        return paint(text, style) if style is not None and self.has_colour else text

    def status(self, text: str) -> None:
        """Show `text` on the status line, or take it away if it is empty."""
        if not self.is_live or not self._at_start or text == self._status:
            return
        if not text:
            self._erase()
            return
        from legato.cli.terminal.cells import clip

        shown = clip(text, self.width - 1)
        self._stream.write(f"{_ERASE}{self.painted(shown, Style.DIM)}")
        self._stream.flush()
        self._status = text

    def _erase(self) -> None:
        if self._status:
            self._stream.write(_ERASE)
            self._status = ""
