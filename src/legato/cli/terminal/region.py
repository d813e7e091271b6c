"""The part of the terminal below what is finished: drawn, erased and drawn again, in one write each.

prompt_toolkit draws it and keeps the cursor in it. Two things are added here. What belongs together is written at once,
so that a terminal never shows a half-drawn region. And when the window is made narrower, most terminals wrap the rows
that are there already: the region is then higher than it was drawn, and has to be erased from where it begins now, or
pieces of it would stay among the finished lines.

Terminals that cut rows instead of wrapping them are known by their variables; with them nothing moves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.screen import Screen as DrawnScreen
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import Renderer

from legato.cli.terminal.live_screen import LiveScreen


def output_of(screen: LiveScreen) -> HeldOutput:
    """Output to the terminal that `screen` is on."""

    def size() -> Size:
        columns, lines = screen.size
        return Size(rows=lines, columns=columns)

    return HeldOutput(screen.stream, size, term=os.environ.get("TERM"))


def draw_in_region(app: Application[Any], output: HeldOutput) -> RegionRenderer:
    """Let `app`, which writes to `output`, draw a region; who draws it."""
    renderer = app.renderer = RegionRenderer(app.renderer, output, wraps=wraps_on_resize(os.environ))
    return renderer


def wraps_on_resize(environment: Mapping[str, str]) -> bool:
    """Whether the terminal wraps the rows that are there when it is made narrower, as nearly all do.

    xterm, Linux' console and GNU screen cut them.
    """
    if environment.get("TMUX"):
        return True
    return not ({"XTERM_VERSION", "STY"} & environment.keys() or environment.get("TERM") == "linux")


class HeldOutput(Vt100_Output):
    """Output that can be held back until all of it is there. It asks the terminal nothing."""

    def __init__(self, stdout: TextIO, get_size: Callable[[], Size], term: str | None = None) -> None:
        # The answer to a question about the cursor would arrive among the keys, late on a slow line.
        super().__init__(stdout, get_size, term=term, enable_cpr=False)
        self._holders = 0

    def flush(self) -> None:
        """Write what was gathered, unless it is held."""
        if not self._holders:
            super().flush()

    def erase_down(self) -> None:
        """Erase from the cursor, which is at the beginning of a row, to the end of the screen.

        tmux takes the erasing of the whole screen for a wish to keep it, and puts it into the history (its option
        `scroll-on-clear`): so the first row is erased by itself, and the rest from its second column on.
        """
        self.erase_end_of_line()
        self.cursor_forward(1)
        super().erase_down()
        self.cursor_backward(1)

    @contextmanager
    def held(self) -> Generator[None]:
        """Write nothing until this is left, and then all of it at once."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            self.flush()


class RegionRenderer(Renderer):
    """Draws the region, and finds it again after the window was resized."""

    output: HeldOutput

    def __init__(self, before: Renderer, output: HeldOutput, *, wraps: bool) -> None:
        """Takes the place of `before`; `wraps` says what the terminal does with rows that no longer fit."""
        self._wraps = wraps
        super().__init__(before.style, output)

    @property
    def height_is_known(self) -> bool:
        """True: the region takes the rows that it needs, and no more."""
        return True

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        """Draw the region. One that became smaller is drawn anew, because rows would stay below it."""
        with self.output.held():
            size = self.output.get_size()
            if self._last_screen is not None:
                height = layout.container.preferred_height(size.columns, size.rows).preferred
                if self._last_size != size or height < self._last_screen.height:
                    self.erase(leave_alternate_screen=False)
            super().render(app, layout, is_done)

    def erase(self, leave_alternate_screen: bool = True) -> None:
        """Take the region away; the cursor is then where it began.

        While it is not there, something else is (a picker, a pager, an editor): a window that is resized then has
        nothing of ours that could be erased.
        """
        if self._last_screen is None:
            return
        columns = self.output.get_size().columns
        if self._wraps:
            sizes = [self._written(self._last_screen, y) for y in range(self._cursor_pos.y)]
            self._cursor_pos = wrapped_cursor(sizes, self._cursor_pos, columns)
        with self.output.held():
            super().erase(leave_alternate_screen)

    def _written(self, drawn: DrawnScreen, y: int) -> int:
        """Columns of a row that were written: up to the last letter, or the last space that has a colour."""
        has_style = self._style_string_has_style
        assert has_style is not None, "something was drawn"
        written = [x for x, cell in drawn.data_buffer[y].items() if cell.char != " " or has_style[cell.style]]
        return max(written, default=0) + 1


def wrapped_cursor(sizes: Sequence[int], cursor: Point, columns: int) -> Point:
    """Where `cursor` is, counted from the beginning of the region, after rows of `sizes` were wrapped to `columns`."""
    above = sum(-(-size // columns) for size in sizes)
    return Point(x=cursor.x % columns, y=above + cursor.x // columns)
