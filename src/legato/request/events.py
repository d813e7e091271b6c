"""Read the events of the official clients' streams.

In:  an event as a client gives it: its object, or plain data.
Out: the event as it was on the wire, for the dialect's own decoder.

Some clients wrap the event of the wire in one of their own: Mistral's in `data`, OpenAI's chat helper in `chunk`. The
helpers' other events only repeat it in another form, and decoders pass over them. A helper's `snapshot` of all that
came so far is left alone, so that an answer costs what is in it and not its square.
"""

from __future__ import annotations

from typing import Any, cast

from legato.errors import BadAnswer
from legato.model import JsonObject, ingest_sent

_WRAPPERS = ("chunk", "data")
_REPEATS = frozenset({"snapshot"})


def plain_event(event: object) -> JsonObject:
    """`event` as the data that it was on the wire."""
    if type(event) is dict:
        return cast(JsonObject, event)
    for name in _WRAPPERS:
        inner = getattr(event, name, None)
        if callable(getattr(inner, "model_dump", None)):
            event = inner
            break
    value = ingest_sent(_without_repeats(event))
    if not isinstance(value, dict):
        raise BadAnswer(f"an event of a stream should be an object, not {type(event).__name__}", layer="decode")
    return cast(JsonObject, value)


def _without_repeats(event: object) -> object:
    fields: Any = getattr(event, "__dict__", None)
    if not isinstance(fields, dict) or not _REPEATS & cast("dict[str, object]", fields).keys():
        return event
    dump: Any = getattr(event, "model_dump", None)
    return dump(exclude=set(_REPEATS), by_alias=True, exclude_none=True, warnings=False) if callable(dump) else event
