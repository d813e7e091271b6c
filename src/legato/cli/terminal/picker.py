"""Let a person pick one of many: with arrows and a search where the terminal can, by number where it cannot.

In:  a title, rows of cells, and what the columns are called.
Out: the index of the row that was picked, or None if the person left.

Typing narrows the rows to those that hold every word; Up, Down, Page Up and Page Down move, Enter picks, Esc and Ctrl-C
leave. What is picked already is marked first, so that Enter changes nothing. The list is erased when it is done, so
that nothing of it stays in the terminal's history. Rows may hold what someone else wrote: each is one harmless line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from legato.cli.terminal.cells import clip, one_line, table
from legato.cli.terminal.keys import ESCAPE_SECONDS
from legato.cli.terminal.live_screen import LiveScreen
from legato.cli.terminal.reading import PromptReader
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.spans import wrap_text
from legato.cli.terminal.styles import Style

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

_MOST = 12
"""rows that are shown at once: our choice, half of the usual screen"""
_NAME = 30
"""columns that the column which gives way keeps, if it needs them and others can be left out"""
_MOST_ABOUT = 3
"""lines about the marked row, where one is too short for it"""
_AROUND = 4 + _MOST_ABOUT
"""lines that a picker needs beside its rows: title, columns, those about the marked row, keys, and one to spare"""


class Row(Struct, frozen=True):
    """One that can be picked: its cells, and a line about it that is shown, or made, while it is marked."""

    cells: tuple[str, ...]
    about: str | Callable[[], str] = ""
    is_present: bool = False
    """whether it is picked already"""


def fits(row: Row, search: str) -> bool:
    """Whether `row` holds every word of `search`."""
    text = " ".join(row.cells).casefold()
    return all(word in text for word in search.casefold().split())


async def pick(
    title: str,
    rows: Sequence[Row],
    *,
    screen: Screen,
    reader: PromptReader,
    columns: Sequence[str] = (),
    flexible: int = -1,
    search: str = "",
) -> int | None:
    """The index of the row that a person picks; None if they pick none, or if there is none.

    `columns` are their names, if they have any; `flexible` is the one that gives way where the terminal is narrow.
    `search` is looked for already.
    """
    if not rows:
        return None
    if not screen.is_live:
        indices = [at for at, row in enumerate(rows) if fits(row, search)]
        fitting = [rows[at] for at in indices]
        picked = await _pick_by_number(title, fitting, screen=screen, reader=reader, flexible=flexible)
        return None if picked is None else indices[picked]
    return await _run(PickList(title, rows, columns=columns, flexible=flexible), screen, search)


async def _pick_by_number(
    title: str, rows: Sequence[Row], *, screen: Screen, reader: PromptReader, flexible: int
) -> int | None:
    screen.line(title)
    numbered = [(str(number), *row.cells) for number, row in enumerate(rows, 1)]
    for line in table(numbered, width=screen.width, flexible=flexible if flexible < 0 else flexible + 1):
        screen.line(line)
    while True:
        try:
            answer = await reader.line("number (Enter for none): ")
        except (EOFError, KeyboardInterrupt):
            return None
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(rows):
            return int(answer) - 1
        screen.line(f"Type a number from 1 to {len(rows)}.", Style.DIM)


class PickList:
    """What is being picked: the rows that fit the search, and the one that is marked."""

    def __init__(self, title: str, rows: Sequence[Row], *, columns: Sequence[str] = (), flexible: int = -1) -> None:
        self.title, self._rows, self._columns, self._flexible = title, rows, tuple(columns), flexible
        self.marked = 0
        """which of the rows that fit is marked"""
        self.search("")

    def search(self, text: str) -> None:
        """Only rows with every word of `text` fit from now on."""
        self.fitting = [at for at, row in enumerate(self._rows) if fits(row, text)]
        present = [number for number, at in enumerate(self.fitting) if self._rows[at].is_present]
        self.marked = present[0] if present and not text.split() else 0

    def move(self, by: int) -> None:
        """Mark another row, as far as there are rows."""
        self.marked = max(min(self.marked + by, len(self.fitting) - 1), 0)

    @property
    def picked(self) -> int | None:
        """The index of the marked row."""
        return self.fitting[self.marked] if self.fitting else None

    def lines(self, width: int, height: int) -> list[tuple[str, bool]]:
        """The rows around the marked one, as lines, each with whether it is marked."""
        first = max(min(self.marked - height // 2, len(self.fitting) - height), 0)
        laid_out = self._laid_out(width)[-len(self._rows) :]
        seen = self.fitting[first : first + height]
        return [
            (f"{self._sign(at, is_marked)} {laid_out[at]}", is_marked)
            for at, is_marked in ((at, first + number == self.marked) for number, at in enumerate(seen))
        ]

    def heading(self, width: int) -> str:
        """The names of the columns, above them; empty if they have none."""
        return f"  {self._laid_out(width)[0]}" if self._columns else ""

    def _sign(self, at: int, is_marked: bool) -> str:
        return "▸" if is_marked else "•" if self._rows[at].is_present else " "

    def _laid_out(self, width: int) -> list[str]:
        """The names of the columns, if they have any, and every row as a line.

        All of them are laid out together, so that the columns stay where they are while one searches.
        """
        room, left_out = width - 3, self._left_out(width)
        rows = [cells[left_out:] for cells in self._cells]
        return table(rows, width=room, flexible=self._flexible % len(self._cells[0]) - left_out)

    @property
    def _cells(self) -> list[tuple[str, ...]]:
        return [*([self._columns] if self._columns else []), *(row.cells for row in self._rows)]

    def _left_out(self, width: int) -> int:
        """How many columns, the first ones, are left out so that the one that matters has room."""
        from rich.cells import cell_len

        rows, room, left_out = self._cells, width - 3, 0
        flexible = self._flexible % len(rows[0])
        sizes = [max(cell_len(row[at]) for row in rows) for at in range(flexible + 1)]
        wanted = min(sizes.pop(), _NAME)
        while left_out < flexible and sum(size + 2 for size in sizes[left_out:]) + wanted > room:
            left_out += 1
        return left_out

    def about(self, width: int) -> list[str]:
        """Lines about the marked row, with its columns that found no room; or how many rows there are."""
        if self.picked is None:
            return ["nothing fits"]
        row = self._rows[self.picked]
        told = row.about() if callable(row.about) else row.about
        parts = [*(cell for cell in row.cells[: self._left_out(width)] if cell), told]
        text = " · ".join(part for part in parts if part) or f"{len(self.fitting)} of {len(self._rows)}"
        room = max(width - 1, 8)
        lines = wrap_text(one_line(text), room)
        last = _MOST_ABOUT - 1
        return lines if len(lines) <= _MOST_ABOUT else [*lines[:last], clip(" ".join(lines[last:]), room)]


async def _run(choice: PickList, screen: Screen, search: str) -> int | None:
    from prompt_toolkit.application import Application
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window
    from prompt_toolkit.output import ColorDepth

    from legato.cli.terminal.region import draw_in_region, output_of

    def typed(buffer: Buffer) -> None:
        choice.search(buffer.text)

    def listed() -> StyleAndTextTuples:
        size = app.output.get_size()
        height = max(min(_MOST, size.rows - _AROUND), 1)
        parts: StyleAndTextTuples = []
        if heading := choice.heading(size.columns):
            parts.append(("ansibrightblack", f"{heading}\n"))
        for line, is_marked in choice.lines(size.columns, height):
            parts.append(("bold" if is_marked else "", f"{line}\n"))
        return [*parts, ("ansibrightblack", "\n".join(choice.about(size.columns)))]

    field = Buffer(multiline=False, on_text_changed=typed)
    field.insert_text(search)
    title = f"{clip(choice.title, 60)}: "
    keys = "type to search · ↑ ↓ · Enter picks · Esc leaves"
    output = output_of(screen) if isinstance(screen, LiveScreen) else None
    app: Application[int | None] = Application(
        output=output,
        layout=Layout(
            HSplit(
                [
                    VSplit(
                        [
                            Window(FormattedTextControl([("bold", title)]), dont_extend_width=True, height=1),
                            Window(BufferControl(field), height=1),
                        ]
                    ),
                    Window(FormattedTextControl(listed), dont_extend_height=True),
                    Window(FormattedTextControl([("ansibrightblack", keys)]), height=1),
                ]
            )
        ),
        key_bindings=_bindings(choice),
        erase_when_done=True,
        color_depth=None if screen.has_colour else ColorDepth.MONOCHROME,
    )
    if output is not None:
        draw_in_region(app, output)
    # Esc leaves, and must not have to wait for a key that could follow it.
    app.ttimeoutlen = app.timeoutlen = ESCAPE_SECONDS
    return await app.run_async(handle_sigint=False)


def _bindings(choice: PickList) -> KeyBindings:
    from prompt_toolkit.key_binding import KeyBindings

    bindings = KeyBindings()

    def mover(by: int) -> Callable[[KeyPressEvent], None]:
        return lambda _: choice.move(by)

    for by, *keys in ((-1, "up", "c-p"), (1, "down", "c-n"), (-_MOST, "pageup"), (_MOST, "pagedown")):
        for key in keys:
            bindings.add(key)(mover(by))

    @bindings.add("enter")
    def take(event: KeyPressEvent) -> None:
        if choice.picked is not None:
            event.app.exit(result=choice.picked)

    @bindings.add("escape")
    @bindings.add("c-c")
    @bindings.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    del take, leave  # they live in the bindings
    return bindings
