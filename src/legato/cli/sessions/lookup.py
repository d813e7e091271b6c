"""Which stored session goes on: the last one of this folder, one by its id, or one that a person picks.

An id may be given by its beginning or its end, as long as only one session fits: the beginning is the time, the end is
what people remember.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from legato.cli.sessions.subagents import MARK, without_subagents
from legato.cli.terminal.cells import table
from legato.cli.terminal.reading import PromptReader
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.errors import CallerError, SessionNotFound
from legato.store import SessionSummary, Store

PICKED = 20
"""sessions that a picker shows"""
_WIDE = 110
"""columns, below which the title needs the room that the route would take"""


async def last_of_folder(store: Store, folder: Path) -> SessionSummary:
    """The session of `folder` that was written last."""
    for summary in without_subagents(await store.list()):
        if summary.cwd == str(folder):
            return summary
    raise SessionNotFound(f"no session of {folder} is stored; begin one without -c, or name one with -r")


async def find_session(store: Store, wanted: str) -> SessionSummary:
    """The session that `wanted` means; raises `SessionNotFound`, or `CallerError` if several fit."""
    sessions = await store.list()
    exact = [one for one in sessions if one.id == wanted]
    found = exact or [one for one in sessions if one.id.startswith(wanted) or one.id.endswith(wanted)]
    if not found:
        raise SessionNotFound(f"no session {wanted!r} is stored; `legato sessions` lists them")
    if len(found) > 1:
        raise CallerError(f"{wanted!r} fits {len(found)} sessions: {', '.join(one.id for one in found[:3])}, ...")
    return found[0]


async def pick_session(store: Store, folder: Path, *, screen: Screen, reader: PromptReader) -> SessionSummary | None:
    """The session that a person picks from a list, those of `folder` first; None if they pick none."""
    sessions = sorted(without_subagents(await store.list()), key=lambda one: one.cwd != str(folder))[:PICKED]
    if not sessions:
        raise SessionNotFound("no session is stored yet; begin one without -r")
    rows = [(str(number), *row) for number, row in enumerate(as_rows(sessions, folder, width=screen.width), 1)]
    for line in table(rows, width=screen.width, flexible=-1):
        screen.line(line)
    while True:
        try:
            answer = await reader.line("number (Enter for none): ")
        except (EOFError, KeyboardInterrupt):
            return None
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(sessions):
            return sessions[int(answer) - 1]
        screen.line(f"Type a number from 1 to {len(sessions)}.", Style.DIM)


def as_rows(sessions: Sequence[SessionSummary], folder: Path, *, width: int) -> list[tuple[str, ...]]:
    """Sessions as rows of a table: id, age, route (where `width` leaves room for it), folder, title."""
    now = time.time()
    return [
        (
            one.id,
            _age(now - one.updated),
            *((one.route or "-",) if width >= _WIDE else ()),
            _folder(one.cwd, folder),
            f"{MARK if one.subagent_of else ''}{one.title or '(nothing said yet)'}",
        )
        for one in sessions
    ]


def _folder(cwd: str, here: Path) -> str:
    if not cwd:
        return "-"
    path = Path(cwd)
    if path == here:
        return "."
    return f"~/{path.relative_to(Path.home()).as_posix()}" if path.is_relative_to(Path.home()) else cwd


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"
