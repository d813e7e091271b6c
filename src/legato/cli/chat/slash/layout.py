"""Lines that fit the screen: words are moved to the next line, and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from legato.cli.terminal.cells import one_line

_LEAST = 20
"""columns that a text gets beside its title, however narrow the screen is"""


def hanging(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Titles and texts side by side, or below each other where a word would be broken."""
    column = max(len(title) for title, _ in rows) + 2
    room = width - column - 1
    for title, text in rows:
        if room >= max(_LEAST, *map(len, text.split())):
            first, *rest = wrap(text, room, break_on_hyphens=False) or [""]
            yield f"{title:<{column}}{first}".rstrip()
            yield from (f"{' ' * column}{line}" for line in rest)
        else:
            yield title
            yield from (f"  {line}" for line in wrap(text, max(width - 3, _LEAST), break_on_hyphens=False))


def indented(line: str, width: int) -> list[str]:
    """One line as lines of at most `width` columns, the later ones a little further in than the first."""
    indent = " " * (len(line) - len(line.lstrip()))
    text = one_line(line)
    wrapped = wrap(text, max(width - 1, _LEAST), initial_indent=indent, subsequent_indent=f"{indent}  ")
    return wrapped or [""]
