"""Replay the log in which VS Code keeps a chat session: an object, and what was changed in it since.

In:  records with a `kind`: 0 the whole object, 1 a value to set at a path, 2 values to add to the list at a path, which
     may first be cut at an index, 3 a path to delete. Known from VS Code's `objectMutationLog.ts`.
Out: the object as it is at the end, and the records that fit nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from legato.formats.content import Item
from legato.formats.fields import as_list, as_object
from legato.model import Json, JsonObject

_WHOLE, _SET, _ADD, _DELETE = range(4)


def replay(records: Iterable[Item]) -> tuple[JsonObject, list[str]]:
    """The object at the end, and the places of records that could not be applied."""
    state: JsonObject = {}
    left: list[str] = []
    for item in records:
        record = item.value
        kind, path = record.get("kind"), as_list(record.get("k"))
        if "requests" in record:  # a session that was never changed, on a line of its own
            state = record
        elif kind == _WHOLE and "requests" in as_object(record.get("v")):  # any other object is no session
            state = as_object(record["v"])
        elif not path or not _is_whole(kind) or kind not in (_SET, _ADD, _DELETE) or not _apply(state, path, record):
            left.append(item.place)
    return state, left


def _apply(state: JsonObject, path: list[Json], record: JsonObject) -> bool:
    """Change the object as the record says; false, with nothing done, where its path leads nowhere."""
    holder: Json = state
    for step in path[:-1]:
        holder = _at(holder, step)
    last = path[-1]
    if record["kind"] == _ADD:
        return _add(holder, last, record)
    value = record.get("v") if record["kind"] == _SET else None
    if isinstance(holder, dict) and isinstance(last, str):
        as_object(holder)[last] = value
        return True
    if _is_whole(last) and isinstance(holder, list) and 0 <= last <= len(own := as_list(holder)):
        own[last : last + 1] = [value]
        return True
    return False


def _add(holder: Json, name: Json, record: JsonObject) -> bool:
    held, added, cut = _at(holder, name), record.get("v"), record.get("i")
    if added is not None and not isinstance(added, list):
        return False
    if held is None and isinstance(holder, dict) and isinstance(name, str):
        held = as_object(holder)[name] = list[Json]()
    if not isinstance(held, list):
        return False
    own = as_list(held)
    if _is_whole(cut) and cut >= 0:
        del own[cut:]
    own += as_list(added)
    return True


def _at(holder: Json, step: Json) -> Json:
    if isinstance(holder, dict) and isinstance(step, str):
        return as_object(holder).get(step)
    if _is_whole(step) and 0 <= step < len(own := as_list(holder)):
        return own[step]
    return None


def _is_whole(value: Json) -> TypeGuard[int]:
    """Whether `value` is a whole number, which true and false are for Python alone."""
    return type(value) is int
