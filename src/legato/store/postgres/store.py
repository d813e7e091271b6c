"""The store contract on PostgreSQL, by URL.

Each operation is one transaction on a pooled connection. Where the connection is lost, the operation is tried again on
another one until `patience` is over, and finds out by itself whether its first attempt had been committed. So a server
that restarts is a pause, and an acknowledged record is a stored one.

The lease lives in the session's row: the append locks that row, compares the fencing token and writes in the same
transaction. A task of the store renews its leases, so a machine that vanishes loses them after `lease_seconds`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import TypeVar

import anyio
import anyio.to_thread
import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from legato.errors import SessionNotFound, StoreError
from legato.model.jsonvalue import JsonObject
from legato.model.records import Record
from legato.store.checksums import checked_records, find_problems, range_of, rows_of_records
from legato.store.contract import Lease, Problem, SessionSummary, Store
from legato.store.lease_owner import this_process
from legato.store.new_session import prepare_session
from legato.store.postgres import statements
from legato.store.postgres.errors import is_transient, name_place, refusal
from legato.store.postgres.schema import migrate
from legato.store.summary import clean_title, log_summary_of

T = TypeVar("T")

_Work = Callable[[AsyncConnection, bool], Awaitable[T]]
"""One transaction; the second argument says whether an earlier attempt may have been committed."""

_ATTEMPT = 1.0
"""Seconds to wait for a connection before asking the pool anew: one that failed to connect does not try by itself."""

_PAUSE = 0.1
"""seconds from one attempt to the next; our choice: a server that restarts is asked ten times a second"""


class PostgresStore(Store):
    """Sessions in the database that `url` names.

    `lease_seconds` is how long a writer on another host counts as alive without a sign of life; `patience` how long an
    operation goes on trying when the server cannot be reached.
    """

    def __init__(
        self, url: str, *, lease_seconds: float = 30.0, patience: float = 20.0, max_connections: int = 4
    ) -> None:
        self._where = name_place(url)
        self._url = url
        self._term = lease_seconds
        self._patience = patience
        self._max_connections = max_connections
        self._pool: AsyncConnectionPool[AsyncConnection] | None = None
        self._leases: dict[str, Lease] = {}
        self._heart: asyncio.Task[None] | None = None
        self._closed = False
        self._connecting = anyio.Lock()
        # Its own threads for decoding: tools that fill the common ones must not keep a session from being read.
        self._limiter = anyio.CapacityLimiter(4)

    async def connect(self) -> None:
        """Make or migrate the tables, and open the pool; see `Store.connect`."""
        async with self._connecting:
            if self._closed:
                raise StoreError(f"the store of {self._where} is closed; open a new one")
            if self._pool is None:
                await self._make_tables()
                self._pool = await self._open_pool()

    async def create(
        self,
        session_id: str | None = None,
        *,
        meta: JsonObject | None = None,
        records: Sequence[Record] = (),
        parent: str | None = None,
    ) -> str:
        """A new session; see `Store.create`."""
        new = prepare_session(session_id, meta, records=records, parent=parent)
        await self._write(lambda connection, again: statements.insert_session(connection, new, again=again))
        return new.id

    async def open(self, session_id: str, *, holder: str) -> Lease:
        """The writer's lease; see `Store.open`."""
        claim = token_hex(8)
        lease = await self._write(
            lambda connection, again: statements.take_lease(
                connection,
                session_id,
                holder=clean_title(holder),
                claim=claim,
                process=this_process(),
                term=self._term,
                where=self._where,
            )
        )
        self._leases[claim] = lease
        if self._heart is None:
            self._heart = asyncio.get_running_loop().create_task(self._keep_leases())
        return lease

    async def release(self, lease: Lease) -> None:
        """Let others write; see `Store.release`."""
        self._leases.pop(lease.claim, None)
        await self._write(lambda connection, again: statements.release_leases(connection, [lease]))

    async def append(self, lease: Lease, expected: int, records: Sequence[Record]) -> int:
        """Store records; see `Store.append`."""
        rows = rows_of_records(records, expected)
        summary = log_summary_of(records)
        return await self._write(
            lambda connection, again: statements.append_rows(
                connection,
                lease,
                expected,
                rows=rows,
                summary=summary,
                term=self._term,
                where=self._where,
                again=again,
            )
        )

    async def read(self, session_id: str, start: int = 0, *, stop: int | None = None) -> Sequence[Record]:
        """The records; see `Store.read`."""

        async def look(connection: AsyncConnection, again: bool) -> tuple[int, int, list[statements.Row]]:
            number, length = await statements.find_session(connection, session_id, where=self._where)
            first, end = range_of(length, start, stop)
            return first, end, await statements.load_rows(connection, number, first, end)

        first, end, rows = await self._read(look)
        return await anyio.to_thread.run_sync(
            lambda: checked_records(session_id, rows, start=first, stop=end), limiter=self._limiter
        )

    async def describe(self, session_id: str) -> SessionSummary:
        """What a list shows of one session; see `Store.describe`."""
        return await self._read(
            lambda connection, again: statements.load_summary(connection, session_id, where=self._where)
        )

    async def list(self) -> Sequence[SessionSummary]:
        """All sessions; see `Store.list`."""
        return await self._read(lambda connection, again: statements.load_summaries(connection))

    async def annotate(self, session_id: str, changes: JsonObject) -> None:
        """Change the metadata; see `Store.annotate`."""
        await self._write(
            lambda connection, again: statements.change_meta(connection, session_id, changes, where=self._where)
        )

    async def delete(self, session_id: str) -> None:
        """Forget a session; see `Store.delete`."""

        async def job(connection: AsyncConnection, again: bool) -> None:
            try:
                await statements.remove_session(connection, session_id, where=self._where)
            except SessionNotFound:
                if not again:
                    raise

        await self._write(job)

    async def check(self, session_id: str | None = None) -> Sequence[Problem]:
        """Look at every record; see `Store.check`. The pages below them are the server's to check."""

        async def look(connection: AsyncConnection, again: bool) -> Sequence[Problem]:
            if session_id is None:
                sessions = await statements.list_sessions(connection)
            else:
                sessions = [(session_id, *await statements.find_session(connection, session_id, where=self._where))]
            problems: list[Problem] = []
            for name, number, length in sessions:
                rows = await statements.load_rows(connection, number, 0, None)
                problems.extend(find_problems(name, rows, length=length))
            return problems

        return await self._read(look)

    async def close(self) -> None:
        """Release every lease and let go of the connections; see `Store.close`."""
        with anyio.CancelScope(shield=True):
            if self._heart is not None:
                self._heart.cancel()
                with suppress(asyncio.CancelledError):
                    await self._heart
                self._heart = None
            leases, self._leases = tuple(self._leases.values()), {}
            if leases and not self._closed:
                with suppress(StoreError):  # a lease that cannot be given back expires
                    await self._write(lambda connection, again: statements.release_leases(connection, leases))
            self._closed = True
            pool, self._pool = self._pool, None
            if pool is not None:
                await pool.close()

    async def _write(self, work: _Work[T]) -> T:
        """What `work` returns once it is committed. A cancellation waits until then: the outcome is never unknown."""
        with anyio.CancelScope(shield=True):
            return await self._transact(work)
        raise AssertionError("nothing cancels this scope")

    async def _read(self, look: _Work[T]) -> T:
        async def work(connection: AsyncConnection, again: bool) -> T:
            # A length and the records it counts must be of the same moment.
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return await look(connection, again)

        return await self._transact(work)

    async def _transact(self, work: _Work[T]) -> T:
        await self.connect()
        deadline = time.monotonic() + self._patience
        again = False
        while True:
            pool = self._pool
            if pool is None:
                raise StoreError(f"the store of {self._where} is closed; open a new one")
            try:
                async with pool.connection(timeout=_ATTEMPT) as connection, connection.transaction():
                    return await work(connection, again)
            except (psycopg.Error, PoolTimeout) as error:
                if not is_transient(error) or time.monotonic() > deadline:
                    raise refusal(await self._reason(error), self._where) from error
                again = again or not isinstance(error, PoolTimeout)
            await anyio.sleep(_PAUSE)

    async def _reason(self, error: Exception) -> Exception:
        """The pool only says that it has no connection; ask once, directly, why not."""
        if isinstance(error, PoolTimeout):
            try:
                await (await AsyncConnection.connect(self._url, connect_timeout=2)).close()
            except psycopg.Error as cause:
                return cause
        return error

    async def _make_tables(self) -> None:
        """Not through the pool: it would hide why it cannot connect."""
        try:
            async with await AsyncConnection.connect(self._url, autocommit=True, connect_timeout=10) as connection:
                await migrate(connection, self._where)
        except psycopg.Error as error:
            raise refusal(error, self._where) from error

    async def _open_pool(self) -> AsyncConnectionPool[AsyncConnection]:
        # The pool reports each lost connection at level WARNING, which Python prints to the terminal where no one has
        # set up logging. What matters of it is in our own errors.
        logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
        pool: AsyncConnectionPool[AsyncConnection] = AsyncConnectionPool(
            self._url,
            min_size=0,
            max_size=self._max_connections,
            kwargs={"autocommit": True, "connect_timeout": 10},
            configure=_demand_durability,
            reconnect_timeout=0.001,  # a caller that needs a connection asks again, and then the pool tries at once
            open=False,
        )
        await pool.open()
        return pool

    async def _keep_leases(self) -> None:
        while True:
            await anyio.sleep(self._term / 3)
            if self._leases:
                with suppress(StoreError):  # the next append says what is wrong; a lease lost meanwhile is fenced off
                    await self._transact(self._renew)

    async def _renew(self, connection: AsyncConnection, again: bool) -> None:
        await statements.renew_leases(connection, tuple(self._leases.values()), self._term)


async def _demand_durability(connection: AsyncConnection) -> None:
    """Some servers acknowledge a commit before it is on the disk; not for us. Stronger settings stay."""
    await connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
