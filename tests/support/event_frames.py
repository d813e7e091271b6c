"""Streams of every dialect as events, and events as the bytes of a stream: server-sent ones, or AWS's binary frames."""

from __future__ import annotations

import json
from typing import Any

from legato.model import Dialect, JsonObject
from legato.wire.event_stream import FrameParser, write_frame
from legato.wire.sse import SSEParser


def events_of(data: bytes, dialect: Dialect | None = None) -> list[JsonObject]:
    """The JSON objects in a stream; of server-sent events if no dialect is named."""
    parser = FrameParser() if dialect is Dialect.BEDROCK else SSEParser()
    found: list[JsonObject] = []
    for event in (*parser.feed(data), *parser.close()):
        try:
            value = json.loads(event)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def framed(event: Any, dialect: Dialect, written: bytes | None = None) -> bytes:
    """`event` as it is sent; `written` is its JSON where that cannot be written as usual."""
    if dialect is not Dialect.BEDROCK:
        return b"data: " + (json.dumps(event).encode() if written is None else written) + b"\n\n"
    if not isinstance(event, dict) or len(event) != 1:
        return write_frame("event", json.dumps(event).encode())
    [(name, value)] = event.items()
    is_error = str(name).endswith("Exception")
    return write_frame(str(name).encode(errors="replace").decode(), json.dumps(value).encode(), is_error=is_error)
