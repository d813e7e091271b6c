"""Looking into JSON that somebody else wrote: a field of the wrong type counts as absent."""

from __future__ import annotations

from typing import cast

from legato.model import Json, JsonObject, clean_text


def as_object(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """`value` if it is an array, else an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def as_text(value: Json) -> str:
    """`value` if it is a string, safe to store, else an empty one."""
    return clean_text(value) if isinstance(value, str) else ""


def as_count(value: Json) -> int:
    """`value` if it is a whole number, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def present(value: JsonObject) -> JsonObject:
    """`value` without the empty optional fields that SDK objects dump."""
    return {key: item for key, item in value.items() if item is not None}
