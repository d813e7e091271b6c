"""Styled text in rows: pieces of text with a style each, wrapped between words to the width of a terminal.

A style is the parameter of an SGR sequence ("1;36"), empty for none. Text is harmless already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

TAB = 4
"""columns from one tab stop to the next: our choice, what most code is written for"""
_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd"
)
"""letters of scripts that put no spaces between words: a row may end behind each of them"""
_WORD = re.compile(rf"(?P<space> +)|[{_WIDE}]|[^ {_WIDE}]+")


class StyledText(NamedTuple):
    """A piece of text that looks the same from its beginning to its end."""

    text: str
    sgr: str = ""


def join_sgr(*parameters: str) -> str:
    """One style that is all of `parameters`."""
    return ";".join(parameter for parameter in parameters if parameter)


def painted(spans: Iterable[StyledText]) -> str:
    """`spans` as what a terminal obeys."""
    return "".join(f"\x1b[{sgr}m{text}\x1b[0m" if sgr and text else text for text, sgr in spans)


def cells(text: str) -> int:
    """Columns that `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def row_ranges(text: str, first: int, rest: int) -> list[tuple[int, int]]:
    """Where each row of `text` begins and ends, if the first has room for `first` columns and the others for `rest`.

    Rows end between words; the spaces there belong to neither row. A word that is longer than a row is broken. The rows
    of a text are also the first rows of any longer text, except the last one, which may grow.
    """
    first, rest = max(first, 1), max(rest, 1)
    rows: list[tuple[int, int]] = []
    begin = end = used = 0
    room, gap, is_empty = first, 0, True
    for word in _WORD.finditer(text):
        if word["space"] is not None and not is_empty:
            gap = len(word[0])
            continue
        size = cells(word[0])
        if not is_empty and used + gap + size > room:
            rows.append((begin, end))
            begin, used, gap, room, is_empty = word.start(), 0, 0, rest, True
        end, used = word.end(), used + gap + size
        gap, is_empty = 0, False
        while used > room:  # a word, or an indent, that is longer than a row
            at = begin + _fitting(text[begin:end], room)
            rows.append((begin, at))
            begin, room = at, rest
            used = cells(text[begin:end])
    rows.append((begin, end))
    return rows


def _fitting(text: str, room: int) -> int:
    """How many letters of `text` fit into `room` columns; at least one."""
    used = 0
    for count, letter in enumerate(text):
        used += cells(letter)
        if used > room:
            return max(count, 1)
    return len(text)


def cut(spans: Sequence[StyledText], begin: int, end: int) -> list[StyledText]:
    """The letters from `begin` to `end` of `spans`."""
    found: list[StyledText] = []
    at = 0
    for text, sgr in spans:
        piece = text[max(begin - at, 0) : max(end - at, 0)]
        if piece:
            found.append(StyledText(piece, sgr))
        at += len(text)
    return found


def wrapped(spans: Sequence[StyledText], width: int, *, first: str = "", rest: str = "") -> Iterator[list[StyledText]]:
    """`spans` in rows of at most `width` columns; the first begins with `first`, the others with `rest`."""
    text = "".join(span.text for span in spans)
    lead = first
    for begin, end in row_ranges(text, width - cells(first), width - cells(rest)):
        yield [StyledText(lead), *cut(spans, begin, end)] if lead else cut(spans, begin, end)
        lead = rest


def wrap_text(line: str, width: int) -> list[str]:
    """A line of plain text in rows of at most `width` columns, all of them indented as the line is."""
    if cells(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip(" "))][: width // 2]
    rows = wrapped([StyledText(line.strip(" "))], width, first=indent, rest=indent)
    return ["".join(span.text for span in row) for row in rows]
