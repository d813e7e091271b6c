"""What is in a file, and how an older file becomes a current one.

A `Schema` says what one kind of file holds; `SESSIONS` is the store's. `user_version` counts the migrations a file has
been through; `application_id` tells files of this kind from all others. A file from the future is refused, because what
this program does not know it could only damage.

A record's key is its session's number and its sequence number in one integer. The rows of a session so lie side by side
in the file: reading a log is one scan, and appending touches the same few pages however long the log has become.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from msgspec import Struct

from legato.errors import StoreCorrupt, StoreError

APPLICATION_ID = 0x4C65_6761  # "Lega"

SPAN = 1 << 32
"""Keys per session: record `sequence` of session `number` has the key `number * SPAN + sequence`."""

Migration = tuple[str, ...]

MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE sessions (
            number  INTEGER PRIMARY KEY AUTOINCREMENT,
            id      TEXT NOT NULL UNIQUE,
            created REAL NOT NULL,
            updated REAL NOT NULL,
            length  INTEGER NOT NULL,
            title   TEXT NOT NULL,
            route   TEXT NOT NULL,
            parent  TEXT,
            meta    BLOB NOT NULL,
            -- The writer's lease: the newest fencing token, and who holds it (claim is NULL when nobody does).
            token   INTEGER NOT NULL DEFAULT 0,
            claim   TEXT,
            holder  TEXT,
            host    TEXT,
            pid     INTEGER,
            started TEXT,
            since   REAL,
            expires REAL
        )
        """,
        "CREATE INDEX sessions_by_time ON sessions (updated)",
        """
        CREATE TABLE records (
            place INTEGER PRIMARY KEY,
            seal  INTEGER NOT NULL,
            data  BLOB NOT NULL
        )
        """,
    ),
)


class Schema(Struct, frozen=True, kw_only=True):
    """What one kind of file holds."""

    application_id: int
    holds: str
    """in a word, for messages"""
    advice: str
    """what to do about a path where no such file can be"""
    migrations: tuple[Migration, ...]
    tables: frozenset[str]
    """without which it is damaged"""
    survives_power_cuts: bool = True
    """whether that is promised of a commit, and not only that it survives the process"""


SESSIONS = Schema(
    application_id=APPLICATION_ID,
    holds="sessions",
    advice="name a file for sessions (the setting `store`, LEGATO_STORE), or `memory:` to keep none",
    migrations=MIGRATIONS,
    tables=frozenset({"sessions", "records"}),
)


def migrate(connection: sqlite3.Connection, path: Path, schema: Schema = SESSIONS) -> None:
    """Bring the file to the current version, in one transaction; a current file is not written to."""
    known = len(schema.migrations)
    if _check_version(connection, path, schema) == known:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Once more, under the lock: another process may have migrated meanwhile.
        version = _check_version(connection, path, schema)
        for migration in schema.migrations[version:]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {schema.application_id}")
        connection.execute(f"PRAGMA user_version = {known}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def refuse_foreign(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    """Raise `StoreError` unless the database is one of `schema`, or holds nothing at all yet."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == schema.application_id:
        return
    if application or _version(connection) or _tables(connection):
        raise StoreError(
            f"{path} is a database of another program or for another purpose, and nothing in it was changed; name"
            f" another file for {schema.holds}",
            path=str(path),
        )


def _check_version(connection: sqlite3.Connection, path: Path, schema: Schema) -> int:
    """The version of the file; raises `StoreError` if it is newer than this program, not ours, or not whole."""
    refuse_foreign(connection, path, schema)
    version, known = _version(connection), len(schema.migrations)
    if version > known:
        raise StoreError(
            f"{path} was written by a newer Legato: its schema has version {version}, this program knows versions up"
            f" to {known}; upgrade Legato, or name another file",
            path=str(path),
            version=version,
            known=known,
        )
    if version and not schema.tables <= _tables(connection):
        raise StoreCorrupt(f"{path} has lost its tables; restore it from a backup", path=str(path))
    return version


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
