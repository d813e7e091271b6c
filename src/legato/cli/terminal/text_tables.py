"""A Markdown table as rows that fit a terminal.

Columns are as wide as what they hold; where that is too wide, the widest give way first and their cells are wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from legato.cli.terminal.inline import inline_spans
from legato.cli.terminal.spans import StyledText, cells, join_sgr, wrapped
from legato.cli.terminal.styles import Style

_DELIMITER = re.compile(r":?-+:?")
_CELL = re.compile(r"(?:\\.|`[^`]*`|[^|\\`]|[\\`])*")
_BETWEEN = " │ "
_NARROWEST = 3
"""columns that a cell keeps in the narrowest window: our choice, a letter and room to wrap"""

_Cell = tuple[StyledText, ...]


def table_rows(lines: Sequence[str], width: int) -> list[list[StyledText]] | None:
    """The table that `lines` are, in rows of at most `width` columns; None if they are none, or it cannot fit."""
    if len(lines) < 2:
        return None
    marks = _split(lines[1])
    if not marks or not all(_DELIMITER.fullmatch(mark) for mark in marks):
        return None
    count = len(marks)
    table = [_padded([inline_spans(cell) for cell in _split(line)], count) for line in (lines[0], *lines[2:])]
    widths = _fit([max(_size(row[at]) for row in table) for at in range(count)], width - len(_BETWEEN) * (count - 1))
    if widths is None:
        return None
    to_right = [mark.endswith(":") and not mark.startswith(":") for mark in marks]
    head, *body = table
    bold = [tuple(StyledText(text, join_sgr(sgr, Style.BOLD)) for text, sgr in cell) for cell in head]
    rule = StyledText("─┼─".join("─" * size for size in widths), Style.DIM)
    rows = [row for cells_ in body for row in _laid_out(cells_, widths, to_right)]
    return [*_laid_out(bold, widths, to_right), [rule], *rows]


def _split(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    found: list[str] = []
    at = 0
    while at <= len(inner):
        match = _CELL.match(inner, at)
        assert match is not None, "the pattern fits nothing as well"
        found.append(match[0].strip().replace("\\|", "|"))
        at = match.end() + 1
    return found


def _padded(row: Sequence[_Cell], count: int) -> list[_Cell]:
    # Cells beyond the last column are put into it: nothing is left out.
    if len(row) > count:
        rest = [StyledText("  "), *(span for cell in row[count:] for span in (*cell, StyledText("  ")))]
        return [*row[: count - 1], (*row[count - 1], *rest)]
    return [*row, *[()] * (count - len(row))]


def _size(cell: _Cell) -> int:
    return sum(cells(span.text) for span in cell)


def _fit(widths: list[int], room: int) -> list[int] | None:
    """`widths`, the widest made narrower until all fit into `room`; None if they cannot."""
    if room < _NARROWEST * len(widths):
        return None
    fitting = [max(size, 1) for size in widths]
    while sum(fitting) > room:
        largest = max(fitting)
        second = max([size for size in fitting if size < largest], default=_NARROWEST)
        many = [at for at, size in enumerate(fitting) if size == largest]
        excess = sum(fitting) - room
        target = max(second, largest - -(-excess // len(many)), _NARROWEST)
        for at in many:
            step = min(largest - min(target, largest - 1), excess)
            fitting[at] -= step
            excess -= step
            if excess <= 0:
                break
    return fitting


def _laid_out(row: Sequence[_Cell], widths: Sequence[int], to_right: Sequence[bool]) -> list[list[StyledText]]:
    columns = [[*wrapped(cell, size)] for cell, size in zip(row, widths, strict=True)]
    rows: list[list[StyledText]] = []
    for number in range(max(len(column) for column in columns)):
        spans: list[StyledText] = []
        for at, (column, size) in enumerate(zip(columns, widths, strict=True)):
            shown = column[number] if number < len(column) else []
            space = StyledText(" " * max(size - sum(cells(span.text) for span in shown), 0))
            spans += [space, *shown] if to_right[at] else [*shown, space]
            if at < len(widths) - 1:
                spans.append(StyledText(_BETWEEN, Style.DIM))
        rows.append(_without_end(spans))
    return rows


def _without_end(spans: list[StyledText]) -> list[StyledText]:
    while spans and not spans[-1].sgr and not spans[-1].text.strip():
        spans.pop()
    return spans
