"""What a change does to a text, as a unified diff.

The person who is asked sees it before, and sees all of it; the model that made the change sees it after, shortened.
A line ends where an editor ends it, at a newline; every other character is shown as part of its line, and a text that
does not end with a newline says so. So two texts that differ never look the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

FOR_A_MODEL = 400
"""lines of a difference that go back to the model"""
_MAX_LINES = 20_000
"""lines up to which they are compared one by one: our choice, beyond it that takes seconds"""
_MAX_TEXT = 2_000_000
"""characters up to which they are, in long lines"""
_MOST_PAIRS = 200_000
"""pairs of equal lines up to which they are: beyond it, two texts made of few different lines take half a minute"""
_NO_NEWLINE = "\\ No newline at end of file"


def unified(before: str, after: str, *, path: str, most: int | None = None) -> str:
    """The difference, with three lines of context, in at most so many lines; empty if there is none."""
    if before == after:
        return ""
    is_crlf = _is_crlf(before) and _is_crlf(after)
    old, new = _lines(before, is_crlf), _lines(after, is_crlf)
    kept = list(islice(_difference(old, new, path), None if most is None else most + 1))
    if most is not None and len(kept) > most:
        kept[-1] = "[the rest of the difference is not shown]"
    return "\n".join(kept)


def _difference(old: list[str], new: list[str], path: str) -> Iterator[str]:
    names = (f"a/{path}", f"b/{path}")
    size = sum(map(len, old)) + sum(map(len, new))
    if len(old) + len(new) <= _MAX_LINES and size <= _MAX_TEXT and _pairs(old, new) <= _MOST_PAIRS:
        from difflib import unified_diff  # slow to load, and many a session edits nothing

        compared = unified_diff(old, new, *names, lineterm="")
    else:
        compared = _one_piece(old, new, *names)
    for line in compared:
        yield from line.split("\n")


def _pairs(old: list[str], new: list[str]) -> int:
    """How often a line of one is a line of the other, as far as difflib looks: not at lines that are everywhere."""
    counted = Counter(new)
    most = len(new) // 100 + 1 if len(new) >= 200 else len(new)
    return sum(count * counted[line] for line, count in Counter(old).items() if counted[line] <= most)


def _one_piece(old: list[str], new: list[str], from_name: str, to_name: str) -> Iterator[str]:
    """The same in linear time: all that lies between the first and the last line that differ is one change."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    first = max(0, start - 3)
    behind = old[len(old) - end :][:3]
    removed, added = old[start : len(old) - end], new[start : len(new) - end]
    around = start - first + len(behind)
    yield from (f"--- {from_name}", f"+++ {to_name}")
    yield f"@@ -{first + 1},{len(removed) + around} +{first + 1},{len(added) + around} @@"
    for sign, lines in ((" ", old[first:start]), ("-", removed), ("+", added), (" ", behind)):
        for line in lines:
            yield f"{sign}{line}"


def _is_crlf(text: str) -> bool:
    """Whether every line of `text` ends as on Windows; then that need not be shown at each of them."""
    return "\r\n" in text and text.count("\r\n") == text.count("\n") == text.count("\r")


def _lines(text: str, is_crlf: bool) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n") if is_crlf else text.split("\n")
    if lines[-1]:
        lines[-1] += f"\n{_NO_NEWLINE}"  # it travels with its line, and is split off when that is shown
    else:
        lines.pop()
    return lines
