"""Markdown as rows for a terminal, while it is being written.

In:  harmless text in pieces, cut anywhere.
Out: rows that are final, each once, and the rows of what is not finished yet, which may still change.

A row is final as early as it can be: a line when it has ended, and of a line that is still being written the rows that
no further word can change. Only a table waits for its last row, because any cell may widen a column. So little is
shown twice, and what is final does not depend on how the text was cut; the same text at once gives the same rows.

Line ends stay line ends: each line of the source is wrapped by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from legato.cli.terminal.code_colours import CodeColours
from legato.cli.terminal.inline import Piece, parse_inline, settled
from legato.cli.terminal.spans import TAB, StyledText, cells, cut, painted, row_ranges
from legato.cli.terminal.styles import Style
from legato.cli.terminal.text_tables import table_rows

_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})\s*([^\s`]*)[^`]*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_ITEM = re.compile(r"(\s*)(?:[-*+]|(\d{1,9}[.)]))\s+(?=\S)")
_QUOTE = re.compile(r"\s{0,3}>\s?")
_RULE = re.compile(r"\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*")
_INDENT = re.compile(r" *")
_LONGEST = 2_000
"""characters of a line that is still a row of a table, a fence or code in colours: our choice, no one reads more"""
_MOST_ROWS = 200
"""rows of a table that is laid out as a whole"""


class _Line(Struct, frozen=True):
    """How a line begins: the letters that say so, what is shown instead of them, and how its rows go on."""

    skipped: int = 0
    first: str = ""
    rest: str = ""
    sgr: str = ""
    is_code: bool = False


_CODE = _Line(0, "  ", "  ", is_code=True)


class MarkdownStream:
    """One text. `feed` and `end` give the rows that are final, `pending` those that are not."""

    def __init__(self, sgr: str = "", *, has_styles: bool = True) -> None:
        """`sgr` is the style of all of it. Without styles, the signs stay, and words are wrapped."""
        self._sgr, self._has_styles = sgr, has_styles
        self._line = ""
        self._going_on: _Line | None = None
        """how the line began, of which some rows are out already"""
        self._fence: str | None = None
        self._code = CodeColours("")
        self._table: list[str] = []
        self._laid_out: tuple[tuple[int, int], list[str]] = ((0, 0), [])
        """how many rows of the table were laid out, to which width, and as what"""
        self._blank_lines = 0
        self._has_begun = False

    def feed(self, text: str, width: int) -> list[str]:
        """Take more of the text; the rows that are final now."""
        *lines, self._line = (self._line + text.replace("\t", " " * TAB)).split("\n")
        rows = [row for line in lines for row in self._whole(line, width)]
        return self._spaced([*rows, *self._early(width)])

    def end(self, width: int) -> list[str]:
        """The text has ended: all that is left."""
        line, self._line = self._line, ""
        rows = self._whole(line, width) if line.strip() else []
        rows = self._spaced([*rows, *self._finished_table(width)])
        self._fence, self._going_on, self._blank_lines = None, None, 0
        return rows

    def pending(self, width: int) -> list[str]:
        """What is not finished yet, as it would be if it ended here."""
        rows = [*self._table_so_far(width)]
        if self._line.strip() and not (self._table and self._line.lstrip().startswith("|")):
            is_code = self._fence is not None and self._going_on is None
            rows += [f"  {self._line[:width]}"] if is_code else [painted(row) for row in self._rows(self._line, width)]
        return [*[""] * self._blank_lines, *rows] if rows else []

    def _table_so_far(self, width: int) -> list[str]:
        """Laid out once for each row that it gets."""
        size = len(self._table), width
        if self._laid_out[0] != size:
            lines = self._table
            rows = [painted(row) for row in table_rows(lines, width) or [[StyledText(line)] for line in lines]]
            self._laid_out = size, rows
        return self._laid_out[1]

    # --- lines ---

    def _whole(self, line: str, width: int) -> list[list[StyledText]]:
        """The rows of a line that has ended."""
        if self._going_on is not None:
            begins, self._going_on = self._going_on, None
            return [*self._rows(line, width, begins)] if line[begins.skipped :].strip() else []
        if not self._has_styles:
            return [*self._rows(line, width)]
        if self._fence is not None:
            return self._code_line(line, width)
        if line.lstrip().startswith("|") and len(line) <= _LONGEST:
            self._table.append(line)
            return self._finished_table(width) if len(self._table) >= _MOST_ROWS else []
        before = self._finished_table(width)
        if len(line) <= _LONGEST and (fence := _FENCE.fullmatch(line)) is not None:
            self._fence, self._code = fence[1], CodeColours(fence[2])
            return before
        if len(line) <= _LONGEST and _RULE.fullmatch(line):
            return [*before, [StyledText("─" * min(width, 40), Style.DIM)]]
        return [*before, *self._rows(line, width)]

    def _code_line(self, line: str, width: int) -> list[list[StyledText]]:
        if len(line) > _LONGEST:
            return [*self._rows(line, width, _CODE)]
        closing = line.strip()
        if self._fence is not None and closing.startswith(self._fence) and not closing.strip(self._fence[0]):
            self._fence = None
            return []
        return [[StyledText("  "), *self._code.line(line)]] if line.strip() else [[]]

    def _finished_table(self, width: int) -> list[list[StyledText]]:
        lines, self._table, self._laid_out = self._table, [], ((0, 0), [])
        if not lines:
            return []
        return table_rows(lines, width) or [row for line in lines for row in self._rows(line, width)]

    # --- rows ---

    def _beginning(self, line: str) -> _Line:
        if not self._has_styles:
            indent = (_INDENT.match(line) or [""])[0]
            return _Line(len(indent), indent, indent, self._sgr)
        if (heading := _HEADING.match(line)) is not None:
            return _Line(heading.end(), sgr=Style.BOLD)
        if (item := _ITEM.match(line)) is not None:
            first = f"{item[1]}{item[2] or '•'} "
            return _Line(item.end(), first, " " * len(first), self._sgr)
        if (quote := _QUOTE.match(line)) is not None:
            return _Line(quote.end(), "│ ", "│ ", Style.DIM)
        indent = (_INDENT.match(line) or [""])[0]
        return _Line(len(indent), indent, indent, self._sgr)

    def _read(self, line: str, begins: _Line) -> list[Piece]:
        """The pieces of a line behind its beginning."""
        start = begins.skipped
        if self._has_styles and not begins.is_code:
            return parse_inline(line, begins.sgr, start=start)
        return [Piece(start, len(line), (StyledText(line[start:], begins.sgr),), is_plain=True)]

    def _rows(self, line: str, width: int, begins: _Line | None = None) -> Iterator[list[StyledText]]:
        begins = begins or self._going_on or self._beginning(line)
        pieces = self._read(line, begins)
        spans = [span for piece in pieces for span in piece.spans]
        shown = "".join(span.text for span in spans)
        first, rest = _fitting(begins, width)
        lead = first
        for begin, end in _ranges(shown, begins, width - cells(first), width - cells(rest)):
            yield _led(lead, cut(spans, begin, end))
            lead = rest

    def _early(self, width: int) -> list[list[StyledText]]:
        """The rows of the unfinished line that no further word can change; what is left of it goes on behind them."""
        line = self._line
        if len(line) < width or self._is_undecided(line):
            return []
        before = self._finished_table(width)
        begins = self._going_on or (_CODE if self._fence is not None else self._beginning(line))
        pieces = self._read(line, begins)
        spans = [span for piece in pieces for span in piece.spans]
        first, rest = _fitting(begins, width)
        shown = "".join(span.text for span in spans)
        ranges = _ranges(shown, begins, width - cells(first), width - cells(rest))
        sources = [*_sources(pieces)]
        fixed = settled(line, pieces) if self._has_styles and not begins.is_code else len(line)
        for count in range(len(ranges) - 1, 0, -1):
            source = sources[ranges[count][0]]
            if source is not None and source <= fixed:  # within a construct it cannot be taken up again
                break
        else:
            return before
        # The letter before it stays, because it may say that a sign begins nothing; it is not shown again.
        self._line = line[source - 1 :]
        self._going_on = _Line(1, begins.rest, begins.rest, begins.sgr, is_code=begins.is_code)
        rows = [_led(rest if number else first, cut(spans, *ends)) for number, ends in enumerate(ranges[:count])]
        return [*before, *rows]

    def _is_undecided(self, line: str) -> bool:
        """Whether the rest of the line may still say what it is."""
        if self._going_on is not None or len(line) > _LONGEST:
            return False
        if self._fence is not None:
            return True
        return self._has_styles and line.lstrip()[:1] in ("|", "`", "~", "")

    def _spaced(self, rows: Iterable[list[StyledText]]) -> list[str]:
        """Rows as text; empty ones at the beginning and at the end are left out."""
        out: list[str] = []
        for row in rows:
            shown = painted(row)
            if not shown.strip():
                self._blank_lines += self._has_begun
                continue
            out += [*[""] * self._blank_lines, shown.rstrip() if not row[-1].sgr else shown]
            self._blank_lines, self._has_begun = 0, True
        return out


def _led(lead: str, spans: list[StyledText]) -> list[StyledText]:
    return [StyledText(lead), *spans] if lead else spans


def _fitting(begins: _Line, width: int) -> tuple[str, str]:
    """What rows begin with, or nothing where it would leave no room for words."""
    is_narrow = cells(begins.first) > width // 2
    return (begins.first.lstrip(), "") if is_narrow else (begins.first, begins.rest)


def _ranges(shown: str, begins: _Line, first: int, rest: int) -> list[tuple[int, int]]:
    if not begins.is_code:
        return row_ranges(shown, first, rest)
    return [(at, at + rest) for at in range(0, len(shown), rest)] or [(0, 0)]


def _sources(pieces: Iterable[Piece]) -> Iterator[int | None]:
    """For each letter that is shown, where it is written; None for those within a construct."""
    for piece in pieces:
        size = sum(len(span.text) for span in piece.spans)
        if piece.is_plain:
            yield from range(piece.start, piece.end)
        else:
            yield from [None] * size
