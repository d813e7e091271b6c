"""SQLite files, looked at and never changed.

A file that no one has open is opened as one that does not change, so that nothing is written beside it. One that was
left in the middle has its latest pages in a file of their own (`-wal`): then it is opened for reading alone where its
program still has it open, and a copy of both is opened where that is gone, because SQLite would put a file beside it.
"""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from legato.errors import FormatError
from legato.formats.sources import Source

if TYPE_CHECKING:
    import sqlite3

MAGIC = b"SQLite format 3\0"


class Database:
    """An open SQLite file. `tables` has the names of the columns of each table."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        listed = self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.tables = {str(table): self._columns(str(table)) for (table,) in listed}

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What `statement` selects; raises `FormatError` where the file does not give it."""
        import sqlite3

        try:
            return self._connection.execute(statement, parameters).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise FormatError(f"{self._name}: cannot be read as an SQLite database: {_words(error)}") from None

    def _columns(self, table: str) -> frozenset[str]:
        return frozenset(str(row[1]) for row in self.rows(f"PRAGMA table_info({quoted(table)})"))


def quoted(name: str) -> str:
    """The name of a table or a column, for a statement."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def open_database(source: Source) -> Generator[Database]:
    """The database that `source` is."""
    import sqlite3

    with TemporaryDirectory(prefix="legato-") as folder:
        address = _address(source, Path(folder))
        try:
            connection = sqlite3.connect(address, uri=True)
        except sqlite3.Error as error:
            raise FormatError(f"{source.name}: cannot be opened as an SQLite database: {_words(error)}") from None
        try:
            connection.text_factory = _text
            yield Database(connection, source.name)
        finally:
            connection.close()


def _words(error: Exception) -> str:
    """What SQLite says, on one line: it quotes names from the file, whatever is in them."""
    return " ".join(str(error).split())


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _address(source: Source, folder: Path) -> str:
    path = source.path
    if path is None:
        path = folder / "input.db"
        path.write_bytes(source.whole())
        return f"{path.as_uri()}?immutable=1"
    try:
        latest, index = path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
        if not latest.is_file() or not latest.stat().st_size:
            return f"{path.resolve().as_uri()}?immutable=1"
        if index.is_file():
            return f"{path.resolve().as_uri()}?mode=ro"
        shutil.copy(latest, folder / "input.db-wal")
        return f"{Path(shutil.copy(path, folder / 'input.db')).as_uri()}?mode=ro"
    except OSError as error:
        raise FormatError(f"{source.name}: cannot be read: {error.strerror or error}") from None
