"""A screen with a region below its lines: what is finished goes into the terminal's own history, the rest is redrawn.

While no region is there (before a conversation and after it), this is a screen like any other. While one is, lines are
printed above it, text that has no line end yet is shown at its top, and so are the rows of an answer that may still
change. Lines that come at the same time are printed together.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import ColorChoice, Style, wants_colour


class Region(Protocol):
    """Who draws below the lines."""

    def print_above(self, text: str) -> None:
        """Print `text`, which ends with a line end, above the region; nothing of it changes afterwards."""
        ...

    def refresh(self) -> None:
        """Something that the region shows has changed."""
        ...


class LiveScreen(Screen):
    """Writes to a terminal, beside a region or without one."""

    def __init__(
        self,
        stream: TextIO,
        color: ColorChoice = ColorChoice.AUTO,
        *,
        size: Callable[[], os.terminal_size] | None = None,
    ) -> None:
        """`size` tells how large the terminal is; without it, the terminal behind `stream` is asked."""
        super().__init__(stream, color)
        self.stream, self.has_keys = stream, self.is_live
        self._size = size
        self._region: Region | None = None
        self._unfinished = ""
        self._rows: Sequence[str] = ()
        self.doing = ""
        """the status line"""

    def choose_colours(self, color: ColorChoice) -> None:
        """Use colours as `color` says, from now on."""
        self.has_colour = wants_colour(self.stream, color)

    @property
    def size(self) -> os.terminal_size:
        """Columns and lines, as they are now."""
        try:
            size = os.get_terminal_size(self.stream.fileno()) if self._size is None else self._size()
        except (OSError, ValueError):
            return shutil.get_terminal_size((80, 24))
        return size if size.columns and size.lines else os.terminal_size((80, 24))  # a terminal may not know it

    @property
    def width(self) -> int:
        """Columns, as they are now."""
        return max(self.size.columns, 8)

    @property
    def live_rows(self) -> list[str]:
        """What is not finished: rows of an answer, and a line that has no end yet."""
        return [*self._rows, *([self._unfinished] if self._unfinished else [])]

    def attach(self, region: Region) -> None:
        """Draw beside `region` from now on."""
        self.status("")
        self.fresh_line()
        self._region = region

    def detach(self) -> None:
        """There is no region any more."""
        self.fresh_line()
        self.preview(())
        self.status("")
        self._region = None

    def write(self, text: str, style: Style | None = None) -> None:
        """Write `text` behind what was written last."""
        if self._region is None:
            super().write(text, style)
            return
        finished, end, self._unfinished = (self._unfinished + self.painted(text, style)).rpartition("\n")
        if end:
            self._region.print_above(f"{finished}\n")
        else:
            self._region.refresh()

    def fresh_line(self) -> None:
        """End the line that has no end yet, if there is one."""
        if self._region is None:
            super().fresh_line()
        elif self._unfinished:
            self.write("\n")

    def status(self, text: str) -> None:
        """Show `text` as the status, or none."""
        if self._region is None:
            super().status(text)
        elif text != self.doing:
            self.doing = text
            self._region.refresh()

    def preview(self, rows: Sequence[str]) -> None:
        """Show rows that may still change."""
        self._rows = rows
        if self._region is not None:
            self._region.refresh()
