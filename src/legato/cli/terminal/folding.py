"""Long output, folded: the beginning, the end, and how much lies between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from legato.cli.terminal.filter import harmless

MAX_COLUMNS = 400
"""a longer line is cut: no one reads it, and it would fill the screen"""

_CUT = re.compile(r"\[cut: ([\d,]+) (?:of [\d,]+ )?characters are left out here")
"""what the tools write where they cut an output before anyone saw it"""


def fold(text: str, lines: int, *, hint: str = "") -> list[str]:
    """`text` as at most `lines` harmless lines and one that says what is left out.

    `hint` says there how to see it. Only what can be seen is made harmless: an output may have megabytes.
    """
    rows = _rows(text)
    if len(rows) <= lines + 1:  # a line that says that one line is left out would help no one
        return [_row(row) for row in rows]
    begin, hidden, end = _parts(rows, lines)
    cut = _characters_cut(hidden)
    beyond = f", and {cut:,} characters that were cut" if cut else ""
    return [*map(_row, begin), f"… {len(hidden):,} more lines{beyond}{hint} …", *map(_row, end)]


def fold_rows(rows: Sequence[str], most: int) -> list[str]:
    """Rows as they are shown: at most `most` of them, and one that says what is left out."""
    if len(rows) <= most + 1:
        return [*rows]
    begin, hidden, end = _parts(rows, most)
    return [*begin, f"… {len(hidden):,} more lines …", *end]


def _parts(rows: Sequence[str], most: int) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The beginning, what is left out, and the end."""
    head = max(most * 2 // 3, 1)
    tail = len(rows) - (most - head)
    return rows[:head], rows[head:tail], rows[tail:]


def is_folded(text: str, lines: int) -> bool:
    """Whether `fold` leaves out any of `text`."""
    rows = _rows(text)
    return len(rows) > lines + 1 or any(len(row) > MAX_COLUMNS for row in rows)


def _characters_cut(rows: Iterable[str]) -> int:
    """How many characters the lines among `rows` that tell of a cut say are missing."""
    marks = (_CUT.match(row) for row in rows if row.startswith("[cut: "))
    return sum(int(mark[1].replace(",", "")) for mark in marks if mark)


def _rows(text: str) -> list[str]:
    rows = text.split("\n")
    while rows and not rows[-1].strip():
        rows.pop()
    return rows


def _row(row: str) -> str:
    shown = harmless(row[: MAX_COLUMNS + 1]).replace("\n", " ").rstrip()
    return shown if len(row) <= MAX_COLUMNS else f"{shown[:MAX_COLUMNS]}… ({len(row):,} characters)"
