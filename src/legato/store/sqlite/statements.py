"""Every transaction on the file, as a function of a connection.

Those that write run in the writer's `BEGIN IMMEDIATE`; those that read are wrapped in one read transaction, so that a
length and the records it counts are of the same moment.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from legato.errors import StoreError
from legato.model.jsonvalue import JsonObject
from legato.model.records import Record
from legato.store.checksums import Row, beyond_end, checked_length, checked_records, find_problems, range_of
from legato.store.contract import Lease, Problem, SessionSummary
from legato.store.identity import decode_meta, encode_meta, is_session_id, merge_meta
from legato.store.lease_owner import Process, may_take_over
from legato.store.new_session import NewSession
from legato.store.refusals import check_append, held_session, taken_id, unknown_session
from legato.store.sqlite.schema import SPAN
from legato.store.summary import LogSummary, summarise


def insert_session(connection: sqlite3.Connection, new: NewSession) -> None:
    """Make a session with its first records."""
    if connection.execute("SELECT 1 FROM sessions WHERE id = ?", (new.id,)).fetchone():
        raise taken_id(new.id)
    now = time.time()
    cursor = connection.execute(
        "INSERT INTO sessions (id, created, updated, length, title, route, parent, meta)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (new.id, now, now, len(new.rows), new.summary.title, new.summary.route, new.parent, new.meta),
    )
    number = cursor.lastrowid
    assert number is not None
    _insert_rows(connection, number, new.rows)


def take_lease(
    connection: sqlite3.Connection,
    session_id: str,
    *,
    holder: str,
    claim: str,
    process: Process,
    term: float,
    where: str,
) -> Lease:
    """Make `process` the writer of the session for `term` seconds, unless a live one has it."""
    refuse_if_held(connection, session_id, where)
    now = time.time()
    connection.execute(
        "UPDATE sessions SET token = token + 1, claim = ?, holder = ?, host = ?, pid = ?, started = ?, since = ?,"
        " expires = ? WHERE id = ?",
        (claim, holder, process.host, process.pid, process.started, now, now + term, session_id),
    )
    token: int = connection.execute("SELECT token FROM sessions WHERE id = ?", (session_id,)).fetchone()[0]
    return Lease(session_id, holder, token, claim)


def refuse_if_held(connection: sqlite3.Connection, session_id: str, where: str) -> None:
    """Raise `SessionLocked` if a live writer has the session."""
    row = _row(connection, "claim, holder, host, pid, started, since, expires", session_id, where)
    claim, holder, host, pid, started, since, expires = row
    if claim is not None:
        process = Process(host, pid, started)
        if not may_take_over(process, expired=expires < time.time()):
            raise held_session(session_id, holder, process, since=since)


def release_leases(connection: sqlite3.Connection, leases: Sequence[Lease]) -> None:
    """Let others write."""
    connection.executemany(
        "UPDATE sessions SET claim = NULL WHERE id = ? AND claim = ?", [(one.session, one.claim) for one in leases]
    )


def renew_leases(connection: sqlite3.Connection, leases: Sequence[Lease], term: float) -> None:
    """Show that the holder lives."""
    expires = time.time() + term
    connection.executemany(
        "UPDATE sessions SET expires = ? WHERE id = ? AND claim = ?",
        [(expires, one.session, one.claim) for one in leases],
    )


def append_rows(
    connection: sqlite3.Connection,
    lease: Lease,
    expected: int,
    *,
    rows: Sequence[Row],
    summary: LogSummary,
    term: float,
    where: str,
) -> int:
    """Add `rows` to the log if the lease and the length are right."""
    number, length, token, claim, holder = _row(
        connection, "number, length, token, claim, holder", lease.session, where
    )
    check_append(lease, expected, length=checked_length(lease.session, length), token=token, claim=claim, holder=holder)
    _insert_rows(connection, number, rows)
    now = time.time()
    connection.execute(
        "UPDATE sessions SET length = ?, updated = ?, expires = ?,"
        " title = CASE title WHEN '' THEN ? ELSE title END, route = CASE ? WHEN '' THEN route ELSE ? END"
        " WHERE number = ?",
        (length + len(rows), now, now + term, summary.title, summary.route, summary.route, number),
    )
    return length + len(rows)


def change_meta(connection: sqlite3.Connection, session_id: str, changes: JsonObject, where: str) -> None:
    """Merge `changes` into the metadata."""
    (meta,) = _row(connection, "meta", session_id, where)
    merged = encode_meta(merge_meta(decode_meta(meta), changes))
    connection.execute("UPDATE sessions SET meta = ? WHERE id = ?", (merged, session_id))


def remove_session(connection: sqlite3.Connection, session_id: str, where: str) -> None:
    """Delete a session that no one writes."""
    refuse_if_held(connection, session_id, where)
    (number,) = _row(connection, "number", session_id, where)
    connection.execute("DELETE FROM records WHERE place >= ? AND place < ?", (number * SPAN, (number + 1) * SPAN))
    connection.execute("DELETE FROM sessions WHERE number = ?", (number,))


def sizes_for_removal(connection: sqlite3.Connection, session_id: str, where: str) -> list[tuple[int, int]]:
    """The places of the records of a session that no one writes, and how many bytes each has."""
    refuse_if_held(connection, session_id, where)
    (number,) = _row(connection, "number", session_id, where)
    return connection.execute(
        "SELECT place, length(data) FROM records WHERE place >= ? AND place < ?", (number * SPAN, (number + 1) * SPAN)
    ).fetchall()


def load_records(
    connection: sqlite3.Connection, session_id: str, start: int, *, stop: int | None, where: str
) -> list[Record]:
    """A part of a log."""
    number, told = _row(connection, "number, length", session_id, where)
    length = checked_length(session_id, told)
    first, end = range_of(length, start, stop)
    if stop is None and _has_more(connection, number, length):
        raise beyond_end(session_id, length)
    # Closed in any case: the traceback of an error about a damaged record would keep a half-read cursor alive, and with
    # it, even after the connection is closed, the lock that keeps writers out.
    with closing(_rows(connection, number, first, end)) as rows:
        return checked_records(session_id, rows, start=first, stop=end)


def _has_more(connection: sqlite3.Connection, number: int, length: int) -> bool:
    """Whether a session has records that its length does not count."""
    found = "SELECT EXISTS (SELECT 1 FROM records WHERE place >= ? AND place < ?)"
    return bool(connection.execute(found, (number * SPAN + length, (number + 1) * SPAN)).fetchone()[0])


_SUMMARY = "id, title, route, meta, created, updated, length, parent"


def load_summary(connection: sqlite3.Connection, session_id: str, where: str) -> SessionSummary:
    """What a list shows of one session."""
    return summarise(*_row(connection, _SUMMARY, session_id, where))


def load_summaries(connection: sqlite3.Connection) -> list[SessionSummary]:
    """What a list shows, the session written last first."""
    rows = connection.execute(f"SELECT {_SUMMARY} FROM sessions ORDER BY updated DESC, id DESC")
    return [summarise(*row) for row in rows]


def inspect_file(connection: sqlite3.Connection) -> Iterator[Problem]:
    """What is wrong with the file and with every session in it."""
    yield from _guarded(lambda: _inspect_pages(connection), None)
    sessions = connection.execute("SELECT id, number, length FROM sessions ORDER BY number").fetchall()
    for session_id, number, length in sessions:
        yield from _inspect_log(connection, session_id, number, length)
    yield from _guarded(lambda: _find_strays(connection), None)


def inspect_session(connection: sqlite3.Connection, session_id: str, where: str) -> Iterator[Problem]:
    """What is wrong with one session."""
    number, length = _row(connection, "number, length", session_id, where)
    return _inspect_log(connection, session_id, number, length)


def _inspect_log(connection: sqlite3.Connection, session_id: str, number: int, length: object) -> Iterator[Problem]:
    if not isinstance(length, int) or length < 0:
        return iter([Problem("the length of this session is damaged", session_id)])
    return _guarded(
        lambda: find_problems(session_id, _rows(connection, number, 0, SPAN).fetchall(), length=length), session_id
    )


def _inspect_pages(connection: sqlite3.Connection) -> Iterator[Problem]:
    for (finding,) in connection.execute("PRAGMA integrity_check").fetchall():
        if finding != "ok":
            yield Problem(f"the database file is damaged: {finding}")


def _find_strays(connection: sqlite3.Connection) -> Iterator[Problem]:
    strays = connection.execute(
        "SELECT count(*) FROM records WHERE place / ? NOT IN (SELECT number FROM sessions)", (SPAN,)
    ).fetchone()[0]
    if strays:
        yield Problem(f"{strays} records belong to no session")


def _guarded(look: Callable[[], Iterator[Problem]], session_id: str | None) -> Iterator[Problem]:
    """What `look` finds. Where SQLite stumbles over a damaged page, that is a finding too, and the search goes on."""
    try:
        yield from look()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        yield Problem(f"the database file is damaged here: {error}", session_id)


def _insert_rows(connection: sqlite3.Connection, number: int, rows: Sequence[Row]) -> None:
    if rows and rows[-1][0] >= SPAN:
        raise StoreError(f"a session holds at most {SPAN:,} records; fork it to go on")
    connection.executemany(
        "INSERT INTO records (place, seal, data) VALUES (?, ?, ?)",
        [(number * SPAN + sequence, seal, data) for sequence, seal, data in rows],
    )


def _rows(connection: sqlite3.Connection, number: int, first: int, end: int) -> sqlite3.Cursor:
    """Rows as `checksums` wants them, for a caller that closes the cursor."""
    base = number * SPAN
    return connection.execute(
        "SELECT place - ?, seal, data FROM records WHERE place >= ? AND place < ? ORDER BY place",
        (base, base + first, base + end),
    )


def _row(connection: sqlite3.Connection, columns: str, session_id: str, where: str) -> tuple[Any, ...]:
    if is_session_id(session_id):
        row = connection.execute(f"SELECT {columns} FROM sessions WHERE id = ?", (session_id,)).fetchone()
        if row is not None:
            return row
    raise unknown_session(session_id, where)
