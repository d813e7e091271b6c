"""Room for deleting on a full disk: a file beside the store that is given up when nothing else is left.

To delete, SQLite first writes what it is about to change into a journal, so a full disk would keep people from the very
thing that makes room. With the room of the reserve, a session is deleted in steps whose journals fit into it. What is
stored later takes the place in the file that became free, and the room of the reserve for its journals: it is laid by
again when the disk has room for more than that.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

SIZE = 1 << 20
"""bytes of the reserve: our choice, little for any disk and enough for the steps below"""

_AMPLE = 4 * SIZE
"""bytes that have to be free before it is laid by: with less, what is left is for the store itself"""

STEP = SIZE // 4
"""bytes that one step deletes: its journal has whole pages, and those of the tree above them"""

_USUAL_LOG = 1000
"""pages that SQLite by itself lets a write-ahead log have before it writes them back"""

Job = Callable[[sqlite3.Connection], None]


def keep_reserve(store: Path) -> None:
    """Lay by the reserve of the store at that path, unless it is there or the disk is nearly full."""
    path = _reserve_of(store)
    try:
        if path.exists() or shutil.disk_usage(path.parent).free < _AMPLE:
            return
        with open(path, "xb", opener=_open_for_owner) as file:
            file.write(b"\0" * SIZE)  # really written: a file with holes takes no room
    except FileExistsError:
        pass  # another process was quicker
    except OSError:
        give_up_reserve(store)


def give_up_reserve(store: Path) -> None:
    """Make room, as far as any was laid by."""
    with suppress(OSError):
        _reserve_of(store).unlink()


def steps_to_delete(sizes: list[tuple[int, int]]) -> Iterator[Job]:
    """Transactions that delete records, given the place and the size of each, the last of them first.

    If they are interrupted, the session counts as damaged, and can be deleted again.
    """
    yield _emptying_log_after(pages=1)
    yield from _deletions(sizes)
    yield _emptying_log_after(pages=_USUAL_LOG)


def _deletions(sizes: list[tuple[int, int]]) -> Iterator[Job]:
    batch: list[int] = []
    room = STEP
    for place, size in reversed(sizes):
        if size > STEP:
            yield from _steps_to_delete_large(place, size)
            continue
        if size > room:
            yield _deletion(batch)
            batch, room = [], STEP
        batch.append(place)
        room -= size
    if batch:
        yield _deletion(batch)


def _steps_to_delete_large(place: int, size: int) -> Iterator[Job]:
    for start in range(0, size, STEP):
        yield _erasure(place, start, min(STEP, size - start))
    yield _deletion([place], is_erased=True)


def _emptying_log_after(*, pages: int) -> Job:
    """Have SQLite write back its log, if it has one, as soon as there are so many pages in it."""

    def job(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")

    return job


def _erasure(place: int, start: int, length: int) -> Job:
    def job(connection: sqlite3.Connection) -> None:
        with connection.blobopen("records", "data", place) as blob:
            blob.seek(start)
            blob.write(b"\0" * length)

    return job


def _deletion(places: list[int], *, is_erased: bool = False) -> Job:
    def job(connection: sqlite3.Connection) -> None:
        if is_erased:  # what is overwritten already need not be again, and then takes no room in the journal
            connection.execute("PRAGMA secure_delete = OFF")
        try:
            connection.executemany("DELETE FROM records WHERE place = ?", [(place,) for place in places])
        finally:
            connection.execute("PRAGMA secure_delete = ON")

    return job


def _reserve_of(store: Path) -> Path:
    return store.with_name(f"{store.name}-reserve")


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
