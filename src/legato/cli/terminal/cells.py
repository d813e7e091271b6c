"""Text in columns: as wide as a terminal shows it, on one line, unable to leave its cell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from legato.cli.terminal.filter import harmless

_SPACE = re.compile(r"\s+")
_BAR = "  │ "


def one_line(text: str) -> str:
    """`text` as one harmless line."""
    return _SPACE.sub(" ", harmless(text[:10_000])).strip()


def clip(text: str, width: int) -> str:
    """The beginning of one line that fits into `width` columns; what is cut is marked."""
    from rich.cells import cell_len, chop_cells

    line = one_line(text)
    if cell_len(line) <= width:
        return line
    return f"{chop_cells(line, max(width - 1, 1))[0]}…" if width > 1 else "…"[:width]


def barred(line: str, width: int) -> list[str]:
    """`line` behind a bar, in pieces of at most `width` columns, each behind a bar of its own.

    For what someone else wrote: if a terminal broke the line, the rest would be where only lines of ours are.
    """
    from rich.cells import chop_cells

    room = max(width - len(_BAR) - 1, 8)  # one is left free, because terminals differ about a few letters
    return [f"{_BAR}{piece}" for piece in chop_cells(line.expandtabs(), room) or [""]]


def flowing(parts: Sequence[str], width: int) -> list[str]:
    """`parts` side by side, in as many lines of at most `width` columns as they need; no part is broken."""
    from rich.cells import cell_len

    lines: list[str] = []
    for part in (clip(part, width - 2) for part in parts):
        if lines and cell_len(lines[-1]) + 3 + cell_len(part) <= width:
            lines[-1] += f"   {part}"
        else:
            lines.append(f"  {part}")
    return lines


def table(rows: Sequence[Sequence[str]], *, width: int, flexible: int = -1, gap: int = 2) -> list[str]:
    """`rows` as aligned lines of at most `width` columns; the column `flexible` gives way where space is short."""
    from rich.cells import cell_len

    if not rows:
        return []
    cells = [[one_line(cell) for cell in row] for row in rows]
    flexible %= len(cells[0])
    widths = [max(cell_len(row[column]) for row in cells) for column in range(len(cells[0]))]
    spare = width - sum(widths) - gap * (len(widths) - 1)
    if spare < 0:
        widths[flexible] = max(widths[flexible] + spare, 8)
    return [
        (" " * gap).join(_padded(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in cells
    ]


def _padded(cell: str, width: int) -> str:
    from rich.cells import cell_len

    shown = clip(cell, width)
    return shown + " " * max(width - cell_len(shown), 0)
