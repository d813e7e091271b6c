"""Writers are killed in the middle of their work, again and again; what they were told is stored is stored.

LEGATO_KILLS says how often (`make fuzz` and patient people set it to hundreds).
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from legato.errors import StoreUnavailable
from legato.store.postgres import PostgresStore
from legato.store.testing.samples import say
from store_places import Server, own_server, postgres_url
from store_writer import numbered, reach
from tally import count

KILLS = int(os.environ.get("LEGATO_KILLS", "15"))
WRITER = Path(__file__).parents[1] / "support" / "store_writer.py"


def _write_and_die(place: str, session: str) -> int:
    """Let a process write for a moment, kill it, and return the length that it was last told."""
    process = subprocess.Popen(
        [sys.executable, str(WRITER), "write", place, session], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    told = 0
    for _ in range(random.choice((0, 1, 1, 2, 5, 20))):  # 0: perhaps while it is still starting
        line = process.stdout.readline()
        assert line, "the writer ended by itself"
        told = int(line.split()[1])
    time.sleep(random.uniform(0, 0.03))
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().splitlines(keepends=True)
    process.wait()
    process.stdout.close()
    count("kills of a process that writes to a store")
    return max([told, *(int(line.split()[1]) for line in rest if line.endswith("\n"))])


async def _examine(place: str, session: str, told: int, before: int) -> int:
    """The session after a kill: whole, checked, and free for the next writer. Returns its length."""
    async with reach(place) as store:
        lease = await store.open(session, holder="the next writer")
        records = await store.read(session)
        assert told <= len(records), "an acknowledged record is lost"
        assert before <= len(records)
        assert records == [numbered(sequence) for sequence in range(len(records))]
        assert list(await store.check(session)) == []
        return await store.append(lease, len(records), [numbered(len(records))])


async def _begin(place: str) -> str:
    async with reach(place) as store:
        return await store.create()


@pytest.mark.parametrize("backend", ["delete", "wal", "postgres"])
def test_every_acknowledged_record_survives_the_death_of_its_writer(backend: str, tmp_path: Path) -> None:
    places = {"delete": str(tmp_path / "a.db"), "wal": f"wal:{tmp_path / 'a.db'}"}
    place = places.get(backend) or postgres_url()
    session = anyio.run(_begin, place)
    length = 0
    for _ in range(KILLS if backend == "delete" else max(KILLS // 4, 3)):
        told = _write_and_die(place, session)
        length = anyio.run(_examine, place, session, told, length)
    assert length > 0


@pytest.fixture(scope="module")
def mortal_server() -> Iterator[Server]:
    server = own_server()
    yield server
    server.stop()


def test_records_survive_the_death_of_the_server_and_the_store_reconnects(mortal_server: Server) -> None:
    async def scenario() -> None:
        store = PostgresStore(mortal_server.url, patience=300.0)
        session = await store.create()
        lease = await store.open(session, holder="a patient writer")
        progress = anyio.Event()
        length, done = 0, False

        async def write() -> None:
            nonlocal length
            while not done:
                length = await store.append(lease, length, [say(str(length)), say(str(length + 1))])
                progress.set()

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            for _ in range(1 + KILLS // 50):
                await anyio.sleep(random.uniform(0.02, 0.2))
                await anyio.to_thread.run_sync(mortal_server.kill)
                count("kills of a server that keeps a store")
                told, progress = length, anyio.Event()
                await anyio.to_thread.run_sync(mortal_server.restart)
                with anyio.fail_after(400):
                    await progress.wait()
                assert length > told
            done = True
        assert await store.read(session) == [say(str(number)) for number in range(length)]
        assert list(await store.check()) == []
        await store.close()

    anyio.run(scenario)


def test_a_server_that_stays_away_is_an_error_that_says_so_and_nothing_is_lost(mortal_server: Server) -> None:
    async def scenario() -> None:
        store = PostgresStore(mortal_server.url, patience=300.0)
        session = await store.create(records=[say("zero")])
        lease = await store.open(session, holder="x")
        await anyio.to_thread.run_sync(mortal_server.kill)
        store._patience = 0.1  # only while it is away: a busy machine takes longer for what works
        for attempt in (lambda: store.append(lease, 1, [say("one")]), lambda: store.read(session)):
            with pytest.raises(StoreUnavailable) as caught:
                await attempt()
            assert "see that the server runs" in caught.value.message
        await anyio.to_thread.run_sync(mortal_server.restart)
        store._patience = 300.0
        assert await store.append(lease, 1, [say("one")]) == 2
        assert await store.read(session) == [say("zero"), say("one")]
        await store.close()

    anyio.run(scenario)
