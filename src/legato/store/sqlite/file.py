"""Open the database file: private, durable, and in a journal mode that the linked SQLite can be trusted with.

In:  a path.
Out: a connection on which a commit that returned is on the disk, or an error that says what to do.

WAL is faster and lets readers and a writer work side by side, but before 3.51.3 a WAL could be reset under another
process's feet and corrupt the file where several processes write; the 3.52 series was made before that fix. With such a
library the rollback journal is used. There `synchronous=EXTRA` also flushes the folder after the journal is removed:
with FULL a power cut could bring the journal, and so the past, back after a commit was acknowledged.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import platformdirs

from legato.errors import StoreCorrupt, StoreError, StoreUnavailable

_FILE_MODE, _FOLDER_MODE = 0o600, 0o700

# A file that is opened and closed outside SQLite drops the POSIX locks that SQLite holds on it in this process. So the
# file is touched only when it is new, and nobody here connects to it before it is closed again.
_creating = threading.Lock()

_UNAVAILABLE = {
    sqlite3.SQLITE_FULL: "its disk is full; free some space and try again",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write it; look at the system's log, then try again",
    sqlite3.SQLITE_BUSY: "another program keeps it locked; close that program or try again",
    sqlite3.SQLITE_LOCKED: "another connection keeps it locked; try again",
    sqlite3.SQLITE_READONLY: "it cannot be written; look at its permissions and those of its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; look at the path, its permissions and those of its folder",
    sqlite3.SQLITE_PERM: "its permissions do not allow that",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_TOOBIG: "a record is larger than SQLite can hold",
}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def default_path() -> Path:
    """Where sessions stay unless somebody says otherwise: the platform's folder for a user's data."""
    return platformdirs.user_data_path("legato", appauthor=False) / "sessions.db"


def safe_journal(version: tuple[int, ...]) -> str:
    """The journal mode for a file that several processes write with SQLite of this `version`."""
    fixed = version >= (3, 53, 0) or (3, 51, 3) <= version < (3, 52, 0)
    return "wal" if fixed else "delete"


def connect_file(path: Path, *, journal: str, patience: float) -> sqlite3.Connection:
    """A connection for writing to the file at `path`, which is made if need be.

    `patience` is how many seconds a statement waits while another process holds the file.
    """
    _make_private(path)
    connection = _connect(path, patience)
    try:
        connection.execute("PRAGMA fullfsync = ON")  # macOS: flush the drive's own cache too
        _set_journal(connection, journal, patience)
        connection.execute(f"PRAGMA synchronous = {'FULL' if journal == 'wal' else 'EXTRA'}")
        connection.execute("PRAGMA secure_delete = ON")  # a deleted session leaves nothing in free pages
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading(path: Path, *, patience: float) -> Generator[sqlite3.Connection]:
    """A connection that sees one moment of the file and can change nothing.

    (Except to roll back what a dead process left half done: SQLite does that for whoever comes next.)
    """
    with closing(_connect(path, patience)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.text_factory = _read_text
        connection.execute("BEGIN")
        yield connection


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Raise what SQLite or the system says about the file at `path` as a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _refusal(error, path) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreUnavailable(f"the sessions in {path} cannot be reached: {reason}", path=str(path)) from error


def _refusal(error: sqlite3.Error, path: Path) -> StoreError:
    code: int = getattr(error, "sqlite_errorcode", 0) & 0xFF
    facts = {"path": str(path), "sqlite": getattr(error, "sqlite_errorname", "")}
    if code in _CORRUPT:
        return StoreCorrupt(f"{path} is damaged, or no database at all ({error}); restore it from a backup", **facts)
    if code in _UNAVAILABLE:
        return StoreUnavailable(
            f"{path} is not available ({error}): {_UNAVAILABLE[code]}. What was acknowledged before is safe, and"
            " nothing of this step was stored",
            **facts,
        )
    return StoreError(f"{path}: {error}", **facts)


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    # mode=rw: a file that somebody removed is an error, and not an empty file that anybody may read.
    uri = f"{path.as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)


def _read_text(data: bytes) -> str:
    """Text as far as it is text: damage must reach our own checks, which can name the record."""
    return data.decode(errors="replace")


def _set_journal(connection: sqlite3.Connection, journal: str, patience: float) -> None:
    """Switch the file to `journal`; that needs the file for itself for a moment, and SQLite does not wait for it."""
    deadline = time.monotonic() + patience
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != journal:
        try:
            connection.execute(f"PRAGMA journal_mode = {journal}")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _make_private(path: Path) -> None:
    with _creating:
        folder = path.parent
        if not folder.is_dir():
            folder.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
        elif path == default_path():  # a folder of somebody's choice is theirs to open or close
            _narrow(folder, _FOLDER_MODE)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _FILE_MODE))
        except FileExistsError:
            _narrow(path, _FILE_MODE)


def _narrow(path: Path, mode: int) -> None:
    """Take from others what they may do with `path`. SQLite gives its journals the mode of the database."""
    status = path.stat()
    if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & ~mode & 0o077:
        path.chmod(stat.S_IMODE(status.st_mode) & mode)
