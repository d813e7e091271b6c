"""A terminal that is none: what a real one would show, with its history, also after it was resized.

pyte obeys what is written; it keeps no track of rows that a terminal wrapped by itself, and cuts them when it is made
narrower. Nearly all terminals wrap them anew instead, and this one does as well. Where terminals differ otherwise, this
one is tmux.
"""

import copy
from typing import Any

import pyte
from pyte import modes


class Emulator(pyte.HistoryScreen):
    """A screen of `columns` and `lines` with an endless history above it; `feed` takes what is written to it."""

    def __init__(self, columns: int, lines: int) -> None:
        super().__init__(columns, lines, history=1_000_000, ratio=0.5)
        self._stream = pyte.Stream(self)

    def feed(self, written: str) -> None:
        self._stream.feed(written)

    def draw(self, data: str) -> None:
        for letter in data:
            if self.cursor.x == self.columns and modes.DECAWM in self.mode:
                self.buffer[self.cursor.y].goes_on = True  # type: ignore[attr-defined]
            super().draw(letter)

    def select_graphic_rendition(self, *attrs: int) -> None:
        # pyte knows no faint letters: they are grey. (Behind 38 and 48 a 2 means something else.)
        is_colour = {38, 48} & {*attrs}
        super().select_graphic_rendition(*(90 if attr == 2 and not is_colour else attr for attr in attrs))

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        super().erase_in_line(how, private)
        if how != 1:
            self.buffer[self.cursor.y].goes_on = False  # type: ignore[attr-defined]

    def erase_in_display(self, how: int = 0, *arguments: Any, **options: Any) -> None:
        if how == 0 and (self.cursor.x, self.cursor.y) == (0, 0):
            self._keep_what_is_cleared()
        super().erase_in_display(how, *arguments, **options)
        for y in range(self.cursor.y if how == 0 else 0, self.lines):
            self.buffer[y].goes_on = False  # type: ignore[attr-defined]

    def _keep_what_is_cleared(self) -> None:
        """tmux puts a screen that is erased from its first cell on into the history (its option scroll-on-clear)."""
        rows = [self.buffer[y] for y in range(self.lines)]
        while rows and not any(cell.data.strip() for cell in rows[-1].values()):
            rows.pop()
        self.history.top.extend(copy.copy(row) for row in rows)

    # --- what is there ---

    @property
    def rows(self) -> list[str]:
        """Every row from the beginning of the history to the last one that holds something."""
        rows = ["".join(row[x].data for x in range(self.columns)).rstrip() for row in self._all_rows()]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def shown(self) -> list[str]:
        """The rows that are on the screen now."""
        return [row.rstrip() for row in self.display]

    def _all_rows(self) -> list[Any]:
        return [*self.history.top, *(self.buffer[y] for y in range(self.lines))]

    # --- resizing ---

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        lines, columns = lines or self.lines, columns or self.columns
        if (lines, columns) == (self.lines, self.columns):
            return
        rows, at = self._all_rows(), len(self.history.top) + self.cursor.y
        # Made lower, it loses rows below the cursor first; only then do rows go into the history.
        del rows[max(len(rows) - max(self.lines - lines, 0), at + 1) :]
        while len(rows) > at + 1 and not any(cell.data.strip() for cell in rows[-1].values()):
            rows.pop()
        wrapped, cursor = self._wrapped(rows, at, columns)
        self.history.top.clear()
        self.buffer.clear()
        self.lines, self.columns = lines, columns
        self.set_margins()
        above = max(len(wrapped) - lines, 0)
        for number, (cells, goes_on) in enumerate(wrapped):
            row = self.buffer[-1 if number < above else number - above]
            row.update(enumerate(cells))
            row.goes_on = goes_on  # type: ignore[attr-defined]
            if number < above:
                self.history.top.append(self.buffer.pop(-1))
        self.cursor.x, self.cursor.y = cursor[0], max(cursor[1] - above, 0)
        self.dirty.update(range(lines))

    def _wrapped(self, rows: list[Any], at: int, columns: int) -> tuple[list[tuple[list[Any], bool]], tuple[int, int]]:
        """Rows as they are wrapped to `columns`, each with whether it goes on in the next one, and where the cursor is."""
        out: list[tuple[list[Any], bool]] = []
        cursor = (0, 0)
        line: list[Any] = []
        place: int | None = None
        for number, row in enumerate(rows):
            cells = [row[x] for x in range(self.columns)]
            goes_on = getattr(row, "goes_on", False)
            while not goes_on and cells and not cells[-1].data.strip() and cells[-1].bg == "default":
                cells.pop()
            if number == at:
                place = len(line) + self.cursor.x
            line += cells
            if goes_on and number < len(rows) - 1:
                continue
            pieces = [line[start : start + columns] for start in range(0, len(line), columns)] or [[]]
            if place is not None:
                down = min(place // columns, len(pieces) - 1)
                cursor = (min(place - down * columns, columns), len(out) + down)
            out += [(piece, index < len(pieces) - 1) for index, piece in enumerate(pieces)]
            line, place = [], None
        return out, cursor
