"""Which stored session goes on: the last one of this folder, one by its id, or one that a person picks.

An id may be given by its beginning or its end, as long as only one session fits: the beginning is the time, the end is
what people remember.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from legato.cli.sessions.subagents import MARK, without_subagents
from legato.cli.terminal.picker import Row, pick
from legato.cli.terminal.reading import PromptReader
from legato.cli.terminal.screen import Screen
from legato.errors import CallerError, SessionNotFound
from legato.files.text import counted
from legato.store import SessionSummary, Store

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


async def sessions_to_pick(store: Store, folder: Path) -> list[SessionSummary]:
    """The sessions that a person may want to go on with, those of `folder` first."""
    return sorted(without_subagents(await store.list()), key=lambda one: one.cwd != str(folder))


async def pick_session(store: Store, folder: Path, *, screen: Screen, reader: PromptReader) -> SessionSummary | None:
    """The session that a person picks from a list, those of `folder` first; None if they pick none."""
    sessions = await sessions_to_pick(store, folder)
    if not sessions:
        raise SessionNotFound("no session is stored yet; begin one without -r")
    rows = picker_rows(sessions, folder, width=screen.width)
    picked = await pick("Go on with", rows, screen=screen, reader=reader)
    return None if picked is None else sessions[picked]


def picker_rows(sessions: Sequence[SessionSummary], folder: Path, *, width: int) -> list[Row]:
    """Sessions as a picker shows them: age, folder and title; id and route are told of the marked one."""
    return [
        Row((age, *rest[-2:]), f"{session_id}  {one.route}  {counted(one.records, 'record')}")
        for one, (session_id, age, *rest) in zip(sessions, as_rows(sessions, folder, width=width), strict=True)
    ]


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
