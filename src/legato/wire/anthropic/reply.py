"""Write an answer as a response of the Messages API.

In:  an answer, or its deltas, and the name of the model that seems to give it.
Out: what the official client accepts. Ids and signatures are those of the answer, unchanged.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from legato.model import Answer, Ending, HostedTool, JsonObject, Text, Thinking, ToolCall, Usage
from legato.wire.anthropic.hosted import is_use
from legato.wire.anthropic.shapes import redacted_thinking, text_block, thinking, tool_use
from legato.wire.growing import Growing, Part, Whole, minted_id
from legato.wire.replying import Event, EventWriter

_STOP_REASONS = {
    Ending.DONE: "end_turn",
    Ending.CALLS: "tool_use",
    Ending.LENGTH: "max_tokens",
    Ending.REFUSED: "refusal",
    Ending.PAUSED: "pause_turn",
    Ending.CUT: "max_tokens",  # a body has no other word for an answer that is not whole
    Ending.CANCELLED: "max_tokens",
}
_GROWTH = {
    Text: ("text_delta", "text"),
    Thinking: ("thinking_delta", "thinking"),
    ToolCall: ("input_json_delta", "partial_json"),
}
_HOLLOW: dict[str, JsonObject] = {"text": {"citations": None}, "thinking": {"signature": ""}}
"""what a block does not carry yet when it begins"""


class Writer(EventWriter):
    """Writes one message, or its events."""

    # Blocks have an index, but the provider sends one after the other, and its TypeScript client takes every delta for
    # one of the last block: https://docs.anthropic.com/en/docs/build-with-claude/streaming
    interleaves = False
    names_events = True
    reasons = _STOP_REASONS

    def item(self, block: Growing, place: int) -> JsonObject:
        """A content block."""
        native = block.native or {}
        match block:
            case ToolCall():
                call = tool_use(block.wire_id or minted_id("toolu_", self.response_id, place), block.name, block)
                return call | {"caller": native["caller"]} if "caller" in native else call
            case Text():
                return text_block(block.text) | {"citations": native.get("citations")}
            case Thinking():
                is_redacted = "data" in native
                return (
                    redacted_thinking(native["data"])
                    if is_redacted
                    else thinking(block.text, native.get("signature", ""))
                )

    def own(self, block: Whole, place: int) -> list[JsonObject] | None:
        """The blocks of a tool that the provider ran."""
        return (block.native or {}).get("blocks") or None if isinstance(block, HostedTool) else None

    def body(self, answer: Answer) -> JsonObject:
        """The message."""
        return self._message(answer.usage or self.usage) | {"content": self.output, "stop_reason": self.reason(answer)}

    def begin(self) -> list[Event]:
        """The message without its content."""
        return [{"type": "message_start", "message": self._message(replace(self.usage, output=0))}]

    def open(self, part: Part) -> list[Event]:
        """The block before it grows."""
        item = self.output[part.place]
        return [_started(part.place, item | _HOLLOW.get(item["type"], {}))]

    def grow(self, part: Part, piece: str) -> list[Event]:
        """More of the block."""
        return [] if part.is_redacted else [_delta(part.place, *_GROWTH[type(part.begun)], piece)]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """The signature of a thought, which the client puts where the index says, or what a text cites."""
        native = block.native or {}
        if isinstance(block, Thinking) and native.get("signature"):
            return [_delta(part.place, "signature_delta", "signature", native["signature"])]
        if isinstance(block, Text):
            return [_delta(part.place, "citations_delta", "citation", one) for one in native.get("citations") or ()]
        return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """The end of the block."""
        return [_stopped(part.place)]

    def put(self, item: JsonObject, place: int) -> list[Event]:
        """A block that comes whole; what a tool of the provider was asked grows like the input of any call."""
        if not is_use(item):
            return [_started(place, item), _stopped(place)]
        written = msgspec.json.encode(item.get("input", {})).decode()
        growth = _delta(place, *_GROWTH[ToolCall], written)
        return [_started(place, {**item, "input": {}}), growth, _stopped(place)]

    def end(self, answer: Answer) -> list[Event]:
        """How the message ended, and what it cost."""
        ended = {"stop_reason": self.reason(answer), "stop_sequence": None}
        usage = _usage(answer.usage or self.usage)
        return [{"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]

    def _message(self, usage: Usage) -> JsonObject:
        """The message before anything is in it."""
        return {
            "id": self.response_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(usage),
        }


def _started(place: int, block: JsonObject) -> Event:
    return {"type": "content_block_start", "index": place, "content_block": block}


def _delta(place: int, kind: str, field: str, piece: object) -> Event:
    return {"type": "content_block_delta", "index": place, "delta": {"type": kind, field: piece}}


def _stopped(place: int) -> Event:
    return {"type": "content_block_stop", "index": place}


def _usage(usage: Usage) -> JsonObject:
    printed: JsonObject = {
        "input_tokens": max(0, usage.input - usage.cache_read - usage.cache_write),
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }
    if usage.reasoning:
        printed["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return printed
