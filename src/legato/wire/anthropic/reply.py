"""Write an answer as this provider's response: a body, or a stream of events while it arrives.

In:  an answer, or its deltas, and the name of the model that seems to give it.
Out: what the official client accepts. Ids and signatures are those of the answer, unchanged.
"""

from __future__ import annotations

import msgspec

from legato.model import (
    Answer,
    Block,
    Code,
    Ending,
    HostedTool,
    JsonObject,
    Media,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    Usage,
)
from legato.wire.anthropic.hosted import is_use
from legato.wire.anthropic.shapes import redacted_thinking, text_block, thinking, tool_use
from legato.wire.deltas import answer_id, spoken
from legato.wire.growing import Growing, Part, minted_id
from legato.wire.plain import told
from legato.wire.replying import Event, EventWriter, tool_response_in_answer

_STOP_REASONS = {
    Ending.DONE: "end_turn",
    Ending.CALLS: "tool_use",
    Ending.LENGTH: "max_tokens",
    Ending.REFUSED: "refusal",
    Ending.PAUSED: "pause_turn",
    Ending.CANCELLED: "end_turn",
    Ending.CUT: "end_turn",
}


def reply(answer: Answer, model: str) -> JsonObject:
    """The answer as a response body."""
    response_id = answer_id(answer)
    content: list[JsonObject] = []
    for block in spoken(answer):
        content += _content(block, response_id, len(content))
    return _message(model, response_id) | {
        "content": content,
        "stop_reason": _stop_reason(answer),
        "usage": _usage(answer.usage or Usage()),
    }


class Writer(EventWriter):
    """Writes the events of one message."""

    # Blocks have an index, but the provider sends one after the other, and its TypeScript client takes every delta for
    # one of the last block: https://docs.anthropic.com/en/docs/build-with-claude/streaming
    interleaves = False
    names_events = True

    def begin(self) -> list[Event]:
        """The message without its content."""
        usage = _usage(self.usage) | {"output_tokens": 0}
        return [{"type": "message_start", "message": _message(self.model, self.response_id) | {"usage": usage}}]

    def open(self, part: Part) -> list[Event]:
        """The block before it grows."""
        [hollow] = _content(part.begun, self.response_id, part.place)
        hollow |= _HOLLOW.get(hollow["type"], {})
        return [{"type": "content_block_start", "index": part.place, "content_block": hollow}]

    def grow(self, part: Part, piece: str) -> list[Event]:
        """More of the block."""
        match part.begun:
            case Text():
                return [_delta(part.place, "text_delta", text=piece)]
            case Thinking():
                return [_delta(part.place, "thinking_delta", thinking=piece)]
            case ToolCall():
                return [_delta(part.place, "input_json_delta", partial_json=piece)]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """The signature of a thought, which the client puts where the index says, or what a text cites."""
        native = block.native or {}
        if isinstance(block, Thinking) and native.get("signature"):
            return [_delta(part.place, "signature_delta", signature=native["signature"])]
        if isinstance(block, Text):
            return [_delta(part.place, "citations_delta", citation=one) for one in native.get("citations") or ()]
        return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """The end of the block."""
        return [{"type": "content_block_stop", "index": part.place}]

    def own(self, block: Code | HostedTool | Media) -> list[Event] | None:
        """The blocks of a tool that the provider ran."""
        blocks = _hosted(block)
        return None if blocks is None else [event for item in blocks for event in self._whole(item)]

    def _whole(self, item: JsonObject) -> list[Event]:
        place, self.places = self.places, self.places + 1
        growth: list[Event] = []
        if is_use(item):
            written = msgspec.json.encode(item.get("input", {})).decode()
            growth = [_delta(place, "input_json_delta", partial_json=written)]
            item = {**item, "input": {}}
        start: Event = {"type": "content_block_start", "index": place, "content_block": item}
        return [start, *growth, {"type": "content_block_stop", "index": place}]

    def end(self, answer: Answer) -> list[Event]:
        """How the message ended, and what it cost."""
        ended = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        usage = _usage(answer.usage or Usage())
        return [{"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]


def _delta(place: int, kind: str, **fields: object) -> JsonObject:
    return {"type": "content_block_delta", "index": place, "delta": {"type": kind, **fields}}


# --- what both are made of --------------------------------------------------------------------------------------------


def _message(model: str, response_id: str) -> JsonObject:
    return {
        "id": response_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _content(block: Block, response_id: str, place: int) -> list[JsonObject]:
    native = block.native or {}
    match block:
        case Text():
            return [text_block(block.text) | {"citations": native.get("citations")}]
        case Thinking():
            if "data" in native:
                return [redacted_thinking(native["data"])]
            return [thinking(block.text, native.get("signature", ""))]
        case ToolCall():
            call = tool_use(block.wire_id or minted_id("toolu_", response_id, place), block.name, block)
            return [call | {"caller": native["caller"]} if "caller" in native else call]
        case ToolResponse():
            raise tool_response_in_answer()
        case _:
            return _hosted(block) or [text_block(told(block))]


_HOLLOW: dict[str, JsonObject] = {"text": {"citations": None}, "thinking": {"signature": ""}}
"""what a block does not carry yet when it begins"""


def _hosted(block: Code | HostedTool | Media) -> list[JsonObject] | None:
    native = block.native or {}
    return native.get("blocks") or None if isinstance(block, HostedTool) else None


def _stop_reason(answer: Answer) -> str:
    return _STOP_REASONS[answer.entry.ending or (Ending.CALLS if answer.calls else Ending.DONE)]


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
