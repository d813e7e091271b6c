"""The store contract on one SQLite file.

Writes go through the writer's queue; each read has a connection of its own, so that a session stays readable while the
writer waits or its disk is full.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from secrets import token_hex

import anyio.to_thread

from legato.errors import CallerError, StoreCorrupt, StoreError, StoreUnavailable
from legato.model.jsonvalue import JsonObject
from legato.model.records import Record
from legato.store.checksums import rows_of_records
from legato.store.contract import Lease, Problem, SessionSummary, Store
from legato.store.lease_owner import this_process
from legato.store.new_session import prepare_session
from legato.store.sqlite import statements
from legato.store.sqlite.access import Beat, SqliteFile
from legato.store.sqlite.file import (
    connect_file,
    create_file,
    is_of_full_disk,
    safe_journal,
    sessions_file,
    translated,
)
from legato.store.sqlite.reserve import give_up_reserve, keep_reserve, steps_to_delete
from legato.store.summary import clean_title, log_summary_of


class SqliteStore(Store):
    """Sessions in the SQLite file at `path` (the platform's data folder if None).

    `lease_seconds` is how long a writer on another host counts as alive without a sign of life; `patience` how long a
    statement waits for other processes; `sqlite_version` decides the journal mode.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        lease_seconds: float = 120.0,
        patience: float = 30.0,
        sqlite_version: tuple[int, ...] = sqlite3.sqlite_version_info,
        connect: Callable[..., sqlite3.Connection] = connect_file,
    ) -> None:
        self.path = sessions_file() if path is None else Path(path).expanduser().absolute()
        self._term = lease_seconds
        self._leases: dict[str, Lease] = {}  # by claim; changed in the writer's thread only
        self._file = SqliteFile(
            self.path,
            Beat(job=self._renew, interval=lease_seconds / 4, is_needed=lambda: bool(self._leases)),
            journal=safe_journal(sqlite_version),
            patience=patience,
            connect=connect,
        )

    async def connect(self) -> None:
        """Make or migrate the file; see `Store.connect`. On a full disk this may need the room that was laid by."""
        try:
            await self._file.connect()
        except StoreUnavailable as error:
            if not is_of_full_disk(error):
                raise
            await anyio.to_thread.run_sync(give_up_reserve, self.path)
            await self._file.connect()

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
        await self._file.write(lambda connection: statements.insert_session(connection, new))
        await anyio.to_thread.run_sync(keep_reserve, self.path)
        return new.id

    async def open(self, session_id: str, *, holder: str) -> Lease:
        """The writer's lease; see `Store.open`."""
        claim, name = token_hex(8), clean_title(holder)

        def job(connection: sqlite3.Connection) -> Lease:
            lease = statements.take_lease(
                connection,
                session_id,
                holder=name,
                claim=claim,
                process=this_process(),
                term=self._term,
                where=str(self.path),
            )
            self._leases[claim] = lease
            return lease

        try:
            return await self._file.write(job)
        except StoreError:
            self._leases.pop(claim, None)
            raise

    async def release(self, lease: Lease) -> None:
        """Let others write; see `Store.release`."""

        def job(connection: sqlite3.Connection) -> None:
            self._leases.pop(lease.claim, None)
            statements.release_leases(connection, [lease])

        await self._file.write(job)

    async def append(self, lease: Lease, expected: int, records: Sequence[Record]) -> int:
        """Store records; see `Store.append`."""
        rows = rows_of_records(records, expected)
        summary = log_summary_of(records)
        return await self._file.write(
            lambda connection: statements.append_rows(
                connection, lease, expected, rows=rows, summary=summary, term=self._term, where=str(self.path)
            )
        )

    async def read(self, session_id: str, start: int = 0, *, stop: int | None = None) -> Sequence[Record]:
        """The records; see `Store.read`."""
        return await self._file.read(
            lambda connection: statements.load_records(connection, session_id, start, stop=stop, where=str(self.path))
        )

    async def describe(self, session_id: str) -> SessionSummary:
        """What a list shows of one session; see `Store.describe`."""
        return await self._file.read(lambda connection: statements.load_summary(connection, session_id, str(self.path)))

    async def list(self) -> Sequence[SessionSummary]:
        """All sessions; see `Store.list`."""
        return await self._file.read(statements.load_summaries)

    async def annotate(self, session_id: str, changes: JsonObject) -> None:
        """Change the metadata; see `Store.annotate`."""
        await self._file.write(
            lambda connection: statements.change_meta(connection, session_id, changes, str(self.path))
        )

    async def delete(self, session_id: str) -> None:
        """Forget a session; see `Store.delete`. On a full disk it takes more steps, and the room that was laid by."""
        try:
            await self._remove(session_id)
        except StoreUnavailable as error:
            if not is_of_full_disk(error):
                raise
            await self._remove_in_steps(session_id)

    async def _remove(self, session_id: str) -> None:
        await self._file.write(lambda connection: statements.remove_session(connection, session_id, str(self.path)))

    async def _remove_in_steps(self, session_id: str) -> None:
        await anyio.to_thread.run_sync(give_up_reserve, self.path)
        sizes = await self._file.write(
            lambda connection: statements.sizes_for_removal(connection, session_id, str(self.path))
        )
        for step in steps_to_delete(sizes):
            await self._file.write(step)
        await self._remove(session_id)

    async def check(self, session_id: str | None = None) -> Sequence[Problem]:
        """Look at every byte; see `Store.check`. A file that is no database is a finding too."""

        def look(connection: sqlite3.Connection) -> Sequence[Problem]:
            if session_id is not None:
                return tuple(statements.inspect_session(connection, session_id, str(self.path)))
            return tuple(statements.inspect_file(connection))

        try:
            return await self._file.read(look)
        except StoreCorrupt as error:
            return [Problem(error.message, session_id)]

    async def backup(self, target: str | os.PathLike[str]) -> None:
        """Copy the whole file to `target`, which must not exist. Writers wait meanwhile, readers do not."""
        copy = Path(target)

        def save(connection: sqlite3.Connection) -> None:
            path = copy.expanduser().absolute()
            with translated(path):
                try:
                    create_file(path)
                except FileExistsError:
                    raise CallerError(
                        f"{path} exists already; name a new file for the backup", path=str(path)
                    ) from None
            try:
                with translated(path), closing(connect_file(path, journal="delete", patience=0.0)) as destination:
                    connection.backup(destination)
            except StoreError:
                path.unlink(missing_ok=True)  # half a backup is worse than none: it looks like one
                raise

        await self._file.read(save)

    async def close(self) -> None:
        """Release every lease and end the writer; see `Store.close`. A lease that stays ends with this process."""

        def job(connection: sqlite3.Connection) -> None:
            statements.release_leases(connection, tuple(self._leases.values()))
            self._leases.clear()

        await self._file.close(job if self._leases else None)

    def _renew(self, connection: sqlite3.Connection) -> None:
        statements.renew_leases(connection, tuple(self._leases.values()), self._term)
