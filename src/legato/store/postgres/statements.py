"""Every transaction on the tables, as a function of a connection.

Each may run twice: when the connection breaks, no one knows whether the commit arrived. `again` says that an earlier
attempt may have, and then each looks for its own traces before it reads them as someone else's.

Times are the server's. Machines disagree about the hour, and a lease must end at the same moment for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from psycopg import AsyncConnection

from legato.model.jsonvalue import JsonObject
from legato.store.checksums import Row
from legato.store.contract import Lease, SessionSummary
from legato.store.identity import decode_meta, encode_meta, is_session_id, merge_meta
from legato.store.lease_owner import Process, may_take_over
from legato.store.new_session import NewSession
from legato.store.refusals import check_append, held_session, taken_id, unknown_session
from legato.store.summary import LogSummary, summarise


async def insert_session(connection: AsyncConnection, new: NewSession, *, again: bool) -> None:
    """Make a session with its first records."""
    cursor = await connection.execute(
        "INSERT INTO legato_sessions (id, length, title, route, parent, meta) VALUES (%s, %s, %s, %s, %s, %s)"
        " ON CONFLICT (id) DO NOTHING RETURNING number",
        (new.id, len(new.rows), new.summary.title, new.summary.route, new.parent, new.meta),
    )
    inserted = await cursor.fetchone()
    if inserted is not None:
        await _insert_rows(connection, inserted[0], new.rows)
        return
    cursor = await connection.execute(
        "SELECT number, length, meta, parent, token FROM legato_sessions WHERE id = %s", (new.id,), binary=True
    )
    found = await cursor.fetchone()
    if not (again and found and found[1:] == (len(new.rows), new.meta, new.parent, 0)):
        raise taken_id(new.id)
    if await load_rows(connection, found[0], 0, len(new.rows)) != list(new.rows):
        raise taken_id(new.id)


async def take_lease(
    connection: AsyncConnection, session_id: str, *, holder: str, claim: str, process: Process, term: float, where: str
) -> Lease:
    """Make `process` the writer of the session for `term` seconds, unless a live one has it."""
    token = await _refuse_if_held(connection, session_id, claim=claim, where=where)
    if token is None:
        cursor = await connection.execute(
            "UPDATE legato_sessions SET token = token + 1, claim = %s, holder = %s, host = %s, pid = %s, started = %s,"
            " since = clock_timestamp(), expires = clock_timestamp() + make_interval(secs => %s) WHERE id = %s"
            " RETURNING token",
            (claim, holder, process.host, process.pid, process.started, term, session_id),
        )
        row = await cursor.fetchone()
        assert row is not None  # it is locked by this transaction
        token = int(row[0])
    return Lease(session_id, holder, token, claim)


async def release_leases(connection: AsyncConnection, leases: Sequence[Lease]) -> None:
    """Let others write."""
    await connection.execute(
        "UPDATE legato_sessions SET claim = NULL WHERE claim = ANY(%s)", ([one.claim for one in leases],)
    )


async def renew_leases(connection: AsyncConnection, leases: Sequence[Lease], term: float) -> None:
    """Show that the holder lives."""
    await connection.execute(
        "UPDATE legato_sessions SET expires = clock_timestamp() + make_interval(secs => %s) WHERE claim = ANY(%s)",
        (term, [one.claim for one in leases]),
    )


async def append_rows(
    connection: AsyncConnection,
    lease: Lease,
    expected: int,
    *,
    rows: Sequence[Row],
    summary: LogSummary,
    term: float,
    where: str,
    again: bool,
) -> int:
    """Add `rows` to the log if the lease and the length are right; the row of the session stays locked meanwhile."""
    number, length, token, claim, holder = await _row(
        connection, "number, length, token, claim, holder", lease.session, where=where, lock=True
    )
    end = expected + len(rows)
    ours = again and length == end and claim == lease.claim
    if ours and await load_rows(connection, number, expected, end) == list(rows):
        return end  # the earlier attempt was committed; only its acknowledgement was lost
    check_append(lease, expected, length=length, token=token, claim=claim, holder=holder)
    await _insert_rows(connection, number, rows)
    await connection.execute(
        "UPDATE legato_sessions SET length = %s, updated = clock_timestamp(),"
        " expires = clock_timestamp() + make_interval(secs => %s),"
        " title = CASE title WHEN '' THEN %s ELSE title END, route = coalesce(nullif(%s, ''), route)"
        " WHERE number = %s",
        (end, term, summary.title, summary.route, number),
    )
    return end


async def change_meta(connection: AsyncConnection, session_id: str, changes: JsonObject, *, where: str) -> None:
    """Merge `changes` into the metadata."""
    (meta,) = await _row(connection, "meta", session_id, where=where, lock=True)
    merged = encode_meta(merge_meta(decode_meta(meta), changes))
    await connection.execute("UPDATE legato_sessions SET meta = %s WHERE id = %s", (merged, session_id))


async def remove_session(connection: AsyncConnection, session_id: str, *, where: str) -> None:
    """Delete a session that no one writes."""
    await _refuse_if_held(connection, session_id, claim=None, where=where)
    await connection.execute("DELETE FROM legato_sessions WHERE id = %s", (session_id,))


async def find_session(connection: AsyncConnection, session_id: str, *, where: str) -> tuple[int, int]:
    """The number and the length of a session."""
    number, length = await _row(connection, "number, length", session_id, where=where)
    return number, length


async def list_sessions(connection: AsyncConnection) -> list[tuple[str, int, int]]:
    """The id, the number and the length of each session."""
    cursor = await connection.execute("SELECT id, number, length FROM legato_sessions ORDER BY number")
    return [(row[0], row[1], row[2]) for row in await cursor.fetchall()]


async def load_rows(connection: AsyncConnection, number: int, first: int, end: int | None) -> list[Row]:
    """The rows of a part of a log; all up to the last if `end` is None."""
    cursor = await connection.execute(
        "SELECT sequence, seal, data FROM legato_records WHERE session = %s AND sequence >= %s"
        " AND (sequence < %s OR %s) ORDER BY sequence",
        (number, first, 0 if end is None else end, end is None),
        binary=True,  # else bytea travels, and is parsed, as hexadecimal text
    )
    return [(row[0], row[1], row[2]) for row in await cursor.fetchall()]


_SUMMARY = (
    "id, title, route, meta, extract(epoch FROM created)::float8, extract(epoch FROM updated)::float8, length, parent"
)


async def load_summary(connection: AsyncConnection, session_id: str, *, where: str) -> SessionSummary:
    """What a list shows of one session."""
    return summarise(*await _row(connection, _SUMMARY, session_id, where=where))


async def load_summaries(connection: AsyncConnection) -> list[SessionSummary]:
    """What a list shows, the session written last first."""
    cursor = await connection.execute(
        f"SELECT {_SUMMARY} FROM legato_sessions ORDER BY legato_sessions.updated DESC, id DESC", binary=True
    )
    return [summarise(*row) for row in await cursor.fetchall()]


async def _refuse_if_held(connection: AsyncConnection, session_id: str, *, claim: str | None, where: str) -> int | None:
    """Raise `SessionLocked` if a live writer has the session; the token if that writer is `claim`. Locks the row."""
    columns = "claim, holder, host, pid, started, extract(epoch FROM since)::float8, expires < clock_timestamp(), token"
    row = await _row(connection, columns, session_id, where=where, lock=True)
    held_by, holder, host, pid, started, since, expired, token = row
    if held_by is None:
        return None
    if held_by == claim:
        return int(token)
    process = Process(host, pid, started)
    if not may_take_over(process, expired=expired):
        raise held_session(session_id, holder, process, since=since)
    return None


async def _insert_rows(connection: AsyncConnection, number: int, rows: Sequence[Row]) -> None:
    if rows:
        await connection.execute(
            "INSERT INTO legato_records SELECT %s, * FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[])",
            (number, [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]),
        )


async def _row(
    connection: AsyncConnection, columns: LiteralString, session_id: str, *, where: str, lock: bool = False
) -> tuple[Any, ...]:
    if is_session_id(session_id):
        query = f"SELECT {columns} FROM legato_sessions WHERE id = %s" + (" FOR UPDATE" if lock else "")
        cursor = await connection.execute(query, (session_id,), binary=True)
        row = await cursor.fetchone()
        if row is not None:
            return row
    raise unknown_session(session_id, where)
