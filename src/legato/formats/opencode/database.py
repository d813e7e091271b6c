"""The database in which newer versions of opencode keep their sessions: a table each of sessions, messages and parts.

What `opencode export` prints as one value is here in rows: `data` is the JSON of a message or a part without its ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from legato.errors import IngestError
from legato.formats.database import Database
from legato.formats.fields import as_object
from legato.model import JsonObject, read_json_leniently

_TABLES = {
    "session": {"id", "directory", "title", "time_created"},
    "message": {"id", "session_id", "time_created", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}


def is_store(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether these are the tables of opencode."""
    return all(tables.get(name, frozenset()) >= columns for name, columns in _TABLES.items())


def sessions(database: Database) -> Iterator[JsonObject]:
    """Every session as an export of it, the oldest first."""
    found = database.rows("SELECT id, directory, title, version, parent_id FROM session ORDER BY time_created, id")
    for own, directory, title, version, parent in found:
        info: JsonObject = {"id": own, "directory": directory, "title": title, "version": version, "parentID": parent}
        yield {"info": info, "messages": list(_messages(database, own))}


def _messages(database: Database, session: Any) -> Iterator[JsonObject]:
    parts: dict[str, list[JsonObject]] = {}
    for own, message, data in database.rows(
        "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", [session]
    ):
        parts.setdefault(str(message), []).append({**_object(data), "id": own, "messageID": message})
    for own, data in database.rows(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", [session]
    ):
        yield {"info": {**_object(data), "id": own, "sessionID": session}, "parts": parts.get(str(own), [])}


def _object(data: Any) -> JsonObject:
    """The JSON in a row; nothing if it cannot be read, which the reader notes."""
    try:
        return as_object(read_json_leniently(data)) if isinstance(data, str | bytes) else {}
    except IngestError:
        return {}
