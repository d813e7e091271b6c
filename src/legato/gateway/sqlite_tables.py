"""What is in the gateway's file, and every transaction on it, as a function of a connection.

    kept      answers, responses and reports, each with its tenant and the time it was made
    names     under which of its tenant's names something is found; an answer has several
    secrets   the key that signs what clients carry; and how often things were forgotten on purpose

Something that has lost its last name is removed at once. What is older than it may be is not found, even before it is
removed.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from legato.store.sqlite.schema import Schema

GATEWAY_STATE = Schema(
    application_id=0x4C65_6747,  # "LegG"
    holds="gateway state",
    advice="name a file for it with --store (the setting `serve.store`), or leave that out to keep nothing on disk",
    migrations=(
        (
            """
            CREATE TABLE kept (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                tenant TEXT NOT NULL,
                kind   TEXT NOT NULL,
                made   REAL NOT NULL,
                data   BLOB NOT NULL
            )
            """,
            "CREATE INDEX kept_by_time ON kept (made)",
            """
            CREATE TABLE names (
                tenant TEXT NOT NULL,
                name   TEXT NOT NULL,
                number INTEGER NOT NULL,
                PRIMARY KEY (tenant, name)
            ) WITHOUT ROWID
            """,
            "CREATE INDEX names_by_number ON names (number)",
            "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
        ),
    ),
    tables=frozenset({"kept", "names", "secrets"}),
    survives_power_cuts=False,  # nothing is wrong without it, and a client waits for each commit
)

_SEALING = "sealing"
_FORGETTINGS = "forgettings"


class KeptItem(Struct, frozen=True, kw_only=True):
    """Something to keep."""

    tenant: str
    kind: str
    names: Sequence[str]
    data: bytes
    made: float


def put(connection: sqlite3.Connection, item: KeptItem, most_bytes: int) -> None:
    """Keep `item` under its names, in place of what had them before; the oldest make room for it."""
    insert = "INSERT INTO kept (tenant, kind, made, data) VALUES (?, ?, ?, ?)"
    number = connection.execute(insert, (item.tenant, item.kind, item.made, item.data)).lastrowid
    before = _numbers(connection, item.tenant, item.names)
    connection.executemany(
        "INSERT OR REPLACE INTO names (tenant, name, number) VALUES (?, ?, ?)",
        [(item.tenant, name, number) for name in item.names],
    )
    nameless = "DELETE FROM kept WHERE number = ? AND NOT EXISTS (SELECT 1 FROM names WHERE names.number = kept.number)"
    connection.executemany(nameless, [(old,) for old in set(before.values())])
    make_room(connection, most_bytes)


def look_up(
    connection: sqlite3.Connection, tenant: str, names: Iterable[str], *, since: float
) -> tuple[dict[str, int], dict[int, bytes]]:
    """What is found under `names` and was made after `since`: their numbers, and what each number holds."""
    numbers = _numbers(connection, tenant, names)
    data: dict[int, bytes] = {}
    for number in set(numbers.values()):
        row = connection.execute("SELECT data FROM kept WHERE number = ? AND made > ?", (number, since)).fetchone()
        if row is not None:
            data[number] = row[0]
    return {name: number for name, number in numbers.items() if number in data}, data


def remove_named(connection: sqlite3.Connection, tenant: str, names: Iterable[str]) -> dict[str, int]:
    """Remove what is found under `names`; which of them there were."""
    found = _numbers(connection, tenant, names)
    _remove(connection, set(found.values()))
    return found


def remove_expired(connection: sqlite3.Connection, until: float) -> None:
    """Remove what was made until then."""
    rows = connection.execute("SELECT number FROM kept WHERE made <= ?", (until,)).fetchall()
    _remove(connection, [number for (number,) in rows])


def remove_all(connection: sqlite3.Connection, tenant: str | None) -> Counter[str]:
    """Remove everything of `tenant`, or of everybody; how much of each kind there was. The sealing key stays."""
    select = "SELECT number, kind FROM kept WHERE ? IS NULL OR tenant = ?"
    rows = connection.execute(select, (tenant, tenant)).fetchall()
    _remove(connection, [number for number, _ in rows])
    return Counter(kind for _, kind in rows)


def make_room(connection: sqlite3.Connection, most_bytes: int) -> None:
    """Remove the oldest until at most so many bytes of the file are in use; what is free in it is used again."""
    while _bytes_in_use(connection) > most_bytes:
        oldest = connection.execute("SELECT min(number) FROM kept").fetchone()[0]
        if oldest is None:
            return
        _remove(connection, [oldest])


def sealing_key(connection: sqlite3.Connection, proposed: bytes) -> bytes:
    """The key that signs what clients carry: the one that is there, or else `proposed` from now on."""
    connection.execute("INSERT OR IGNORE INTO secrets (name, value) VALUES (?, ?)", (_SEALING, proposed))
    return connection.execute("SELECT value FROM secrets WHERE name = ?", (_SEALING,)).fetchone()[0]


def forgettings(connection: sqlite3.Connection) -> int:
    """How often `count_forgetting` was called."""
    row = connection.execute("SELECT value FROM secrets WHERE name = ?", (_FORGETTINGS,)).fetchone()
    return 0 if row is None else int(row[0])


def count_forgetting(connection: sqlite3.Connection) -> None:
    """Things were removed on purpose: gateways that run have to drop what they have of them in memory."""
    count = forgettings(connection) + 1
    connection.execute("INSERT OR REPLACE INTO secrets (name, value) VALUES (?, ?)", (_FORGETTINGS, count))


def shrink(connection: sqlite3.Connection) -> None:
    """Give back what is free, and leave nothing of it in a write-ahead log; not in a transaction.

    Another process may have the file at that moment. Then it stays as large as it is.
    """
    for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
        with suppress(sqlite3.OperationalError):
            connection.execute(statement)


def _numbers(connection: sqlite3.Connection, tenant: str, names: Iterable[str]) -> dict[str, int]:
    select = "SELECT number FROM names WHERE tenant = ? AND name = ?"
    found = ((name, connection.execute(select, (tenant, name)).fetchone()) for name in names)
    return {name: row[0] for name, row in found if row is not None}


def _remove(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    rows = [(number,) for number in numbers]
    connection.executemany("DELETE FROM names WHERE number = ?", rows)
    connection.executemany("DELETE FROM kept WHERE number = ?", rows)


def _bytes_in_use(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
