"""Look into JSON that others wrote: what has the wrong type counts as absent.

In:  any value, mostly the field of an object that may be missing, null, or something else than its schema says.
Out: a value of the type that is asked for, or an empty one.
"""

from __future__ import annotations

from typing import cast

from legato.model.ingest import clean_text
from legato.model.jsonvalue import Json, JsonObject


def as_object(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """`value` if it is an array, else an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def as_objects(value: Json) -> list[JsonObject]:
    """The objects in `value`, if it is an array."""
    if not isinstance(value, list):
        return []
    return [cast(JsonObject, item) for item in cast("list[Json]", value) if isinstance(item, dict)]


def as_text(value: Json) -> str:
    """`value` if it is a string, safe to store, else an empty one."""
    return clean_text(value) if isinstance(value, str) else ""


def as_string(value: Json) -> str:
    """`value` as it is if it is a string, else an empty one: for what is compared, or joined before it is stored."""
    return value if isinstance(value, str) else ""


def as_count(value: Json) -> int:
    """`value` if it is a number of things, else 0."""
    return value if type(value) is int and value > 0 else 0


def present(value: JsonObject) -> JsonObject:
    """`value` without the empty optional fields that SDK objects dump."""
    return {key: item for key, item in value.items() if item is not None}
