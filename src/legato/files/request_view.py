"""A request body message by message, each cut into the parts that a reader can point at.

In:  a request.
Out: messages in order, each with chunks of JSON; a chunk that is a call or a result names the call it belongs to.

Calls are found by the ids that the report says were emitted; where a dialect prints none (some Gemini models), by
their order, which is the report's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import msgspec

from legato.diagnostics import Redactor
from legato.model import CallId, Json, JsonObject, ingest
from legato.request import Request
from legato.wire.dialects import dialect_parts

_LISTS = ("content", "parts", "tool_calls", "output")
_RESULT_KEYS = ("tool_use_id", "tool_call_id")
_ID_KEYS = (*_RESULT_KEYS, "call_id", "toolCallId", "id")
_CONVERSE = {"toolUse": "call", "toolResult": "result"}
_RESULT_TYPES = ("tool_result", "tool-result", "function_call_output", "custom_tool_call_output")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a message. `side` is `call`, `result`, or empty for anything else."""

    json: str
    side: str = ""
    call: CallId | None = None


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message, or one item where a dialect has no messages."""

    title: str
    chunks: list[Chunk]


def envelope_json(request: Request, *, redactor: Redactor, limit: int) -> str:
    """What is around the messages, as JSON."""
    field = dialect_parts(request.target.dialect).messages_field
    held = {name: value for name, value in request.body.items() if name != field}
    return _pretty(cast(Json, held), redactor, limit)


def message_views(request: Request, *, redactor: Redactor, limit: int) -> list[MessageView]:
    """The messages of the request."""
    cutter = _MessageCutter(request, redactor, limit)
    messages = cast("list[JsonObject]", request.body[dialect_parts(request.target.dialect).messages_field])
    return [cutter.view(index, message) for index, message in enumerate(messages)]


class _MessageCutter:
    def __init__(self, request: Request, redactor: Redactor, limit: int) -> None:
        self.redactor = redactor
        self.limit = limit
        emitted = request.report.emitted
        self.by_id = {call.wire_id: call.call_id for call in emitted}
        self.unnamed = {side: iter([call.call_id for call in emitted]) for side in ("call", "result")}

    def view(self, index: int, message: JsonObject) -> MessageView:
        title = str(message.get("role") or message.get("type") or "item")
        return MessageView(f"[{index}] {title}", list(self._chunks(message)))

    def _chunks(self, message: JsonObject) -> Iterator[Chunk]:
        """The message itself without its lists, then every element of those."""
        lists = [name for name in _LISTS if isinstance(message.get(name), list)]
        rest = {name: value for name, value in message.items() if name not in lists and name != "role"}
        side, call = self._points_at(message)
        if call is not None and "output" in lists:  # a result whose output is made of parts is one thing
            yield Chunk(self._json(message), side, call)
            return
        if rest:
            yield Chunk(self._json(rest), side, call)
        for name in lists:
            for item in cast("list[Json]", message[name]):
                side, call = self._points_at(cast(JsonObject, item)) if isinstance(item, dict) else ("", None)
                yield Chunk(self._json(item), side, call)

    def _points_at(self, item: JsonObject) -> tuple[str, CallId | None]:
        for name, side in _CONVERSE.items():
            if isinstance(held := item.get(name), dict):
                return side, self.by_id.get(str(cast(JsonObject, held).get("toolUseId", "")))
        inner = item.get("functionCall") or item.get("functionResponse")
        if isinstance(inner, dict):
            side = "call" if "functionCall" in item else "result"
            known = self.by_id.get(str(cast(JsonObject, inner).get("id", "")))
            return side, known or next(self.unnamed[side], None)
        for key in _ID_KEYS:
            value = item.get(key)
            if isinstance(value, str) and value in self.by_id:
                is_result = key in _RESULT_KEYS or item.get("type") in _RESULT_TYPES
                return "result" if is_result else "call", self.by_id[value]
        return "", None

    def _json(self, value: Json) -> str:
        return _pretty(value, self.redactor, self.limit)


def _pretty(value: Json, redactor: Redactor, limit: int) -> str:
    text = msgspec.json.format(msgspec.json.encode(redactor.value(_clipped(ingest(value), limit))), indent=2).decode()
    return text if len(text) <= 2 * limit else f"{text[: 2 * limit]}… [{len(text) - 2 * limit:,} more characters]"


def _clipped(value: Json, limit: int) -> Json:
    """`value` with long texts cut: an image as base64 is nothing to read."""
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[:limit]}… [{len(value) - limit:,} more characters]"
    if isinstance(value, dict):
        return {name: _clipped(item, limit) for name, item in cast("dict[str, Json]", value).items()}
    if isinstance(value, list):
        return [_clipped(item, limit) for item in cast("list[Json]", value)]
    return value
