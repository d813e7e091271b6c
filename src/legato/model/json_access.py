"""Look into JSON that others wrote: what has the wrong type counts as absent.

In:  any value, mostly the field of an object that may be missing, null, or something else than its schema says.
Out: a value of the type that is asked for, or an empty one.
"""

from __future__ import annotations

import msgspec

from legato.model.ingestion import clean_text, ingest
from legato.model.jsonvalue import Json, JsonObject

# These are asked for every field of everything that is read. Telling the checker what JSON holds takes a `cast`, which
# costs as much as the question itself, so it is told to take their word for it.
# pyright: reportUnknownVariableType=false


def as_object(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_objects(value: Json) -> list[JsonObject]:
    """The objects in `value`, if it is an array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_text(value: Json) -> str:
    """`value` if it is a string, safe to store, else an empty one."""
    return clean_text(value) if isinstance(value, str) else ""


def as_string(value: Json) -> str:
    """`value` as it is if it is a string, else an empty one: for what is compared, or joined before it is stored."""
    return value if isinstance(value, str) else ""


def as_id(value: Json) -> str:
    """`value` as the id of a call: a number is as good a name as a string, as long as all who use it write it alike."""
    if value is None or isinstance(value, str):
        return as_text(value)
    return msgspec.json.encode(ingest(value), order="sorted").decode()


def as_data(value: Json) -> str:
    """`value` as the base64 that it is, or that is in it if it is a whole data URL."""
    text = as_text(value)
    return text.partition(";base64,")[2] if text.startswith("data:") else text


def as_count(value: Json) -> int:
    """`value` if it is a number of things that can be stored, else 0."""
    return value if type(value) is int and 0 < value < 2**63 else 0


def present(value: JsonObject) -> JsonObject:
    """`value` without the empty optional fields that SDK objects dump."""
    return {key: item for key, item in value.items() if item is not None}
