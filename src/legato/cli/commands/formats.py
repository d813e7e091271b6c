"""`legato formats`: which files are understood, what can be done with them, and where they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from legato.cli.saying import say, say_data

if TYPE_CHECKING:
    from legato.formats import Format


@click.command(short_help="List the files that are understood, and where agents keep them.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def formats(as_json: bool) -> None:
    """List the formats: session files of agents, neutral files, and request bodies.

    Every one can be read. The folders are those in which agents keep their files by default.
    """
    from legato.formats import FORMATS

    if as_json:
        import msgspec

        for known in FORMATS.values():
            say_data(msgspec.json.encode(_as_json(known)).decode())
        return
    from legato.cli.terminal.cells import table

    rows = [("", *_TITLES), *((_MARKS[_is_here(known)], *_row(known)) for known in FORMATS.values())]
    lines = table(rows, width=_ANY_WIDTH)
    if not (is_watched := sys.stdout.isatty()) or max(map(len, lines)) <= _screen_width():
        for line in lines:
            say(line)
    else:  # a table of which every row is broken is none
        for row in rows[1:]:
            for line in _below_each_other(row, _screen_width()):
                say(line)
    if is_watched:
        say("● its folder is on this machine", err=True)


def _below_each_other(row: tuple[str, ...], width: int) -> Iterator[str]:
    """What is known of a format, in lines of at most `width` columns."""
    from legato.cli.terminal.spans import StyledText, wrapped

    mark, name, title, abilities, files, known_from = row
    for at, text in enumerate((f"{name}: {title}; {abilities}", files, known_from)):
        first = f"{mark or ' '} " if not at else "    "
        for spans in wrapped([StyledText(text)], width, first=first, rest="    ") if text else ():
            yield "".join(span.text for span in spans)


_TITLES = ("format", "what it is", "can be", "where its files are", "known from")
_ANY_WIDTH = 10_000
"""columns, for a program that reads the table: nothing is cut"""
_MARKS = {True: "●", False: ""}


def _screen_width() -> int:
    from legato.cli.terminal.screen import Screen

    return Screen(sys.stdout).width


def _is_here(known: Format) -> bool:
    return known.home is not None and known.home.path.is_dir()


def _row(known: Format) -> tuple[str, ...]:
    home = known.home.pattern if known.home is not None else ""
    return known.name, known.title, ", ".join(_abilities(known)), home, known.known_from


def _abilities(known: Format) -> Iterator[str]:
    yield "read"
    if known.is_written:
        yield "written"
    if known.repair is not None:
        yield "repaired"


def _as_json(known: Format) -> dict[str, object]:
    home = known.home
    return {
        "name": known.name,
        "title": known.title,
        "abilities": list(_abilities(known)),
        "is_request": known.is_wire,
        "known_from": known.known_from,
        "home": home
        and {
            "folder": home.folder,
            "files": home.files,
            "moved_by": home.moved_by,
            "source": home.source,
            "is_here": _is_here(known),
        },
    }
