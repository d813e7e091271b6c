"""What is peculiar to Google's JSON: two ways to write a name, lists of one, numbers in quotes, and bytes.

Names come in camelCase from the API and in snake_case from some clients; inside the arguments of a call or the response
to it, names belong to the tool and stay as they are.
"""

from __future__ import annotations

import base64

import msgspec

from legato.model import Json, JsonObject
from legato.model.json_access import as_data, as_list, as_object


def as_base64(value: Json) -> str:
    """Bytes as base64, which they already are in JSON; SDK objects hold them decoded, or dump them as a data URL."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return as_data(value)


def repeated(value: Json) -> list[Json]:
    """The items of a repeated field, of which a single one may stand there without a list around it."""
    return [value] if isinstance(value, dict) else as_list(value)


def unquoted(value: Json) -> Json:
    """A number that is written as a text, as a number; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value, type=int | float)
    except (msgspec.DecodeError, UnicodeError):
        return value


def camel(value: Json) -> JsonObject:
    """An object with its own names in camelCase, without the empty optional fields that SDK objects dump."""
    fields = as_object(value)
    if None not in fields.values() and "_" not in "".join(fields):
        return fields  # as the API itself sends it
    return {_camel_name(name): item for name, item in fields.items() if item is not None}


def _camel_name(name: str) -> str:
    if "_" not in name:
        return name
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest) if first else name
