"""Values as JSON where they may name files: a name is bytes, and not every name is UTF-8.

In Python such a name holds halves of surrogate pairs, which JSON cannot carry. They are written as the escapes that
name them, as in text for a person (`printable`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

_encode = msgspec.json.Encoder().encode


def encode_json(value: object) -> bytes:
    """`value` as JSON in one line."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(_whole(msgspec.to_builtins(value)))


def encode_indented(value: object) -> bytes:
    """`value` as JSON for people, who read it in lines."""
    return msgspec.json.format(encode_json(value), indent=2)


def _whole(value: Any) -> Any:
    """`value` with every half of a surrogate pair as the escape that names it."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in cast("Sequence[Any]", value)]
    return value
