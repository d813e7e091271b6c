"""A database that somebody wrote into: what no checksum covers is damaged, and says so without hiding the rest."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import anyio
import pytest

from legato.errors import StoreCorrupt, StoreError
from legato.store.sqlite import SqliteStore
from legato.store.testing.samples import say


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
