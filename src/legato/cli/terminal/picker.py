"""Let a person pick one of many: with arrows and a search where the terminal can, by number where it cannot.

In:  a title, rows of cells, and what may be typed into the search already.
Out: the index of the row that was picked, or None if the person left.

Typing narrows the rows to those that hold every word; Up, Down, Page Up and Page Down move, Enter picks, Esc and Ctrl-C
leave. The list is erased when it is done, so that nothing of it stays in the terminal's history. Rows may hold what
someone else wrote: each becomes one harmless line.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from legato.cli.terminal.cells import clip, table
from legato.cli.terminal.keys import ESCAPE_SECONDS
from legato.cli.terminal.live_screen import LiveScreen
from legato.cli.terminal.reading import PromptReader
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

_MOST = 12
"""rows that are shown at once: our choice, half of the usual screen"""
_NAME = 30
"""columns that the column which gives way keeps, if it needs them and others can be left out"""
_AROUND = 5
"""lines that a picker needs beside its rows"""


class Row(Struct, frozen=True):
    """One that can be picked: its cells, and a line about it that is shown, or made, while it is marked."""

    cells: tuple[str, ...]
    about: str | Callable[[], str] = ""


async def pick(
    title: str, rows: Sequence[Row], *, screen: Screen, reader: PromptReader, search: str = "", flexible: int = -1
) -> int | None:
    """The index of the row that a person picks; None if they pick none, or if there is none.

    `search` is typed already; `flexible` is the column that gives way where the terminal is narrow.
    """
    if not rows:
        return None
    if not screen.is_live:
        return await _pick_by_number(title, rows, screen=screen, reader=reader, flexible=flexible)
    return await _run(PickList(title, rows, search=search, flexible=flexible), screen)


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

    def __init__(self, title: str, rows: Sequence[Row], *, search: str = "", flexible: int = -1) -> None:
        self.title, self._rows, self._flexible = title, rows, flexible
        self._texts = [" ".join(row.cells).casefold() for row in rows]
        self.marked = 0
        """which of the rows that fit is marked"""
        self.searched = search
        self.search(search)

    def search(self, text: str) -> None:
        """Only rows with every word of `text` fit from now on."""
        self.searched = text
        words = text.casefold().split()
        self.fitting = [at for at, row in enumerate(self._texts) if all(word in row for word in words)]
        self.marked = 0

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
        # All rows are laid out together, so that the columns stay where they are while one searches.
        laid_out = self._laid_out(width - 3)
        seen = self.fitting[first : first + height]
        return [(laid_out[at], first + number == self.marked) for number, at in enumerate(seen)]

    def _laid_out(self, width: int) -> list[str]:
        """Every row as a line; columns are left out, the first ones first, where the one that matters has no room."""
        from rich.cells import cell_len

        rows, flexible = [row.cells for row in self._rows], self._flexible
        flexible %= len(rows[0])
        wanted = min(max(cell_len(row[flexible]) for row in rows), _NAME)
        while flexible and sum(max(cell_len(row[at]) for row in rows) + 2 for at in range(flexible)) + wanted > width:
            rows, flexible = [row[1:] for row in rows], flexible - 1
        return table(rows, width=width, flexible=flexible)

    @property
    def about(self) -> str:
        """The line about the marked row, or how many rows there are."""
        about = "nothing fits" if self.picked is None else self._rows[self.picked].about
        told = about() if callable(about) else about
        return told or f"{len(self.fitting)} of {len(self._rows)}"


async def _run(choice: PickList, screen: Screen) -> int | None:
    from prompt_toolkit.application import Application
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.document import Document
    from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window
    from prompt_toolkit.output import ColorDepth

    from legato.cli.terminal.region import draw_in_region, output_of

    def typed(buffer: Buffer) -> None:
        choice.search(buffer.text)

    def listed() -> StyleAndTextTuples:
        size = shutil.get_terminal_size((80, 24))
        height = max(min(_MOST, size.lines - _AROUND), 1)
        parts: StyleAndTextTuples = []
        for line, is_marked in choice.lines(size.columns, height):
            parts.append(("bold" if is_marked else "", f"{'▸' if is_marked else ' '} {line}\n"))
        return [*parts, ("ansibrightblack", clip(choice.about, size.columns - 1))]

    field = Buffer(document=Document(choice.searched), multiline=False, on_text_changed=typed)
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
