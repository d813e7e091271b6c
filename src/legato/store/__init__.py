"""Where sessions stay: SQLite by default, PostgreSQL when one machine is not enough, memory for tests.

    async with open_store() as store:
        session = await store.create(meta={"cwd": "/home/ada/engine"})
        lease = await store.open(session, holder="my program")
        length = await store.append(lease, 0, records)

`contract` says what every store promises; `testing.conformance` checks it for any backend, also for yours.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

from legato.errors import ConfigError
from legato.store.contract import SUBAGENT_OF, Lease, Problem, SessionSummary, Store

__all__ = ["SUBAGENT_OF", "Lease", "Problem", "SessionSummary", "Store", "default_path", "open_store"]


def open_store(place: str | os.PathLike[str] | None = None) -> Store:
    """The store at `place`; it connects at its first use, or with `async with`.

    None is the SQLite file in the platform's data folder. Else a path, `sqlite:///relative.db`, `sqlite:////absolute.db`,
    `postgresql://user@host/database`, or `memory:` for sessions that end with the process.
    """
    text = None if place is None else os.fspath(place)
    scheme, separator, _ = (text or "").partition("://")
    if text == "memory:":
        from legato.store.memory import MemoryStore

        return MemoryStore()
    if separator and scheme in {"postgresql", "postgres"}:
        from legato.store.postgres import PostgresStore

        return PostgresStore(text or "")
    if separator and scheme != "sqlite":
        raise ConfigError(
            f"no store knows {scheme}:// addresses; name a file, or use sqlite:///, postgresql:// or memory:"
        )
    from legato.store.sqlite import SqliteStore

    return SqliteStore(_sqlite_path(text) if separator else text)


def default_path() -> Path:
    """The file that `open_store()` uses."""
    from legato.store.sqlite.file import sessions_file

    return sessions_file()


def _sqlite_path(url: str | None) -> str:
    path = unquote((url or "").removeprefix("sqlite://"))
    if not path.startswith("/") or len(path) == 1:
        raise ConfigError(f"{url} names no file; write sqlite:///relative.db or sqlite:////absolute.db")
    return path[1:]
