"""The SQLite file: journal mode, schema versions, damage, backups."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from legato.errors import CallerError, CodecError, StoreCorrupt, StoreError, StoreUnavailable
from legato.store.contract import Problem
from legato.store.sqlite import SqliteStore
from legato.store.sqlite.file import connect_file, safe_journal
from legato.store.sqlite.schema import APPLICATION_ID, MIGRATIONS, SESSIONS, SPAN, migrate
from legato.store.testing.samples import EVERY_RECORD, say

FIXED = [(3, 51, 3), (3, 51, 9), (3, 53, 0), (3, 54, 2), (4, 0, 0)]
UNFIXED = [(3, 31, 0), (3, 40, 1), (3, 51, 0), (3, 51, 2), (3, 52, 0), (3, 52, 9)]


def test_a_write_ahead_log_is_used_only_where_several_writers_cannot_corrupt_it() -> None:
    assert [safe_journal(version) for version in (*FIXED, *UNFIXED)] == ["wal"] * len(FIXED) + ["delete"] * len(UNFIXED)


@pytest.mark.parametrize(
    ("journal", "survives", "synchronous"),
    [("delete", True, 3), ("wal", True, 2), ("delete", False, 2), ("wal", False, 1)],
)
def test_a_commit_is_on_the_disk_before_it_returns(
    tmp_path: Path, journal: str, survives: bool, synchronous: int
) -> None:
    schema = replace(SESSIONS, survives_power_cuts=survives)
    with closing(connect_file(tmp_path / "a.db", journal=journal, patience=1, schema=schema)) as connection:
        found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert found == [journal, synchronous]


def test_a_file_left_with_a_write_ahead_log_is_turned_back_for_an_older_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> tuple[object, object]:
        async with SqliteStore(path, sqlite_version=(3, 53, 0)) as store:
            session = await store.create(records=EVERY_RECORD)
        async with SqliteStore(path, sqlite_version=(3, 40, 1)) as store:
            found = await store.read(session)
        with closing(sqlite3.connect(path)) as connection:
            return tuple(found), connection.execute("PRAGMA journal_mode").fetchone()

    assert anyio.run(scenario) == (EVERY_RECORD, ("delete",))


def test_a_file_in_use_with_a_write_ahead_log_is_not_written_by_an_older_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> None:
        async with SqliteStore(path, sqlite_version=(3, 53, 0)) as store:
            await store.create()
            await SqliteStore(path, sqlite_version=(3, 40, 1), patience=0.05).connect()

    with pytest.raises(StoreUnavailable) as caught:
        anyio.run(scenario)
    assert "locked" in caught.value.message


def _sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_file_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def make() -> None:
        async with SqliteStore(path) as store:
            await store.create(records=EVERY_RECORD)

    anyio.run(make)
    _sql(path, "PRAGMA user_version = 99", "CREATE TABLE teleports (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        anyio.run(SqliteStore(path).list)
    assert caught.value.facts == {"path": str(path), "version": 99, "known": len(MIGRATIONS)}
    assert "99" in caught.value.message
    assert "upgrade" in caught.value.message
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    _sql(path, "CREATE TABLE notes (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        anyio.run(SqliteStore(path).list)
    assert "another program" in caught.value.message
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_corrupt_and_check_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"Dear diary, " * 500)
    with pytest.raises(StoreCorrupt):
        anyio.run(SqliteStore(path).list)
    (problem,) = anyio.run(SqliteStore(path).check)
    assert str(path) in problem.message


def _version_and_columns(path: Path) -> tuple[int, int, list[str]]:
    with closing(sqlite3.connect(path)) as connection:
        version, application = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
        )
        columns = [row[1] for row in connection.execute("PRAGMA table_info(sessions)")]
        return version, application, columns


def test_a_file_of_version_one_is_migrated_with_all_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def make() -> str:
        async with SqliteStore(path) as store:
            return await store.create(records=EVERY_RECORD)

    session = anyio.run(make)
    later = replace(
        SESSIONS, migrations=(*MIGRATIONS, ("ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'",))
    )
    with closing(connect_file(path, journal="delete", patience=1)) as connection:
        migrate(connection, path, later)
        migrate(connection, path, later)
        assert connection.execute("SELECT id, colour, length FROM sessions").fetchall() == [
            (session, "blue", len(EVERY_RECORD))
        ]
    assert _version_and_columns(path)[:2] == (len(later.migrations), APPLICATION_ID)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(connect_file(path, journal="delete", patience=1)) as connection:
        migrate(connection, path)
        before = _version_and_columns(path)
        broken = replace(
            SESSIONS,
            migrations=(
                *MIGRATIONS,
                ("ALTER TABLE sessions ADD COLUMN colour TEXT", "ALTER TABLE nothing ADD COLUMN x"),
            ),
        )
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, path, broken)
        assert not connection.in_transaction
    assert _version_and_columns(path) == before


def _flip(place: int) -> tuple[str, ...]:
    return (f"UPDATE records SET data = CAST(replace(data, 'two', 'twO') AS BLOB) WHERE place = {SPAN} + {place}",)


DAMAGE: dict[str, tuple[tuple[str, ...], int, str]] = {
    "changed": (_flip(2), 2, "checksum"),
    "emptied": ((f"UPDATE records SET data = x'' WHERE place = {SPAN} + 1",), 1, "checksum"),
    "another type": ((f"UPDATE records SET data = 5, seal = 'x' WHERE place = {SPAN} + 1",), 1, "checksum"),
    "no letters": ((f"UPDATE records SET data = CAST(x'ff00ff' AS TEXT) WHERE place = {SPAN} + 3",), 3, "checksum"),
    "removed": ((f"DELETE FROM records WHERE place = {SPAN} + 1",), 1, "missing"),
    "cut off": ((f"DELETE FROM records WHERE place IN ({SPAN} + 2, {SPAN} + 3)",), 2, "missing"),
    "moved": (
        (
            f"UPDATE records SET place = {SPAN} + 9 WHERE place = {SPAN} + 0",
            f"UPDATE records SET place = {SPAN} + 0 WHERE place = {SPAN} + 1",
            f"UPDATE records SET place = {SPAN} + 1 WHERE place = {SPAN} + 9",
        ),
        0,
        "checksum",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_found_by_check_and_by_read_which_name_the_record(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.db"
    statements, sequence, word = DAMAGE[kind]
    records = [say("zero"), say("one"), say("two"), say("three")]

    async def scenario() -> None:
        async with SqliteStore(path) as store:
            session = await store.create(records=records)
            healthy = await store.create(records=records)
            _sql(path, *statements)
            with pytest.raises(StoreCorrupt) as caught:
                await store.read(session)
            assert caught.value.facts == {"session": session, "sequence": sequence}
            assert session in caught.value.message
            assert word in caught.value.message
            (first, *_) = await store.check(session)
            assert (first.session, first.sequence) == (session, sequence)
            assert word in first.message
            assert {problem.session for problem in await store.check()} == {session}
            assert list(await store.check(healthy)) == []
            assert await store.read(healthy) == records
            # What came before the damage can be saved.
            saved = await store.fork(session, at=sequence)
            assert await store.read(saved) == records[:sequence]

    anyio.run(scenario)


def test_records_of_no_session_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> object:
        async with SqliteStore(path) as store:
            await store.create(records=[say("one")])
            _sql(path, "DELETE FROM sessions")
            return await store.check()

    assert list(anyio.run(scenario)) == [Problem("1 records belong to no session")]  # pyright: ignore[reportArgumentType]


def test_a_damaged_page_is_found_and_the_sessions_beside_it_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    records = [say(f"record {number} " * 20) for number in range(400)]

    async def scenario() -> None:
        async with SqliteStore(path) as store:
            session, healthy = await store.create(records=records), await store.create(records=records)
        data = bytearray(path.read_bytes())
        page = data.index(b"record 200 ") // 4096 * 4096  # one that holds records of the first session only
        data[page : page + 200] = b"\xa5" * 200
        path.write_bytes(data)
        async with SqliteStore(path) as store:
            with pytest.raises(StoreCorrupt):
                await store.read(session)
            assert await store.read(healthy) == records
            assert {problem.session for problem in await store.check()} == {None, session}
            assert {problem.session for problem in await store.check(session)} == {session}
            assert list(await store.check(healthy)) == []

    anyio.run(scenario)


def test_a_file_that_contradicts_itself_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> None:
        async with SqliteStore(path) as store:
            await store.create(records=EVERY_RECORD)
        data = bytearray(path.read_bytes())
        data[36:40] = (7).to_bytes(4)  # the header: so many pages are free
        path.write_bytes(data)
        async with SqliteStore(path) as store:
            (problem, *_) = await store.check()
            assert problem.message.startswith("the database file is damaged: ")

    anyio.run(scenario)


def test_a_record_that_only_a_newer_program_knows_is_named(tmp_path: Path) -> None:
    from zlib import crc32

    path = tmp_path / "a.db"
    unknown = b'{"record":"teleported"}'

    async def scenario() -> str:
        async with SqliteStore(path) as store:
            session = await store.create(records=[say("one"), say("two")])
            _sql(
                path,
                f"UPDATE records SET data = x'{unknown.hex()}', seal = {crc32(unknown, 1)} WHERE place = {SPAN} + 1",
            )
            with pytest.raises(CodecError) as caught:
                await store.read(session)
            assert caught.value.facts == {"session": session, "sequence": 1}
            assert await store.read(session, stop=1) == [say("one")]
            return caught.value.message

    assert "newer version" in anyio.run(scenario)


def test_a_deleted_session_leaves_no_bytes_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    async def scenario() -> None:
        async with SqliteStore(path) as store:
            session = await store.create(records=[say("the secret word is xylophone " * 300)], meta={"a": "marimba"})
            assert b"xylophone" in path.read_bytes()
            await store.delete(session)

    anyio.run(scenario)
    assert b"xylophone" not in path.read_bytes()
    assert b"marimba" not in path.read_bytes()


@pytest.mark.parametrize("version", [(3, 40, 1), (3, 53, 0)])
def test_a_backup_is_a_store_of_its_own(tmp_path: Path, version: tuple[int, ...]) -> None:
    copy = tmp_path / "copies" / "b.db"

    async def scenario() -> None:
        async with SqliteStore(tmp_path / "a.db", sqlite_version=version) as store:
            session = await store.create(records=EVERY_RECORD)
            lease = await store.open(session, holder="goes on writing")
            await store.backup(copy)
            await store.append(lease, len(EVERY_RECORD), [say("later")])
        async with SqliteStore(copy) as saved:
            assert await saved.read(session) == list(EVERY_RECORD)
            assert list(await saved.check()) == []

    anyio.run(scenario)
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_backup_never_overwrites_and_never_stays_half(tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"mine")

    async def scenario() -> None:
        async with SqliteStore(tmp_path / "a.db") as store:
            await store.create(records=EVERY_RECORD)
            with pytest.raises(CallerError):
                await store.backup(tmp_path / "taken")
            with pytest.raises(StoreUnavailable):
                await store.backup(tmp_path / "taken" / "b.db")

    anyio.run(scenario)
    assert (tmp_path / "taken").read_bytes() == b"mine"


def _steps_of_an_append(path: Path, length: int) -> int:
    """How many instructions SQLite executes to append one record to a log of `length`."""
    count = 0

    def counting(path: Path, *, journal: str, patience: float) -> sqlite3.Connection:
        connection = connect_file(path, journal=journal, patience=patience)

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        connection.set_progress_handler(step, 1)
        return connection

    async def scenario() -> int:
        nonlocal count
        connect: Callable[..., sqlite3.Connection] = counting
        async with SqliteStore(path, connect=connect) as store:
            session = await store.create(records=[say("x")] * length)
            lease = await store.open(session, holder="x")
            await store.append(lease, length, [say("x")])
            count = 0
            await store.append(lease, length + 1, [say("x")])
            return count

    return anyio.run(scenario)


def test_an_append_takes_the_same_steps_however_long_the_log_is(tmp_path: Path) -> None:
    short = _steps_of_an_append(tmp_path / "short.db", 10)
    assert short == _steps_of_an_append(tmp_path / "long.db", 20_000)
    assert short > 0
