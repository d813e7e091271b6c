"""Open the database file: private, durable, and in a journal mode that the linked SQLite can be trusted with.

In:  a path.
Out: a connection on which a commit that returned is on the disk (unless the `Schema` asks for less), or an error that
     says what to do.

What is at the path is used only if we made it: a new file, an empty one, or a database of ours. A device, a pipe, a
folder, a text or another program's database is refused, and nothing about it is changed, neither its bytes nor its
mode. A link to a file of ours is followed.

WAL is faster and lets readers and a writer work side by side, but before 3.51.3 a WAL could be reset under another
process's feet and corrupt the file where several processes write; the 3.52 series was made before that fix. With such a
library the rollback journal is used. There `synchronous=EXTRA` also flushes the folder after the journal is removed:
with FULL a power cut could bring the journal, and so the past, back after a commit was acknowledged.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import platformdirs

from legato.errors import StoreCorrupt, StoreError, StoreUnavailable
from legato.store.sqlite.schema import SESSIONS, Schema, refuse_foreign

_FILE_MODE, _FOLDER_MODE = 0o600, 0o700

# A file that is opened and closed outside SQLite drops the POSIX locks that SQLite holds on it in this process. So the
# file is opened by us only when it is new, and no one here connects to it before it is closed again.
_creating = threading.Lock()

# By journal, and by whether a commit has to survive a power cut. Otherwise the newest may be lost in one, but the file
# is never damaged.
_SYNCHRONOUS = {
    ("wal", True): "FULL",
    ("wal", False): "NORMAL",
    ("delete", True): "EXTRA",
    ("delete", False): "FULL",
}

_UNAVAILABLE = {
    sqlite3.SQLITE_FULL: "its disk is full; free some space or delete a session, and try again",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write it; look at the system's log, then try again",
    sqlite3.SQLITE_BUSY: "another program keeps it locked; close that program or try again",
    sqlite3.SQLITE_LOCKED: "another connection keeps it locked; try again",
    sqlite3.SQLITE_READONLY: "it cannot be written; look at its permissions and those of its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; look at the path, its permissions and those of its folder",
    sqlite3.SQLITE_PERM: "its permissions do not allow that",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_TOOBIG: "a record is larger than SQLite can hold",
}
_CORRUPT = {
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore it from a backup",
    sqlite3.SQLITE_NOTADB: "it is no database, or its beginning is damaged, and nothing in it was changed; name another"
    " file for {holds}, or restore it from a backup if it held some",
}


_FULL = frozenset({"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"})
"""what SQLite says of a full disk: the second when it opens a file with a write-ahead log, which needs one more"""


def sessions_file() -> Path:
    """Where sessions stay unless someone says otherwise: the platform's folder for a user's data."""
    return platformdirs.user_data_path("legato", appauthor=False) / "sessions.db"


def safe_journal(version: tuple[int, ...]) -> str:
    """The journal mode for a file that several processes write with SQLite of this `version`."""
    fixed = version >= (3, 53, 0) or (3, 51, 3) <= version < (3, 52, 0)
    return "wal" if fixed else "delete"


def connect_file(path: Path, *, journal: str, patience: float, schema: Schema = SESSIONS) -> sqlite3.Connection:
    """A connection for writing to the file at `path`, which is made if need be, and else has to be one of `schema`.

    `patience` is how many seconds a statement waits while another process holds the file.
    """
    _make_or_recognise(path, patience, schema)
    connection = _connect(path, patience)
    try:
        connection.execute("PRAGMA fullfsync = ON")  # macOS: flush the drive's own cache too
        _set_journal(connection, journal, patience)
        connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[journal, schema.survives_power_cuts]}")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted leaves nothing in free pages
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading(path: Path, *, patience: float) -> Generator[sqlite3.Connection]:
    """A connection that sees one moment of the file and can change nothing.

    (Except to roll back what a dead process left half done: SQLite does that for the next process.)
    """
    with closing(_connect(path, patience)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.text_factory = _read_text
        connection.execute("BEGIN")
        yield connection


@contextmanager
def translated(path: Path, schema: Schema = SESSIONS) -> Generator[None]:
    """Raise what SQLite or the system says about the file at `path` as a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _refusal(error, path, schema) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"the {schema.holds} in {path} cannot be reached: {reason}; look at the path and its permissions"
        raise StoreUnavailable(message, path=str(path)) from error


def is_of_full_disk(error: StoreError) -> bool:
    """Whether the error was raised because the disk has no room left."""
    return error.facts.get("sqlite") in _FULL


def _refusal(error: sqlite3.Error, path: Path, schema: Schema) -> StoreError:
    code: int = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if getattr(error, "sqlite_errorname", "") in _FULL:
        code = sqlite3.SQLITE_FULL
    facts = {"path": str(path), "sqlite": getattr(error, "sqlite_errorname", "")}
    if code in _CORRUPT:
        return StoreCorrupt(f"{path} cannot be used ({error}): {_CORRUPT[code].format(holds=schema.holds)}", **facts)
    if code in _UNAVAILABLE:
        return StoreUnavailable(
            f"{path} is not available ({error}): {_UNAVAILABLE[code]}. What was acknowledged before is safe, and"
            " nothing of this step was stored",
            **facts,
        )
    return StoreError(f"{path}: {error}", **facts)


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    # mode=rw: a file that someone removed is an error, and not an empty file that anyone may read.
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


def create_file(path: Path) -> None:
    """Make an empty file that only its owner can read; raises `FileExistsError` if anything is there."""
    folder = path.parent
    with _creating:
        if not folder.is_dir():
            _make_folder(folder)
        elif path == sessions_file():  # a folder of someone's choice is theirs to open or close
            _narrow(folder, _FOLDER_MODE)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _FILE_MODE))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
    except FileExistsError:  # of the folder, not of the file
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None


def _make_or_recognise(path: Path, patience: float, schema: Schema) -> None:
    """Make the file, or make sure that it is ours and closed to others. What is not ours is not touched."""
    try:
        create_file(path)
    except FileExistsError:
        _refuse_other_kinds(path, schema)
    else:
        return
    # Asked through SQLite, because of the locks (see above). To a database that is not ours this does what any reader
    # does to it, and no more.
    with closing(_connect(path, patience)) as connection:
        refuse_foreign(connection, path, schema)
    # Before the first real connection: SQLite gives its journals the mode of the database.
    _narrow(path, _FILE_MODE)


def _refuse_other_kinds(path: Path, schema: Schema) -> None:
    """Raise unless a regular file is at `path`, or a link to one."""
    try:
        status = path.stat()
    except FileNotFoundError:
        target = os.path.realpath(path)
        raise StoreError(
            f"{path} is a link to {target}, which does not exist; {schema.advice}", path=str(path)
        ) from None
    if not stat.S_ISREG(status.st_mode):
        kind = next((word for is_so, word in _KINDS if is_so(status.st_mode)), "no regular file")
        raise StoreError(f"{path} is {kind}: {schema.holds} cannot be stored there; {schema.advice}", path=str(path))
    if status.st_size == 1:  # SQLite takes it for an empty database and would write over it (`unixFileSize`)
        advice = _CORRUPT[sqlite3.SQLITE_NOTADB].format(holds=schema.holds)
        raise StoreCorrupt(f"{path} cannot be used: {advice}", path=str(path))


_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def _narrow(path: Path, mode: int) -> None:
    """Take from others what they may do with `path`."""
    status = path.stat()
    if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & ~mode & 0o077:
        path.chmod(stat.S_IMODE(status.st_mode) & mode)
