"""Write an answer as a response of the Converse API.

In:  an answer, or its deltas.
Out: what the official client accepts. Ids and signatures are those of the answer, unchanged.
"""

from __future__ import annotations

import msgspec

from legato.model import Answer, Ending, HostedTool, JsonObject, Text, Thinking, ToolCall, Usage
from legato.wire.bedrock.shapes import assistant, reasoning, redacted_reasoning, text_block, tool_use
from legato.wire.event_stream import write_frame
from legato.wire.growing import Growing, Part, Whole, minted_id
from legato.wire.replying import Event, EventWriter

_STOP_REASONS = {
    Ending.DONE: "end_turn",
    Ending.CALLS: "tool_use",
    Ending.LENGTH: "max_tokens",
    Ending.REFUSED: "content_filtered",
    Ending.PAUSED: "end_turn",
    Ending.CUT: "max_tokens",  # a body has no other word for an answer that is not whole
    Ending.CANCELLED: "max_tokens",
}


class Writer(EventWriter):
    """Writes one message, or its events."""

    interleaves = False
    reasons = _STOP_REASONS

    def item(self, block: Growing, place: int) -> JsonObject:
        """A content block."""
        native = block.native or {}
        match block:
            case ToolCall():
                return tool_use(block.wire_id or minted_id("tooluse_", self.response_id, place), block.name, block)
            case Text():
                return text_block(block.text)
            case Thinking() if "data" in native:
                return redacted_reasoning(native["data"])
            case Thinking():
                return reasoning(block.text, native.get("signature", ""))

    def own(self, block: Whole, place: int) -> list[JsonObject] | None:
        """The blocks of a tool that the service ran."""
        return (block.native or {}).get("blocks") or None if isinstance(block, HostedTool) else None

    def body(self, answer: Answer) -> JsonObject:
        """The response."""
        return {
            "output": {"message": assistant(self.output)},
            "stopReason": self.reason(answer),
            "usage": _usage(answer.usage or self.usage),
            "metrics": {"latencyMs": 0},
        }

    def begin(self) -> list[Event]:
        """The message without its content."""
        return [{"messageStart": {"role": "assistant"}}]

    def open(self, part: Part) -> list[Event]:
        """Only a call has an event that starts it; text and reasoning begin with their first delta."""
        call = self.output[part.place].get("toolUse")
        return [_started(part.place, call)] if call is not None else []

    def grow(self, part: Part, piece: str) -> list[Event]:
        """More of the block."""
        match part.begun:
            case Text():
                return [_delta(part.place, {"text": piece})]
            case Thinking():
                return [] if part.is_redacted else [_delta(part.place, {"reasoningContent": {"text": piece}})]
            case ToolCall():
                return [_delta(part.place, {"toolUse": {"input": piece}})]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """The signature of a thought, or what the provider hid of it."""
        native = block.native or {}
        if not isinstance(block, Thinking):
            return []
        kinds = (("redactedContent", "data"), ("signature", "signature"))
        signed = [{"reasoningContent": {kind: native[name]}} for kind, name in kinds if native.get(name)]
        return [_delta(part.place, delta) for delta in signed[:1]]

    def close(self, part: Part, block: Growing) -> list[Event]:
        """The end of the block."""
        return [_stopped(part.place)]

    def put(self, item: JsonObject, place: int) -> list[Event]:
        """A block that comes whole."""
        call, result = item.get("toolUse"), item.get("toolResult")
        if call is not None:
            written = msgspec.json.encode(call.get("input", {})).decode()
            return [_started(place, call), _delta(place, {"toolUse": {"input": written}}), _stopped(place)]
        if result is None:
            return [{"contentBlockStart": {"start": item, "contentBlockIndex": place}}, _stopped(place)]
        start = {name: value for name, value in result.items() if name != "content"}
        started = {"contentBlockStart": {"start": {"toolResult": start}, "contentBlockIndex": place}}
        return [started, _delta(place, {"toolResult": result.get("content", [])}), _stopped(place)]

    def end(self, answer: Answer) -> list[Event]:
        """How the message ended, and what it cost."""
        told = {"usage": _usage(answer.usage or self.usage), "metrics": {"latencyMs": 0}}
        return [{"messageStop": {"stopReason": self.reason(answer)}}, {"metadata": told}]

    def frame(self, event: JsonObject) -> bytes:
        """The event as a frame of AWS's binary stream."""
        [(name, payload)] = event.items()
        return write_frame(name, msgspec.json.encode(payload))


def _started(place: int, call: JsonObject) -> Event:
    start = {name: value for name, value in call.items() if name != "input"}
    return {"contentBlockStart": {"start": {"toolUse": start}, "contentBlockIndex": place}}


def _delta(place: int, delta: JsonObject) -> Event:
    return {"contentBlockDelta": {"delta": delta, "contentBlockIndex": place}}


def _stopped(place: int) -> Event:
    return {"contentBlockStop": {"contentBlockIndex": place}}


def _usage(usage: Usage) -> JsonObject:
    return {
        "inputTokens": max(0, usage.input - usage.cache_read - usage.cache_write),
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "cacheReadInputTokens": usage.cache_read,
        "cacheWriteInputTokens": usage.cache_write,
    }
