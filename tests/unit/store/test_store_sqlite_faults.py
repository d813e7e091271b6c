"""A disk that is full or fails: a clear error, nothing half stored, and a session that can still be read."""

import sqlite3
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from legato.errors import Conflict, StoreError, StoreUnavailable
from legato.store.sqlite import SqliteStore
from legato.store.sqlite.file import connect_file
from legato.store.testing.samples import say


class _Disk:
    """A connection to a real file through a disk that can fail at a chosen statement."""

    def __init__(self) -> None:
        self.fails_at = ""
        self.code = sqlite3.SQLITE_IOERR_WRITE

    def connect(self, path: Path, *, journal: str, patience: float) -> sqlite3.Connection:
        return cast(sqlite3.Connection, _Connection(connect_file(path, journal=journal, patience=patience), self))


class _Connection:
    def __init__(self, real: sqlite3.Connection, disk: _Disk) -> None:
        self._real = real
        self._disk = disk

    def execute(self, statement: str, *rest: Any) -> sqlite3.Cursor:
        self._fail(statement)
        return self._real.execute(statement, *rest)

    def executemany(self, statement: str, *rest: Any) -> sqlite3.Cursor:
        self._fail(statement)
        return self._real.executemany(statement, *rest)

    def _fail(self, statement: str) -> None:
        if self._disk.fails_at and statement.startswith(self._disk.fails_at):
            error = sqlite3.OperationalError("the disk is on fire")
            error.sqlite_errorcode = self._disk.code
            raise error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


FAULTS = [
    ("BEGIN IMMEDIATE", sqlite3.SQLITE_IOERR_READ, "disk failed"),
    ("SELECT number", sqlite3.SQLITE_IOERR_READ, "disk failed"),
    ("INSERT INTO records", sqlite3.SQLITE_FULL, "disk is full"),
    ("UPDATE sessions", sqlite3.SQLITE_IOERR_WRITE, "disk failed"),
    ("COMMIT", sqlite3.SQLITE_FULL, "disk is full"),
    ("COMMIT", sqlite3.SQLITE_IOERR_FSYNC, "disk failed"),
    ("COMMIT", sqlite3.SQLITE_BUSY, "locked"),
    ("BEGIN IMMEDIATE", sqlite3.SQLITE_READONLY, "cannot be written"),
]


@pytest.mark.parametrize(("statement", "code", "words"), FAULTS)
def test_after_a_failed_append_the_session_is_readable_and_goes_on_when_the_disk_recovers(
    tmp_path: Path, statement: str, code: int, words: str
) -> None:
    disk = _Disk()

    async def scenario() -> None:
        async with SqliteStore(tmp_path / "a.db", connect=disk.connect) as store:
            session = await store.create(records=[say("one")])
            lease = await store.open(session, holder="x")
            disk.fails_at, disk.code = statement, code
            for _ in range(2):
                with pytest.raises(StoreUnavailable) as caught:
                    await store.append(lease, 1, [say("two"), say("three")])
                assert words in caught.value.message
                assert str(tmp_path / "a.db") in caught.value.message
                assert await store.read(session) == [say("one")]
                assert list(await store.check()) == []
            disk.fails_at = ""
            assert await store.append(lease, 1, [say("two"), say("three")]) == 3
            assert await store.read(session) == [say("one"), say("two"), say("three")]

    anyio.run(scenario)


def test_a_real_full_database_takes_no_part_of_an_append(tmp_path: Path) -> None:
    limits = iter([200, 200, 30])  # pages: for the store, for its writer, and for the writer that follows a failure

    def small(path: Path, *, journal: str, patience: float) -> sqlite3.Connection:
        connection = connect_file(path, journal=journal, patience=patience)
        connection.execute(f"PRAGMA max_page_count = {next(limits, 100_000)}")
        return connection

    async def scenario() -> None:
        async with SqliteStore(tmp_path / "a.db", connect=small) as store:
            session = await store.create()
            lease = await store.open(session, holder="x")
            length = 0
            big = [say("x" * 5000), say("y" * 5000)]
            with pytest.raises(StoreUnavailable) as caught:
                while True:
                    length = await store.append(lease, length, big)
            assert "disk is full" in caught.value.message
            assert length > 10
            assert await store.read(session) == big * (length // 2)
            assert list(await store.check()) == []
            with pytest.raises(StoreUnavailable):
                await store.append(lease, length, big)
            assert await store.append(lease, length, big) == length + 2

    anyio.run(scenario)


def test_a_lease_that_could_not_be_stored_is_not_held(tmp_path: Path) -> None:
    disk = _Disk()

    async def scenario() -> None:
        async with SqliteStore(tmp_path / "a.db", connect=disk.connect) as store:
            session = await store.create()
            disk.fails_at = "COMMIT"
            with pytest.raises(StoreUnavailable):
                await store.open(session, holder="x")
            disk.fails_at = ""
            lease = await store.open(session, holder="y")
            assert lease.token == 1

    anyio.run(scenario)


def test_a_store_on_a_failing_disk_can_still_be_closed(tmp_path: Path) -> None:
    disk = _Disk()

    async def scenario() -> None:
        store = SqliteStore(tmp_path / "a.db", connect=disk.connect)
        session = await store.create()
        await store.open(session, holder="x")
        disk.fails_at = "COMMIT"
        await store.close()

    anyio.run(scenario)


def test_a_file_that_was_removed_is_not_made_anew_by_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> None:
        async with SqliteStore(path) as store:
            session = await store.create()
            path.unlink()
            with pytest.raises(StoreUnavailable):
                await store.read(session)
        assert not path.exists()

    anyio.run(scenario)


def test_what_sqlite_says_otherwise_is_passed_on(tmp_path: Path) -> None:
    disk = _Disk()

    async def scenario() -> None:
        async with SqliteStore(tmp_path / "a.db", connect=disk.connect) as store:
            disk.fails_at, disk.code = "INSERT INTO sessions", sqlite3.SQLITE_MISUSE
            with pytest.raises(StoreError) as caught:
                await store.create()
            assert type(caught.value) is StoreError
            assert "the disk is on fire" in caught.value.message

    anyio.run(scenario)


def test_a_store_closed_under_a_waiting_append_answers_it(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        store = SqliteStore(tmp_path / "a.db")
        session = await store.create()
        lease = await store.open(session, holder="x")
        outcomes: list[str] = []

        async def append() -> None:
            try:
                await store.append(lease, 0, [say("x")])
                outcomes.append("stored")
            except (StoreError, Conflict) as error:
                outcomes.append(type(error).__name__)

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(append)
            await anyio.lowlevel.checkpoint()
            await store.close()
        return outcomes

    outcomes = anyio.run(scenario)
    assert len(outcomes) == 20
    assert outcomes.count("stored") <= 1
