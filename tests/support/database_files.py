"""Small SQLite files for the tests of readers."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any


def make(path: Path, script: str, **rows: list[tuple[Any, ...]]) -> Path:
    """A database at `path` with these rows in its tables."""
    connection = sqlite3.connect(path)
    connection.executescript(script)
    for table, values in rows.items():
        for row in values:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    connection.commit()
    connection.close()
    return path
