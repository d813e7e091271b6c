"""A process that writes to a session, so that a test can kill it or set several against each other.

    python store_writer.py write PLACE SESSION               append for ever; print what was acknowledged
    python store_writer.py compete PLACE SESSION NAME TIMES  take the lease, append a batch, give it back; TIMES times
    python store_writer.py fill PLACE SESSION BYTES          append until the file may not grow any more

PLACE is what `open_store` takes, or `wal:PATH` for SQLite with a write-ahead log. Each line of output is flushed, so
a line that arrived tells of something that was acknowledged.
"""

import random
import resource
import sys

import anyio

from legato.errors import SessionLocked, StoreError
from legato.model.blocks import Text
from legato.model.entries import Entry, Speaker
from legato.model.records import Record, Recorded
from legato.store import Store, open_store

BATCH = 3


def record(text: str) -> Record:
    """What one of these processes stores."""
    return Recorded(entry=Entry(Speaker.HUMAN, (Text(text=text),)))


def numbered(sequence: int) -> Record:
    """The record that belongs at `sequence`; of different sizes, so that commits touch few pages or many."""
    return record(f"{sequence} " + "x" * (sequence * 7919 % 9000))


def reach(place: str) -> Store:
    """The store at PLACE."""
    if place.startswith("wal:"):
        from legato.store.sqlite import SqliteStore

        return SqliteStore(place.removeprefix("wal:"), sqlite_version=(3, 53, 0))
    return open_store(place)


def tell(*words: object) -> None:
    """Print a line that arrives even if this process dies the next moment."""
    print(*words, flush=True)


async def write(place: str, session: str) -> None:
    """Append numbered records until somebody ends this process."""
    async with reach(place) as store:
        lease = await store.open(session, holder="a writer that will be killed")
        length = (await store.describe(session)).records
        tell("ready", length)
        while True:
            news = [numbered(length + place) for place in range(random.randint(1, 5))]
            length = await store.append(lease, length, news)
            tell("stored", length)


async def compete(place: str, session: str, name: str, times: str) -> None:
    """Append batches in competition with others, each batch under a lease of its own."""
    async with reach(place) as store:
        for batch in range(int(times)):
            while True:
                try:
                    lease = await store.open(session, holder=f"writer {name}")
                except SessionLocked as error:
                    tell("refused", error.message)
                    await anyio.sleep(random.uniform(0.001, 0.02))
                else:
                    break
            length = (await store.describe(session)).records
            for part in range(BATCH):
                length = await store.append(lease, length, [record(f"{name}.{batch}.{part}")])
            tell("stored", length)
            await store.release(lease)


async def fill(place: str, session: str, size: str) -> None:
    """Append until the file system says no; then read what is there."""
    async with reach(place) as store:
        lease = await store.open(session, holder="a writer with little space")
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), resource.RLIM_INFINITY))
        length = 0
        try:
            while True:
                length = await store.append(lease, length, [numbered(length)])
                tell("stored", length)
        except StoreError as error:
            tell("refused", type(error).__name__, error.message)
        tell("read", len(await store.read(session)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        tell("stored", await store.append(lease, length, [numbered(length)]))


if __name__ == "__main__":
    anyio.run({"write": write, "compete": compete, "fill": fill}[sys.argv[1]], *sys.argv[2:])
