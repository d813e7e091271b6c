"""Looking into JSON that somebody else wrote: a field of the wrong type counts as absent."""

from __future__ import annotations

from typing import cast

from legato.model import Json, JsonObject, clean_text


def as_text(value: Json) -> str:
    """`value` if it is text, safe to store, else nothing."""
    return clean_text(value) if isinstance(value, str) else ""


def as_object(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def as_objects(value: Json) -> list[JsonObject]:
    """The objects in `value`, if it is an array."""
    if not isinstance(value, list):
        return []
    return [cast(JsonObject, item) for item in cast("list[Json]", value) if isinstance(item, dict)]


def as_count(value: Json) -> int:
    """`value` if it is a number of things, else zero."""
    return value if type(value) is int and value > 0 else 0
