"""Which store an address names."""

import os
import socket
import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from legato.errors import CallerError, ConfigError, StoreCorrupt, StoreError, StoreUnavailable
from legato.store import Store, default_path, open_store
from legato.store.memory import MemoryStore
from legato.store.postgres import PostgresStore
from legato.store.sqlite import SqliteStore


def _path_of(store: Store) -> Path:
    assert isinstance(store, SqliteStore)
    return store.path


def test_a_path_or_a_sqlite_url_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [
        _path_of(open_store(place))
        for place in ("a.db", Path("a.db"), "sqlite:///a.db", "sqlite:////b/c%20d.db", "~/a.db", "/odd:name?.db")
    ] == [
        tmp_path / "a.db",
        tmp_path / "a.db",
        tmp_path / "a.db",
        Path("/b/c d.db"),
        Path.home() / "a.db",
        Path("/odd:name?.db"),
    ]


def test_nothing_names_the_file_in_the_data_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == _path_of(open_store()) == _path_of(open_store(None))
    assert default_path().name == "sessions.db"
    assert default_path().parent.name == "legato"


def test_memory_and_postgresql_have_addresses() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)
    assert isinstance(open_store("postgresql://ada@db.example/legato"), PostgresStore)
    assert isinstance(open_store("postgres://ada@db.example/legato"), PostgresStore)


@pytest.mark.parametrize("place", ["mysql://host/db", "sqlite://", "sqlite:///", "sqlite://file.db"])
def test_an_address_that_names_nothing_is_refused(place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_store(place)
    assert place.partition("://")[0] in caught.value.message


def test_a_malformed_postgresql_url_is_refused_without_its_password() -> None:
    with pytest.raises(ConfigError) as caught:
        open_store("postgresql://ada:secret@host/db?nonsense=1")
    assert "secret" not in str(caught.value)


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("legato.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError) as caught:
        open_store("postgresql://ada@db.example/legato")
    assert "legato[postgres]" in caught.value.message


def test_a_store_does_nothing_before_it_is_used(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "new" / "a.db")
        await store.close()

    anyio.run(scenario)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        said: list[str] = []
        store = open_store(tmp_path / "a.db")
        async with store:
            session = await store.create()
        for attempt in (store.create, lambda: store.read(session), store.list):
            with pytest.raises(StoreError) as caught:
                await attempt()
            said.append(caught.value.message)
        return said

    assert all("is closed" in message for message in anyio.run(scenario))


@pytest.fixture
def open_umask() -> object:
    before = os.umask(0)
    yield before
    os.umask(before)


def _modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("version", [(3, 40, 1), (3, 53, 0)])
def test_the_file_its_journals_and_its_folder_are_the_owners_alone(tmp_path: Path, version: tuple[int, ...]) -> None:
    folder = tmp_path / "deep" / "place"
    seen: dict[str, int] = {}

    async def scenario() -> None:
        async with SqliteStore(folder / "a.db", sqlite_version=version) as store:
            session = await store.create()
            await store.open(session, holder="x")
            seen.update(_modes(folder))

    anyio.run(scenario)
    wal = {"a.db-wal": 0o600, "a.db-shm": 0o600} if version == (3, 53, 0) else {}
    assert seen == {"place": 0o700, "a.db": 0o600, "a.db-reserve": 0o600, **wal}


def test_a_file_that_others_may_read_is_closed_to_them_and_a_folder_of_somebodys_choice_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "a.db").touch(0o644)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    default_path().parent.mkdir(mode=0o755)

    async def scenario(path: Path | None) -> None:
        async with SqliteStore(path):
            pass

    anyio.run(scenario, tmp_path / "a.db")
    anyio.run(scenario, None)
    assert _modes(tmp_path) == {
        tmp_path.name: 0o755,
        "a.db": 0o600,
        "legato": 0o700,
    }


def test_a_place_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "a.db"
    with pytest.raises(StoreUnavailable) as caught:
        anyio.run(open_store(path).connect)
    assert caught.value.message == (
        f"the sessions in {path} cannot be reached: Not a directory; look at the path and its permissions"
    )


# --- what is not ours ---


def _stand(kind: str, path: Path) -> None:
    """Let something of that kind stand at `path`."""
    match kind:
        case "a folder":
            path.mkdir(mode=0o755)
        case "a pipe":
            os.mkfifo(path, 0o666)
        case "a socket":
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(os.path.relpath(path))  # the path of a socket may have about a hundred characters
        case "a device":
            path.symlink_to("/dev/null")
        case _:
            path.symlink_to("nowhere")


@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a socket", "a device", "a link to"])
@pytest.mark.usefixtures("open_umask")
def test_what_is_no_file_is_refused_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.db"
    _stand(kind, path)
    is_there = path.exists()
    before = path.stat() if is_there else None
    narrowed: list[Path] = []
    monkeypatch.setattr(Path, "chmod", lambda self, mode: narrowed.append(self))  # a device of this machine is at stake
    store = open_store(path)
    for attempt in (store.connect, store.list, store.create):
        with pytest.raises(StoreError) as caught:
            anyio.run(attempt)
        assert caught.value.message.startswith(f"{path} is {kind}")
        assert "name a file for sessions (the setting `store`, LEGATO_STORE), or `memory:`" in caught.value.message
    assert narrowed == []
    assert (path.stat() if is_there else None) == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.db"]


def _sqlite(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


FOREIGN: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("Dear diary,\n" * 500),
    "a letter": lambda path: path.write_text("x"),
    "settings": lambda path: path.write_text('model = "a/b"\n'),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "a database": lambda path: _sqlite(path, "CREATE TABLE notes (x)"),
    "a database with a log": lambda path: _sqlite(path, "PRAGMA journal_mode = wal", "CREATE TABLE notes (x)"),
    "a database with our tables": lambda path: _sqlite(path, "CREATE TABLE sessions (x)", "CREATE TABLE records (x)"),
    "a version": lambda path: _sqlite(path, "PRAGMA user_version = 1"),
    "an application": lambda path: _sqlite(path, "PRAGMA application_id = 1"),
}


@pytest.mark.parametrize("what", FOREIGN)
@pytest.mark.parametrize("version", [(3, 40, 1), (3, 53, 0)])
def test_a_file_of_another_program_keeps_its_bytes_and_its_mode(
    tmp_path: Path, what: str, version: tuple[int, ...]
) -> None:
    path = tmp_path / "a.db"
    FOREIGN[what](path)
    path.chmod(0o644)
    before = path.read_bytes()
    store = SqliteStore(path, sqlite_version=version)
    for attempt in (store.connect, store.list, store.create):
        with pytest.raises(StoreError) as caught:
            anyio.run(attempt)
        assert str(path) in caught.value.message
        assert "name another file for sessions" in caught.value.message
        assert "nothing in it was changed" in caught.value.message
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (before, 0o644)
    assert [one.name for one in tmp_path.iterdir()] == ["a.db"]


def test_a_link_to_a_file_of_ours_is_followed(tmp_path: Path) -> None:
    async def scenario(path: Path, session: str) -> list[str]:
        async with SqliteStore(path) as store:
            await store.create(session)
            return sorted(summary.id for summary in await store.list())

    real, link = tmp_path / "real.db", tmp_path / "link.db"
    anyio.run(scenario, real, "one")
    real.chmod(0o644)
    link.symlink_to(real)
    assert anyio.run(scenario, link, "two") == ["one", "two"]
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_a_database_of_ours_without_its_tables_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    anyio.run(SqliteStore(path).create)
    _sqlite(path, "DROP TABLE records")
    with pytest.raises(StoreCorrupt, match="has lost its tables; restore it from a backup"):
        anyio.run(SqliteStore(path).list)


def test_a_backup_takes_the_place_of_nothing(tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to("nowhere")

    async def scenario() -> None:
        async with SqliteStore(tmp_path / "a.db") as store:
            for place in (link, Path("/dev/null")):
                with pytest.raises(CallerError, match="exists already"):
                    await store.backup(place)

    anyio.run(scenario)
    assert link.is_symlink()
