"""What is particular to PostgreSQL: the schema under concurrency, damage, faults, doubtful commits."""

import socket
from collections.abc import Callable
from typing import Any, cast

import anyio
import anyio.to_thread
import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg import errors as pg
from psycopg_pool import PoolTimeout

from legato.errors import Conflict, StoreCorrupt, StoreError, StoreUnavailable
from legato.model.records import Record
from legato.store.checksums import rows_of_records
from legato.store.postgres import PostgresStore, statements
from legato.store.postgres.errors import is_transient, name_place, refusal
from legato.store.postgres.schema import MIGRATIONS, Migration, migrate
from legato.store.summary import LogSummary
from legato.store.testing.samples import EVERY_RECORD, say
from store_places import postgres_url


def _sql(url: str, *lines: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.cursor()
        for line in lines:
            cursor.execute(line)  # pyright: ignore[reportArgumentType, reportCallIssue]
        return cursor.fetchall() if cursor.description else []


def test_many_processes_may_make_the_tables_at_once() -> None:
    url = postgres_url(fresh=True)

    async def scenario() -> None:
        stores = [PostgresStore(url) for _ in range(8)]
        async with anyio.create_task_group() as group:
            for store in stores:
                group.start_soon(store.create, "s" + str(id(store)))
        assert len(await stores[0].list()) == 8
        for store in stores:
            await store.close()

    anyio.run(scenario)
    assert _sql(url, "SELECT version FROM legato_schema") == [(len(MIGRATIONS),)]


def test_tables_of_a_newer_program_are_refused() -> None:
    url = postgres_url(fresh=True)
    _sql(url, "CREATE TABLE legato_schema (version integer)", "INSERT INTO legato_schema VALUES (99)")
    with pytest.raises(StoreError) as caught:
        anyio.run(PostgresStore(url).connect)
    assert caught.value.facts == {"version": 99, "known": len(MIGRATIONS)}
    assert "upgrade" in caught.value.message


def test_tables_of_version_one_are_migrated_with_all_they_hold_or_not_at_all() -> None:
    url = postgres_url(fresh=True)
    better: tuple[Migration, ...] = (
        *MIGRATIONS,
        ("ALTER TABLE legato_sessions ADD COLUMN colour text NOT NULL DEFAULT 'blue'",),
    )
    broken: tuple[Migration, ...] = (
        *better,
        ("ALTER TABLE legato_sessions ADD COLUMN size int", "ALTER TABLE nothing ADD COLUMN x int"),
    )

    async def scenario() -> str:
        store = PostgresStore(url)
        session = await store.create(records=EVERY_RECORD)
        await store.close()
        async with await AsyncConnection.connect(url, autocommit=True) as connection:
            await migrate(connection, "here", migrations=better)
            await migrate(connection, "here", migrations=better)
            with pytest.raises(psycopg.Error):
                await migrate(connection, "here", migrations=broken)
        return session

    session = anyio.run(scenario)
    assert _sql(url, "SELECT version FROM legato_schema") == [(len(better),)]
    assert _sql(url, "SELECT id, colour, length FROM legato_sessions") == [(session, "blue", len(EVERY_RECORD))]
    with pytest.raises(psycopg.errors.UndefinedColumn):
        _sql(url, "SELECT size FROM legato_sessions")


DAMAGE = {
    "changed": ("UPDATE legato_records SET data = set_byte(data, 3, 0) WHERE sequence = 2", 2, "checksum"),
    "removed": ("DELETE FROM legato_records WHERE sequence = 1", 1, "missing"),
    "cut off": ("DELETE FROM legato_records WHERE sequence >= 2", 2, "missing"),
    "moved": ("UPDATE legato_records SET sequence = sequence + 10 WHERE sequence = 3", 3, "missing"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_found_by_check_and_by_read_which_name_the_record(kind: str) -> None:
    url = postgres_url(fresh=True)
    statement, sequence, word = DAMAGE[kind]
    records = [say("zero"), say("one"), say("two"), say("three")]

    async def scenario() -> None:
        store = PostgresStore(url)
        session = await store.create(records=records)
        await anyio.to_thread.run_sync(_sql, url, statement)
        with pytest.raises(StoreCorrupt) as caught:
            await store.read(session)
        assert caught.value.facts == {"session": session, "sequence": sequence}
        for problems in (await store.check(session), await store.check()):
            assert (problems[0].session, problems[0].sequence) == (session, sequence)
            assert word in problems[0].message
        saved = await store.fork(session, at=sequence)
        assert await store.read(saved) == records[:sequence]
        await store.close()

    anyio.run(scenario)


class _Cut(psycopg.OperationalError):
    """What psycopg says when the server closes the connection unexpectedly: no state, nobody knows."""


class _LosesAcknowledgements(PostgresStore):
    """Each write is committed, or not; then the connection breaks, the first time."""

    def __init__(self, url: str, *, committed: bool) -> None:
        super().__init__(url)
        self._committed = committed

    async def _write(self, work: Callable[[AsyncConnection, bool], Any]) -> Any:
        attempts = 0

        async def cut(connection: AsyncConnection, again: bool) -> Any:
            nonlocal attempts
            attempts += 1
            if attempts > 1:
                assert again
                return await work(connection, again)
            if self._committed:
                await super(_LosesAcknowledgements, self)._write(work)
            raise _Cut("server closed the connection unexpectedly")

        return await super()._write(cut)


@pytest.mark.parametrize("committed", [True, False])
def test_a_write_whose_acknowledgement_was_lost_is_done_once(committed: bool) -> None:
    url = postgres_url(fresh=True)

    async def scenario() -> None:
        store = _LosesAcknowledgements(url, committed=committed)
        session = await store.create("own", records=[say("zero")], meta={"a": 1})
        lease = await store.open(session, holder="x")
        assert lease.token == 1
        news: list[Record] = [say("one"), say("two")]
        assert await store.append(lease, 1, news) == 3
        assert await store.append(lease, 3, news) == 5
        assert await store.read(session) == [say("zero"), *news, *news]
        await store.annotate(session, {"b": 2})
        assert (await store.describe(session)).meta == {"a": 1, "b": 2}
        await store.release(lease)
        await store.delete(session)
        assert await store.list() == []
        await store.close()

    anyio.run(scenario)


def test_what_somebody_else_wrote_is_not_taken_for_a_lost_acknowledgement() -> None:
    url = postgres_url(fresh=True)

    async def scenario() -> None:
        store = PostgresStore(url)
        session = await store.create("own", records=[say("theirs")])
        lease = await store.open(session, holder="x")
        await store.append(lease, 1, [say("theirs")])

        async def again(work: Callable[[AsyncConnection, bool], Any]) -> None:
            async with await AsyncConnection.connect(url, autocommit=True) as connection, connection.transaction():
                await work(connection, True)

        with pytest.raises(Conflict):
            await again(
                lambda connection, again: statements.append_rows(
                    connection,
                    lease,
                    1,
                    rows=rows_of_records([say("ours")], 1),
                    summary=LogSummary(),
                    term=1,
                    where="here",
                    again=True,
                )
            )
        from legato.store.new_session import prepare_session

        for records in ([say("ours")], [say("ours"), say("ours")]):
            new = prepare_session("own", None, records=records, parent=None)
            with pytest.raises(Conflict):
                await again(lambda connection, again, new=new: statements.insert_session(connection, new, again=True))
        assert await store.read(session) == [say("theirs"), say("theirs")]
        await store.close()

    anyio.run(scenario)


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        port = taken.getsockname()[1]
        with pytest.raises(StoreUnavailable) as caught:
            anyio.run(PostgresStore(f"postgresql://ada:secret@127.0.0.1:{port}/engine").connect)
    assert "engine on 127.0.0.1" in caught.value.message
    assert "secret" not in caught.value.message


def test_a_commit_waits_for_the_disk_even_where_the_server_says_otherwise() -> None:
    url = postgres_url(fresh=True)
    database = url.partition("?")[0].rpartition("/")[2]
    _sql(url, f"ALTER DATABASE {database} SET synchronous_commit = off")

    async def setting(connection: AsyncConnection, again: bool) -> str:
        cursor = await connection.execute("SHOW synchronous_commit")
        return cast(tuple[str], await cursor.fetchone())[0]

    async def scenario() -> str:
        store = PostgresStore(url)
        try:
            return await store._write(setting)
        finally:
            await store.close()

    assert _sql(url, "SHOW synchronous_commit") == [("off",)]
    assert anyio.run(scenario) == "on"


def test_a_closed_store_says_so() -> None:
    store = PostgresStore(postgres_url())

    async def scenario() -> None:
        await store.list()
        await store.close()
        await store.list()

    with pytest.raises(StoreError) as caught:
        anyio.run(scenario)
    assert "is closed" in caught.value.message


def test_only_what_may_pass_by_itself_is_tried_again() -> None:
    passing = [
        PoolTimeout("x"),
        psycopg.InterfaceError("the connection is closed"),
        psycopg.OperationalError("server closed the connection unexpectedly"),
        pg.AdminShutdown("x"),
        pg.CrashShutdown("x"),
        pg.CannotConnectNow("x"),
        pg.ConnectionFailure("x"),
        pg.SerializationFailure("x"),
        pg.DeadlockDetected("x"),
        pg.TooManyConnections("x"),
    ]
    lasting = [pg.DiskFull("x"), pg.DataCorrupted("x"), pg.InsufficientPrivilege("x"), pg.QueryCanceled("x")]
    assert [is_transient(error) for error in (*passing, *lasting)] == [True] * len(passing) + [False] * len(lasting)


def test_each_failure_becomes_an_error_that_says_who_can_act() -> None:
    found = {
        type(error).__name__: type(refusal(error, "there")).__name__
        for error in (
            pg.DiskFull("no space"),
            pg.DataCorrupted("bad page"),
            pg.InsufficientPrivilege("not yours"),
            psycopg.OperationalError("gone"),
            PoolTimeout("none"),
        )
    }
    assert found == {
        "DiskFull": "StoreUnavailable",
        "DataCorrupted": "StoreCorrupt",
        "InsufficientPrivilege": "StoreError",
        "OperationalError": "StoreUnavailable",
        "PoolTimeout": "StoreUnavailable",
    }


def test_a_place_is_named_by_its_host_and_database() -> None:
    assert [name_place(url) for url in ("postgresql://ada:pw@db.example:5433/engine", "postgresql://")] == [
        "the PostgreSQL database engine on db.example",
        "the PostgreSQL database of the user on the default host",
    ]
