"""Looking into JSON that someone else wrote: a field of the wrong type counts as absent."""

from __future__ import annotations

from datetime import UTC, datetime

from legato.model import Json, JsonObject, Usage, clean_text
from legato.model.json_access import as_count, as_id, as_list, as_object, as_objects, as_text

__all__ = [
    "NEWEST",
    "as_id",
    "as_list",
    "as_object",
    "as_objects",
    "as_seconds",
    "as_text",
    "as_time",
    "as_usage",
    "first_id",
    "first_text",
    "well_typed",
]


def well_typed(items: Json, levels: int = 4) -> list[Json]:
    """Messages or parts, without the `type` and `role` of those where that is no word, down to parts of parts.

    What lies deeper than so many `levels` is data (arguments, schemas) and may hold any such fields.
    """
    return [_well_typed(as_object(item), levels) if isinstance(item, dict) else item for item in as_list(items)]


def _well_typed(item: JsonObject, levels: int) -> JsonObject:
    kept = item
    for name in ("type", "role"):
        if name in item and not isinstance(item[name], str):
            kept = {key: value for key, value in kept.items() if key != name}
    if levels > 1:
        for name in ("content", "parts"):
            if isinstance(item.get(name), list):
                kept = {**kept, name: well_typed(item[name], levels - 1)}
    return kept


def as_time(value: Json) -> float | None:
    """A moment in seconds since the epoch: programs write it as ISO 8601, or as a number of milliseconds."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return as_seconds((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            return None
    return as_seconds(value, parts=1_000)


def as_seconds(value: Json, *, parts: int = 1) -> float | None:
    """A moment in seconds since the epoch, of a program that counts seconds, or so many `parts` of each."""
    # Compared before it is divided: a whole number may be too large for a float.
    if not isinstance(value, int | float) or not _OLDEST * parts <= value <= NEWEST * parts:
        return None
    return value / parts


_OLDEST, NEWEST = 0.9e9, 4.1e9
"""seconds in 1998 and in 2099: outside them there is no moment at which an agent wrote (our choice)"""


def as_usage(counts: JsonObject, asked: str, given: str, read: str, written: str, thought: str = "") -> Usage:
    """Tokens in fields of these names, where what went through a cache is counted apart from the rest of the input."""
    cached, kept = as_count(counts.get(read)), as_count(counts.get(written))
    return Usage(
        input=as_count(counts.get(asked)) + cached + kept,
        output=as_count(counts.get(given)),
        cache_read=cached,
        cache_write=kept,
        reasoning=as_count(counts.get(thought)) if thought else 0,
    )


def first_id(value: JsonObject, *names: str) -> str:
    """The first of these fields that holds an id; numbers are ids too."""
    for name in names:
        found = value.get(name)
        if found is not None and (own := as_id(found)):
            return own
    return ""


def first_text(value: JsonObject, *names: str) -> str:
    """The first of these fields that holds text."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found:
            return clean_text(found)
    return ""
