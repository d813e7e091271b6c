"""Reach into nested objects by a path such as `generationConfig.topP`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from legato.model import JsonObject
from legato.model.json_access import as_list, as_object

T = TypeVar("T")

_JOINED = frozenset({"tools", "include"})
"""lists of which the parts come from several sources"""


def put(fields: JsonObject, path: str, value: object) -> JsonObject:
    """`fields` with `value` at `path`; the objects on the way are made."""
    *outer, last = path.split(".")
    inner = fields
    for name in outer:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return fields


def take(fields: JsonObject, path: str, understand: Callable[[object], T | None]) -> T | None:
    """What `understand` makes of the value at `path`, which is then taken out, with objects that are empty after it.

    None, with nothing done, if there is no value or it is not understood.
    """
    name, _, rest = path.partition(".")
    if not rest:
        found = understand(fields.get(name))
        if found is not None:
            del fields[name]
        return found
    inner = fields.get(name)
    if not isinstance(inner, dict):
        return None
    found = take(as_object(inner), rest, understand)
    if found is not None and not inner:
        del fields[name]
    return found


def merged(fields: JsonObject, more: JsonObject) -> JsonObject:
    """`fields` and `more`; the second wins, and objects in both are merged."""
    both = dict(fields)
    for name, value in more.items():
        before = fields.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            both[name] = merged(as_object(before), as_object(value))
        elif name in _JOINED and isinstance(before, list) and isinstance(value, list):
            first = as_list(before)
            both[name] = [*first, *(item for item in as_list(value) if item not in first)]
        else:
            both[name] = value
    return both
