"""Write an answer as the result of a language model of the AI SDK: whole, or a stream of parts while it arrives.

In:  an answer, or its deltas, and the name of the model that is to have given it.
Out: what `doGenerate` gives (`finishReason` and `usage` in their grouped form), or the stream parts of `doStream` as
     server-sent events.

Call ids are those of the answer; ids of texts and thoughts are their places.
"""

from __future__ import annotations

import msgspec

from legato.model import (
    Answer,
    Block,
    CallKind,
    Code,
    Ending,
    HostedTool,
    Json,
    JsonObject,
    Media,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    Usage,
)
from legato.model.json_access import as_object
from legato.wire.arguments import written_arguments
from legato.wire.deltas import answer_id, spoken
from legato.wire.growing import Growing, Part, minted_id
from legato.wire.plain import told
from legato.wire.replying import DONE, Event, EventWriter, tool_response_in_answer
from legato.wire.vercel.shapes import generated_file, reasoning_part, text_part, written_call

_REASONS = {
    Ending.DONE: "stop",
    Ending.CALLS: "tool-calls",
    Ending.LENGTH: "length",
    Ending.REFUSED: "content-filter",
    Ending.CUT: "interrupted",
    Ending.CANCELLED: "interrupted",
    Ending.PAUSED: "other",
}


def reply(answer: Answer, model: str) -> JsonObject:
    """`answer` as a generate result."""
    response_id = answer_id(answer)
    content: list[JsonObject] = []
    for block in spoken(answer):
        content += _content(block, response_id, len(content))
    return {"content": content, **_ended(answer), "warnings": [], "response": {"id": response_id, "modelId": model}}


class Writer(EventWriter):
    """Writes the stream parts of one answer."""

    free_text = ('"', '"')

    def begin(self) -> list[Event]:
        """Who answers."""
        about: Event = {"type": "response-metadata", "id": self.response_id, "modelId": self.model}
        return [{"type": "stream-start", "warnings": []}, about]

    def open(self, part: Part) -> list[Event]:
        """A text, a thought or the input of a call begins."""
        if isinstance(part.begun, ToolCall):
            named = {"id": self._call_id(part), "toolName": part.begun.name}
            return [{"type": "tool-input-start", **named}]
        return [{"type": f"{_kind(part)}-start", "id": str(part.place)}]

    def grow(self, part: Part, piece: str) -> list[Event]:
        """More of it."""
        if isinstance(part.begun, ToolCall):
            return [{"type": "tool-input-delta", "id": self._call_id(part), "delta": piece}]
        return [{"type": f"{_kind(part)}-delta", "id": str(part.place), "delta": piece}]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """What the provider wants to see again comes with the end."""
        return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """Its end; a call is then repeated whole."""
        if not isinstance(block, ToolCall):
            return [_signed({"type": f"{_kind(part)}-end", "id": str(part.place)}, block.native)]
        call_id = self._call_id(part)
        call = _signed(written_call(call_id, block.name, _input(part.begun, part.text)), block.native)
        return [{"type": "tool-input-end", "id": call_id}, call]

    def own(self, block: Code | HostedTool | Media) -> list[Event] | None:
        """A tool that the provider ran, or a file."""
        parts = _own(block, self.response_id, self.places)
        if parts is None:
            return None
        self.places += len(parts)
        return [event for part in parts for event in _grown(part)]

    def end(self, answer: Answer) -> list[Event]:
        """How the answer ended, and what it cost."""
        return [{"type": "finish", **_ended(answer)}, DONE]

    def _call_id(self, part: Part) -> str:
        assert isinstance(part.begun, ToolCall)  # nothing else has one
        return part.begun.wire_id or minted_id("call_", self.response_id, part.place)


def _kind(part: Part) -> str:
    return "text" if isinstance(part.begun, Text) else "reasoning"


def _grown(part: JsonObject) -> list[Event]:
    """A part that is there at once; the input of a hosted tool is written like any other."""
    if part["type"] != "tool-call":
        return [part]
    call_id = part["toolCallId"]
    return [
        {"type": "tool-input-start", "id": call_id, "toolName": part["toolName"], "providerExecuted": True},
        {"type": "tool-input-delta", "id": call_id, "delta": part["input"]},
        {"type": "tool-input-end", "id": call_id},
        part,
    ]


# --- what both are made of --------------------------------------------------------------------------------------------


def _ended(answer: Answer) -> JsonObject:
    reason = _REASONS[answer.entry.ending or (Ending.CALLS if answer.calls else Ending.DONE)]
    return {"finishReason": {"unified": reason, "raw": reason}, "usage": _usage(answer.usage or Usage())}


def _usage(usage: Usage) -> JsonObject:
    return {
        "inputTokens": {
            "total": usage.input,
            "noCache": max(usage.input - usage.cache_read - usage.cache_write, 0),
            "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write,
        },
        "outputTokens": {
            "total": usage.output,
            "text": max(usage.output - usage.reasoning, 0),
            "reasoning": usage.reasoning,
        },
    }


def _content(block: Block, response_id: str, place: int) -> list[JsonObject]:
    match block:
        case Text():
            return [_signed(text_part(block.text), block.native)]
        case Thinking():
            return [_signed(reasoning_part(block.text), block.native)]
        case ToolCall():
            call_id = block.wire_id or minted_id("call_", response_id, place)
            written = _input(block, written_arguments(block))
            return [_signed(written_call(call_id, block.name, written), block.native)]
        case ToolResponse():
            raise tool_response_in_answer()
        case _:
            return _own(block, response_id, place) or [text_part(told(block))]


def _input(call: Growing, written: str) -> str:
    """The arguments as the model wrote them, even where they are not JSON; free text is a JSON string."""
    is_free_text = isinstance(call, ToolCall) and call.kind is CallKind.CUSTOM
    return msgspec.json.encode(written).decode() if is_free_text else written


def _signed(part: JsonObject, native: JsonObject | None) -> JsonObject:
    if native is not None and "providerOptions" in native:
        part["providerMetadata"] = native["providerOptions"]
    return part


def _own(block: Code | HostedTool | Media, response_id: str, place: int) -> list[JsonObject] | None:
    match block:
        case HostedTool():
            return None if block.silent else _hosted(block, response_id, place)
        case Media():
            printed = generated_file(block)
            return None if printed is None else [_signed(printed, block.native)]
        case Code():
            return None


def _hosted(block: HostedTool, response_id: str, place: int) -> list[JsonObject]:
    parts: list[JsonObject] | None = (block.native or {}).get("parts")
    if parts is not None:
        return [_as_result(part) for part in parts]
    call_id = block.wire_id or minted_id("call_", response_id, place)
    call = written_call(call_id, block.name, msgspec.json.encode(block.arguments).decode())
    result: Json = "" if block.result is None else block.result
    identity = {"toolCallId": call_id, "toolName": block.name}
    return [call | {"providerExecuted": True}, {"type": "tool-result", **identity, "result": result}]


def _as_result(part: JsonObject) -> JsonObject:
    """A part of a message in the form that a language model gives it."""
    printed = {name: value for name, value in part.items() if name not in ("providerOptions", "input", "output")}
    if "input" in part:
        printed["input"] = msgspec.json.encode(part["input"]).decode()
    if "output" in part:
        output = as_object(part["output"])
        printed["result"] = output.get("value", "")
        if str(output.get("type")).startswith("error"):
            printed["isError"] = True
    return _signed(printed, part)
