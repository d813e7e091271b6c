"""Read the checkpoints that LangGraph keeps in SQLite (`SqliteSaver`): the last state of each thread.

A checkpoint is MessagePack with objects in extensions: the path of a class, and what it was made of. They become plain
values, as which they are read; no class is loaded. What a step had written when its run was stopped is beside the
checkpoint, in `writes`, and belongs to the conversation: results of tools that were done while another one was waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from legato.formats.content import Content
from legato.formats.database import Database
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_list, as_object, as_text
from legato.formats.langchain.forms import is_message
from legato.model import Json, JsonObject

_CHECKPOINTS = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"})
_WRITES = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"})
_SNAPSHOT = 7
"""the extension that holds a snapshot of a channel; those below it hold a class (langgraph's `serde/jsonplus.py`)"""


def are_checkpoints(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database is one of LangGraph's."""
    return tables.get("checkpoints", frozenset()) >= _CHECKPOINTS


def states(content: Content, database: Database) -> Iterator[tuple[DocumentDraft, JsonObject]]:
    """A draft for each thread, with the state that it is in; that of a graph inside another is one of its own."""
    last = database.rows(
        "SELECT thread_id, checkpoint_ns, MAX(checkpoint_id), type, checkpoint FROM checkpoints "
        "GROUP BY thread_id, checkpoint_ns ORDER BY thread_id, checkpoint_ns"
    )
    for thread, space, checkpoint, kind, data in last:
        inside = f", graph {space}" if space else ""
        draft = content.draft(f"{content.name}, thread {thread}{inside}")
        draft.meta["session"] = f"{thread}{inside}"
        state = as_object(_decoded(kind, data, draft, "checkpoint"))
        if database.tables.get("writes", frozenset()) >= _WRITES:
            written = database.rows(
                "SELECT channel, type, value FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND "
                "checkpoint_id = ? ORDER BY task_id, idx",
                (thread, space, checkpoint),
            )
            state = _with_writes(state, written, draft)
        yield draft, state


def _with_writes(state: JsonObject, written: list[tuple[Any, ...]], draft: DocumentDraft) -> JsonObject:
    """The state, with the messages that were written since."""
    channels = dict(as_object(state.get("channel_values")))
    for channel, kind, data in written:
        value = _decoded(kind, data, draft, f"writes of {channel}")
        items: list[Json] = [as_object(value)] if isinstance(value, dict) else as_list(value)
        if messages := [item for item in items if is_message(as_object(item))]:
            channels[str(channel)] = [*as_list(channels.get(str(channel))), *messages]
    return {**state, "channel_values": channels}


def _decoded(kind: Any, data: Any, draft: DocumentDraft, place: str) -> Json:
    """A value out of the database; None, and a note, where it is in no form that is understood."""
    objects = _Objects()
    try:
        if kind == "msgpack" and isinstance(data, bytes):
            value: Json = msgspec.msgpack.decode(data, ext_hook=objects.plain)
            if objects.has_snapshot:
                draft.note(place, "a channel is kept as a snapshot; what was added since is not carried")
            return value
        if kind == "json":
            return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError, TypeError):
        draft.note(place, f"the {kind} in it cannot be read and was left out")
        return None
    if kind not in ("null", "empty"):
        draft.unknown(place, f"a value of type {as_text(kind)!r}")
    return None


class _Objects:
    """The objects in MessagePack as plain values."""

    def __init__(self) -> None:
        self.has_snapshot = False

    def plain(self, code: int, data: memoryview) -> Json:
        """The path of a class and what an object was made of, in the form of LangChain's own dumps."""
        value: Json = msgspec.msgpack.decode(bytes(data), ext_hook=self.plain)
        if code == _SNAPSHOT:
            self.has_snapshot = True
            return value
        path = as_list(value)
        made = as_object(path[2]) if len(path) > 2 else {}
        return {"lc": 1, "type": "constructor", "id": [as_text(name) for name in path[:2]], "kwargs": made}
