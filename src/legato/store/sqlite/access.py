"""One file in use: a thread that writes it, and connections for readers, none of them in the event loop.

In:  jobs, each a function of a connection.
Out: what they return, once it is on the disk; a `StoreError` that says what to do if it is not.

Each operation runs in a thread, so a long one does not hold up the event loop. A reader has a connection and a read
transaction of its own: what one process appends, another sees at once, also while the writer waits for a slow disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread
from msgspec import Struct

from legato.errors import StoreError, StoreUnavailable
from legato.store.sqlite.file import connect_file, reading, translated
from legato.store.sqlite.schema import SESSIONS, Schema, migrate
from legato.store.sqlite.writer import WriterThread

T = TypeVar("T")

_THREADS = 8
"""Worker threads for one file. Its own limit: tools that fill the common one must not keep a result from the disk."""


class Beat(Struct, frozen=True, kw_only=True):
    """What the writer does every `interval` seconds, unless `is_needed` says that it need not."""

    job: Callable[[sqlite3.Connection], None]
    interval: float
    is_needed: Callable[[], bool] = lambda: True


class SqliteFile:
    """The file at `path`. `patience` is how many seconds a statement waits for other processes."""

    def __init__(
        self,
        path: Path,
        beat: Beat,
        *,
        journal: str,
        patience: float,
        schema: Schema = SESSIONS,
        connect: Callable[..., sqlite3.Connection] | None = None,
    ) -> None:
        self.path = path
        self._beat = beat
        self._journal = journal
        self._patience = patience
        self._schema = schema
        self._connect_file = connect or partial(connect_file, schema=schema)
        self._writer: WriterThread | None = None
        self._limiter = anyio.CapacityLimiter(_THREADS)
        self._ready = False
        self._closed = False

    async def connect(self) -> None:
        """Make or migrate the file."""
        if self._ready:
            return

        def run() -> None:
            with translated(self.path, self._schema):
                self._connect().close()

        await self._in_thread(run)
        self._ready = True

    async def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """What `job` returns once it is committed. A cancellation waits until then: the outcome is never unknown."""
        self._refuse_if_closed()
        if self._writer is None:
            beat = self._beat
            self._writer = WriterThread(self._connect, beat.job, needs_beat=beat.is_needed, interval=beat.interval)
        writer = self._writer

        def run() -> T:
            with translated(self.path, self._schema):
                return writer.submit(job).result()

        return await self._in_thread(run)

    async def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """What `look` sees of one moment of the file."""
        self._refuse_if_closed()
        await self.connect()

        def run() -> T:
            with translated(self.path, self._schema), reading(self.path, patience=self._patience) as connection:
                return look(connection)

        return await self._in_thread(run)

    async def close(self, last: Callable[[sqlite3.Connection], None] | None = None) -> None:
        """Do `last` if the disk allows it, and end the writer."""
        self._closed = True
        writer, self._writer = self._writer, None
        if writer is None:
            return

        def end() -> None:
            try:
                if last is not None:
                    with translated(self.path, self._schema):
                        writer.submit(last).result()
            except StoreUnavailable:
                pass  # what cannot be said any more has to be seen from this process being gone
            finally:
                writer.stop()

        await self._in_thread(end)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreError(f"the store of {self.path} is closed; open a new one", path=str(self.path))

    async def _in_thread(self, run: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(run, limiter=self._limiter)

    def _connect(self) -> sqlite3.Connection:
        connection = self._connect_file(self.path, journal=self._journal, patience=self._patience)
        try:
            migrate(connection, self.path, self._schema)
        except BaseException:
            connection.close()
            raise
        return connection
