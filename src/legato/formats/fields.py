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


def as_objects(value: Json) -> list[JsonObject]:
    """The objects in the array `value`."""
    return [cast(JsonObject, item) for item in as_list(value) if isinstance(item, dict)]


def as_text(value: Json) -> str:
    """`value` if it is a string, safe to store, else an empty one."""
    return clean_text(value) if isinstance(value, str) else ""


def well_typed(items: Json, levels: int = 4) -> list[Json]:
    """Messages or parts, without the `type` and `role` of those where that is no word, down to parts of parts.

    What lies deeper than so many `levels` is data (arguments, schemas) and may hold such fields as it likes.
    """
    return [_well_typed(as_object(item), levels) if isinstance(item, dict) else item for item in as_list(items)]


def _well_typed(item: JsonObject, levels: int) -> JsonObject:
    wrong = [name for name in ("type", "role") if name in item and not isinstance(item[name], str)]
    lists = [name for name in ("content", "parts") if levels > 1 and isinstance(item.get(name), list)]
    if not wrong and not lists:
        return item
    kept = {name: value for name, value in item.items() if name not in wrong}
    for name in lists:
        kept[name] = well_typed(item[name], levels - 1)
    return kept


def first_text(value: JsonObject, *names: str) -> str:
    """The first of these fields that holds text."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found:
            return clean_text(found)
    return ""
