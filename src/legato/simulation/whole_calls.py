"""Streams of servers that send each call in one piece.

In:  the chunks of a streamed chat answer, in which the arguments of a call grow from chunk to chunk.
Out: the same, with each call whole in one chunk: Mistral and Ollama stream that way, and their clients read no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import msgspec

from legato.model import JsonObject


def with_whole_calls(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """`chunks` with the fragments of each call joined, where the last one stood."""
    held: JsonObject | None = None
    for chunk in chunks:
        event = _event(chunk)
        fragment = _fragment(event)
        if held is not None and fragment is not None and fragment["index"] == _call(held)["index"]:
            _call(held)["function"]["arguments"] += fragment["function"].get("arguments", "")
            continue
        if held is not None:
            yield _print(held)
            held = None
        if fragment is not None:
            held = event
        else:
            yield chunk
    if held is not None:
        yield _print(held)


def _event(chunk: bytes) -> JsonObject | None:
    data = chunk.removeprefix(b"data: ").strip()
    return cast(JsonObject, msgspec.json.decode(data)) if data.startswith(b"{") else None


def _fragment(event: JsonObject | None) -> JsonObject | None:
    choices: list[JsonObject] = [] if event is None else event["choices"]
    calls: list[JsonObject] = choices[0]["delta"].get("tool_calls", []) if choices else []
    return calls[0] if calls and calls[0].get("type", "function") == "function" else None


def _call(event: JsonObject) -> JsonObject:
    return event["choices"][0]["delta"]["tool_calls"][0]


def _print(event: JsonObject) -> bytes:
    return b"data: " + msgspec.json.encode(event) + b"\n\n"
