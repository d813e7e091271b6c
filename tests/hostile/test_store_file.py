"""A store that is none, one that somebody wrote into, and one whose log was cut: nothing false, and nothing of others.

What no checksum covers is damaged, and says so without hiding the rest.
"""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import StoreCorrupt, StoreError
from legato.store.sqlite import SqliteStore
from legato.store.testing.samples import say
from program import Home


async def made(path: Path) -> list[str]:
    async with SqliteStore(path) as store:
        return [await store.create(records=[say("a"), say("b")]) for _ in range(3)]


def damage(path: Path, change: str, session: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE sessions SET {change} WHERE id = ?", (session,))
    connection.close()


@pytest.mark.parametrize("change", ["meta = '{bad'", "meta = x'ff'", "meta = '[]'", "meta = 5"])
def test_damaged_metadata_of_one_session_hides_no_other(tmp_path: Path, change: str) -> None:
    async def scenario() -> None:
        path = tmp_path / "s.db"
        sessions = await made(path)
        damage(path, change, sessions[1])
        async with SqliteStore(path) as store:
            assert {one.id for one in await store.list()} == set(sessions)
            assert len(await store.read(sessions[1])) == 2
            with pytest.raises(StoreCorrupt, match="metadata"):
                await store.annotate(sessions[1], {"title": "x"})

    anyio.run(scenario)


@pytest.mark.parametrize("change", ["length = 1", "length = 9", "length = -1", "length = 'abc'", "length = x'00'"])
def test_a_length_that_is_not_that_of_the_log_is_damage(tmp_path: Path, change: str) -> None:
    async def scenario() -> None:
        path = tmp_path / "s.db"
        sessions = await made(path)
        damage(path, change, sessions[1])
        async with SqliteStore(path) as store:
            with pytest.raises(StoreCorrupt):
                await store.read(sessions[1])
            assert len(await store.read(sessions[0])) == 2
            assert {problem.session for problem in await store.check()} == {sessions[1]}
            lease = await store.open(sessions[1], holder="a test")
            with pytest.raises(StoreError):
                await store.append(lease, 2, [say("c")])

    anyio.run(scenario)


# --- what is no store ---


def notes(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (x)")


def service(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # the path of a socket may have about a hundred characters


NO_STORES = {
    "a device": lambda path: path.symlink_to("/dev/null"),
    "a full device": lambda path: path.symlink_to("/dev/full"),
    "a pipe": os.mkfifo,
    "a socket": service,
    "a folder": Path.mkdir,
    "a link to nowhere": lambda path: path.symlink_to("gone"),
    "a text": lambda path: path.write_text("Dear diary,\n" * 500),
    "another database": notes,
}
COMMANDS = [
    ("--simulate", "-p", "hello"),
    ("sessions", "list"),
    ("sessions", "check"),
    ("export", "latest"),
    ("doctor",),
]


@pytest.mark.parametrize("named", [True, False], ids=["by the environment", "by the settings"])
@pytest.mark.parametrize("what", NO_STORES)
def test_what_is_no_store_of_ours_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, named: bool
) -> None:
    home = Home(tmp_path, monkeypatch)
    path = home.work / "a.db"
    NO_STORES[what](path)
    if named:
        monkeypatch.setenv("LEGATO_STORE", str(path))
    else:
        home.configure(f"store = '{path}'\n")
    narrowed: list[object] = []  # devices of this machine are at stake, and root may do anything
    for owner, name in ((os, "chmod"), (os, "fchmod"), (Path, "chmod")):
        monkeypatch.setattr(owner, name, lambda place, *_, **__: narrowed.append(place))
    before = state_of(path)
    for command in COMMANDS:
        result = home.legato(*command)
        assert result.exit_code != 0 or command == ("doctor",), result.output
        assert str(path) in result.output.replace("\n", "")
        assert "unexpected" not in result.stderr
        assert "Traceback" not in result.output
    assert state_of(path) == before
    assert [one for one in narrowed if os.path.realpath(str(one)) == os.path.realpath(path)] == []
    assert [one.name for one in home.work.iterdir()] == ["a.db"]


def state_of(path: Path) -> tuple[object, ...]:
    """What is there, without its times."""
    content = path.read_bytes() if path.is_file() else b""
    there = path.stat() if path.exists() else path.lstat()
    return there.st_mode, there.st_ino, there.st_rdev, there.st_uid, content


# --- a log that was cut ---

WITH_A_LOG = (3, 53, 0)
"""a version of SQLite with which several processes may write ahead; one process may with any"""
SAID = [f"record {number}" for number in range(40)]
WRITER = f"""
import os, sys
import anyio
from legato.store.sqlite import SqliteStore
from legato.store.testing.samples import say

async def main():
    async with SqliteStore(sys.argv[1], sqlite_version={WITH_A_LOG}) as store:
        session = await store.create(records=[say({SAID[0]!r})])
        lease = await store.open(session, holder="a test")
        for number, text in enumerate({SAID[1:]!r}, start=1):
            await store.append(lease, number, [say(text)])
        print(session, flush=True)
        os._exit(0)

anyio.run(main)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store beside its log, as a process that died leaves them, and the session in it."""
    path = tmp_path_factory.mktemp("whole") / "s.db"
    done = subprocess.run([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True, check=True)
    return path, done.stdout.strip()


@given(share=st.floats(0, 1, exclude_max=True), is_cut=st.booleans())
def test_a_log_that_was_cut_or_damaged_leaves_the_records_before_and_nothing_false(
    written: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory, share: float, is_cut: bool
) -> None:
    whole, session = written
    log = Path(f"{whole}-wal").read_bytes()
    at = int(len(log) * share)
    left = log[:at] if is_cut else log[:at] + bytes([log[at] ^ 1]) + log[at + 1 :]
    path = tmp_path_factory.mktemp("cut") / "s.db"
    shutil.copy(whole, path)
    Path(f"{path}-wal").write_bytes(left)

    async def scenario() -> None:
        async with SqliteStore(path, sqlite_version=WITH_A_LOG) as store:
            if session not in [one.id for one in await store.list()]:
                assert await store.check() == ()
                return  # the cut is before its first record
            kept = await store.read(session)
            assert list(kept) == [say(text) for text in SAID[: len(kept)]]
            assert await store.check() == ()
            lease = await store.open(session, holder="another test")
            await store.append(lease, len(kept), [say("and on")])
            assert len(await store.read(session)) == len(kept) + 1

    anyio.run(scenario)
