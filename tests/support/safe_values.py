"""Whether what was kept of something read is safe: no store and no provider can choke on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from legato.model import JsonObject, ingest
from legato.model.ingestion import MAX_DEPTH


def assert_safe(value: object) -> None:
    """Nothing in `value` is what a store or a provider could choke on."""
    assert all(ingest(part) == part for part in leaves(msgspec.to_builtins(value), 0))


def leaves(value: Any, depth: int) -> Iterator[str | float | None]:
    assert depth <= MAX_DEPTH + 16  # what is cut at the limit stands some levels deep itself
    if isinstance(value, dict):
        for key, item in cast("JsonObject", value).items():
            yield key
            yield from leaves(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from leaves(item, depth + 1)
    else:
        yield value
