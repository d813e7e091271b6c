"""The tables, and how an older set of them becomes a current one.

Many processes may start at once on an empty database. `CREATE TABLE IF NOT EXISTS` races with itself there, so the
first one to take an advisory lock does the work and the rest find it done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from psycopg import AsyncConnection

from legato.errors import StoreError

_LOCK = int.from_bytes(b"legato")

Migration = tuple[LiteralString, ...]

MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE legato_sessions (
            number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id      text COLLATE "C" NOT NULL UNIQUE,
            created timestamptz NOT NULL DEFAULT clock_timestamp(),
            updated timestamptz NOT NULL DEFAULT clock_timestamp(),
            length  bigint NOT NULL,
            title   text NOT NULL,
            route   text NOT NULL,
            parent  text,
            meta    bytea NOT NULL,
            -- The writer's lease: the newest fencing token, and who holds it (claim is NULL when nobody does).
            token   bigint NOT NULL DEFAULT 0,
            claim   text,
            holder  text,
            host    text,
            pid     bigint,
            started text,
            since   timestamptz,
            expires timestamptz
        )
        """,
        "CREATE INDEX legato_sessions_by_time ON legato_sessions (updated)",
        # bytea and not jsonb: what is stored comes back byte for byte, as its seal demands.
        """
        CREATE TABLE legato_records (
            session  bigint NOT NULL REFERENCES legato_sessions (number) ON DELETE CASCADE,
            sequence bigint NOT NULL,
            seal     bigint NOT NULL,
            data     bytea NOT NULL,
            PRIMARY KEY (session, sequence)
        )
        """,
    ),
)


async def migrate(connection: AsyncConnection, where: str, *, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the tables to the current version, in one transaction; refuse those of a newer program."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        version = await _version(connection)
        if version > len(migrations):
            raise StoreError(
                f"{where} was written by a newer Legato: its schema has version {version}, this program knows versions"
                f" up to {len(migrations)}; upgrade Legato, or name another database",
                version=version,
                known=len(migrations),
            )
        if version == len(migrations):
            return
        await connection.execute("CREATE TABLE IF NOT EXISTS legato_schema (version integer NOT NULL)")
        for migration in migrations[version:]:
            for statement in migration:
                await connection.execute(statement)
        await connection.execute("DELETE FROM legato_schema")
        await connection.execute("INSERT INTO legato_schema VALUES (%s)", (len(migrations),))


async def _version(connection: AsyncConnection) -> int:
    cursor = await connection.execute("SELECT to_regclass('legato_schema') IS NOT NULL")
    if await cursor.fetchone() != (True,):
        return 0
    cursor = await connection.execute("SELECT coalesce(max(version), 0) FROM legato_schema")
    row = await cursor.fetchone()
    return int(row[0]) if row else 0
