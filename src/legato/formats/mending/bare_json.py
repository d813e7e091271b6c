"""JSON taken from a file with as little interpretation as possible, for comparing two files.

The readers clean up values on the way in: they cut very long strings and very deep values, and the last of two equal
keys wins. Here nothing is dropped, so that such a cut can be noticed.
"""

from __future__ import annotations

import json
from typing import Any

from legato.formats.fields import as_list, as_object
from legato.model import Json, JsonObject


class UnreadableJson(Exception):
    """Bytes that cannot be compared, because they are not JSON or nested too deeply."""


def parse_raw(data: bytes) -> Json:
    """The value in `data`, with both values of a repeated key; raises `UnreadableJson`."""
    text = data.replace(b"\0", b"").decode("utf-8-sig", "replace")
    try:
        return json.loads(text, object_pairs_hook=_all_pairs, strict=False)
    except (ValueError, RecursionError):
        raise UnreadableJson from None


def _all_pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
    found: JsonObject = {}
    for name, value in pairs:
        found[name if name not in found else f"{name} (again)"] = value
    return found


def canonical(value: Json) -> str:
    """`value` as text that does not depend on the order of keys."""
    return json.dumps(_safe_value(value), ensure_ascii=False, sort_keys=True)


def safe_text(text: str) -> str:
    """`text` as it can be written to a file: U+FFFD replaces lone surrogates and NUL. It is never cut."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")


def _safe_value(value: Json) -> Json:
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, dict):
        return {safe_text(name): _safe_value(item) for name, item in as_object(value).items()}
    return [_safe_value(item) for item in as_list(value)] if isinstance(value, list) else value
