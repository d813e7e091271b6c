"""Leases in the course of time: kept alive, given up, taken over, fenced off."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import anyio
import anyio.to_thread
import psycopg
import pytest

from legato.errors import Conflict, SessionLocked
from legato.store.contract import Store
from legato.store.postgres import PostgresStore
from legato.store.sqlite import SqliteStore
from legato.store.sqlite.file import connect_file
from legato.store.testing.samples import say
from store_places import postgres_url


class _Place:
    """A database that a test can look into behind the store's back."""

    def __init__(self, backend: str, folder: Path) -> None:
        self.table = "legato_sessions" if backend == "postgres" else "sessions"
        self.is_postgres = backend == "postgres"
        self.path = folder / "a.db"
        self.url = postgres_url() if self.is_postgres else ""

    def store(self, lease_seconds: float = 3600.0) -> Store:
        if self.is_postgres:
            return PostgresStore(self.url, lease_seconds=lease_seconds)
        return SqliteStore(self.path, lease_seconds=lease_seconds)

    async def sql(self, statement: str) -> list[tuple[object, ...]]:
        return await anyio.to_thread.run_sync(self._sql, statement)

    def _sql(self, statement: str) -> list[tuple[object, ...]]:
        statement = statement.replace("SESSIONS", self.table)
        if self.is_postgres:
            with psycopg.connect(self.url, autocommit=True) as connection:
                cursor = connection.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue]
                return cursor.fetchall() if cursor.description else []
        with closing(sqlite3.connect(self.path, isolation_level=None, timeout=60)) as connection:
            return connection.execute(statement).fetchall()

    @property
    def past(self) -> str:
        return "clock_timestamp() - interval '1 second'" if self.is_postgres else "1.0"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> _Place:
    return _Place(request.param, tmp_path)


def test_an_idle_writer_keeps_its_lease_alive(place: _Place) -> None:
    async def scenario() -> None:
        store = place.store(lease_seconds=0.4)
        session = await store.create()
        await store.open(session, holder="x")
        (first,) = await place.sql(f"SELECT expires FROM SESSIONS WHERE id = '{session}'")
        later = first
        with anyio.fail_after(60):
            while later == first:
                await anyio.sleep(0.05)
                (later,) = await place.sql(f"SELECT expires FROM SESSIONS WHERE id = '{session}'")
        await store.close()
        assert await place.sql(f"SELECT claim FROM SESSIONS WHERE id = '{session}'") == [(None,)]

    anyio.run(scenario)


def test_a_writer_on_another_host_is_respected_until_its_lease_expires(place: _Place) -> None:
    async def scenario() -> None:
        there, here = place.store(), place.store()
        session = await there.create()
        lost = await there.open(session, holder="far away")
        await there.append(lost, 0, [say("from afar")])
        await place.sql(f"UPDATE SESSIONS SET host = 'elsewhere', pid = 1, started = '' WHERE id = '{session}'")
        with pytest.raises(SessionLocked) as caught:
            await here.open(session, holder="here")
        assert caught.value.facts == {"session": session, "holder": "far away", "pid": 1, "host": "elsewhere"}
        with pytest.raises(SessionLocked):
            await here.delete(session)

        await place.sql(f"UPDATE SESSIONS SET expires = {place.past} WHERE id = '{session}'")
        won = await here.open(session, holder="here")
        assert (won.token, await here.append(won, 1, [say("from here")])) == (lost.token + 1, 2)

        # The one who was given up comes back, and knows the right sequence number.
        with pytest.raises(Conflict) as conflict:
            await there.append(lost, 2, [say("late")])
        assert "here has taken it over" in conflict.value.message
        await there.close()
        await here.append(won, 2, [say("still mine")])
        assert await here.read(session) == [say("from afar"), say("from here"), say("still mine")]
        await here.close()

    anyio.run(scenario)


def test_a_writer_whose_process_died_is_replaced_at_once(place: _Place) -> None:
    async def scenario() -> None:
        store = place.store()
        session = await store.create()
        await store.open(session, holder="the dead")
        await place.sql(f"UPDATE SESSIONS SET pid = {2**22 + 1} WHERE id = '{session}'")  # beyond any process number
        lease = await store.open(session, holder="the living")
        assert lease.token == 2
        await store.close()

    anyio.run(scenario)


def test_an_expired_lease_that_nobody_took_still_serves(place: _Place) -> None:
    async def scenario() -> None:
        store = place.store()
        session = await store.create()
        lease = await store.open(session, holder="was asleep")
        await place.sql(f"UPDATE SESSIONS SET expires = {place.past} WHERE id = '{session}'")
        assert await store.append(lease, 0, [say("good morning")]) == 1
        await store.close()

    anyio.run(scenario)


def test_a_store_without_leases_leaves_the_disk_alone(tmp_path: Path) -> None:
    statements: list[str] = []
    renewed = threading.Event()

    def note(statement: str) -> None:
        statements.append(statement)
        if statement.startswith("UPDATE sessions SET expires"):
            renewed.set()

    def tracing(path: Path, *, journal: str, patience: float) -> sqlite3.Connection:
        connection = connect_file(path, journal=journal, patience=patience)
        connection.set_trace_callback(note)
        return connection

    async def scenario() -> list[str]:
        async with SqliteStore(tmp_path / "a.db", lease_seconds=0.02, connect=tracing) as store:
            session = await store.create()
            lease = await store.open(session, holder="x")
            with anyio.fail_after(60):
                await anyio.to_thread.run_sync(renewed.wait)
            await store.release(lease)
            statements.clear()
            await anyio.sleep(0.1)
            return list(statements)

    assert anyio.run(scenario) == []
