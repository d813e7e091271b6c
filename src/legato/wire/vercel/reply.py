"""Write an answer as the result of a language model of the AI SDK.

In:  an answer, or its deltas, and the name of the model that is to have given it.
Out: what `doGenerate` gives (`finishReason` and `usage` in their grouped form), or the stream parts of `doStream` as
     server-sent events.

Call ids are those of the answer; ids of texts and thoughts are their places.
"""

from __future__ import annotations

import msgspec

from legato.model import Answer, CallKind, Code, Ending, JsonObject, Media, Text, Thinking, ToolCall, Usage
from legato.model.json_access import as_object
from legato.wire.arguments import written_arguments
from legato.wire.growing import Growing, Part, Whole, minted_id
from legato.wire.replying import DONE, Event, EventWriter
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
_KINDS = {Text: "text", Thinking: "reasoning", ToolCall: "tool-input"}


class Writer(EventWriter):
    """Writes one generate result, or its stream parts."""

    free_text = ('"', '"')
    breaks_off = False
    reasons = _REASONS

    def item(self, block: Growing, place: int) -> JsonObject:
        """A content part."""
        match block:
            case ToolCall():
                call_id = block.wire_id or minted_id("call_", self.response_id, place)
                return _signed(written_call(call_id, block.name, _input(block, written_arguments(block))), block.native)
            case Text():
                return _signed(text_part(block.text), block.native)
            case Thinking():
                return _signed(reasoning_part(block.text), block.native)

    def own(self, block: Whole, place: int) -> list[JsonObject] | None:
        """A tool that the provider ran, or a file."""
        if isinstance(block, Media):
            file = generated_file(block)
            return None if file is None else [_signed(file, block.native)]
        if isinstance(block, Code) or block.silent:
            return None
        if (parts := (block.native or {}).get("parts")) is not None:
            return [_as_result(part) for part in parts]
        call_id = block.wire_id or minted_id("call_", self.response_id, place)
        call = written_call(call_id, block.name, msgspec.json.encode(block.arguments).decode())
        result = {"type": "tool-result", "toolCallId": call_id, "toolName": block.name}
        return [call | {"providerExecuted": True}, result | {"result": "" if block.result is None else block.result}]

    def body(self, answer: Answer) -> JsonObject:
        """The result."""
        response = {"id": self.response_id, "modelId": self.model}
        return {"content": self.output, **self._ended(answer), "warnings": [], "response": response}

    def begin(self) -> list[Event]:
        """Who answers."""
        about: Event = {"type": "response-metadata", "id": self.response_id, "modelId": self.model}
        return [{"type": "stream-start", "warnings": []}, about]

    def open(self, part: Part) -> list[Event]:
        """A text, a thought or the input of a call begins."""
        part.growth, start = self._event(part, "delta"), self._event(part, "start")
        return [start | {"toolName": part.begun.name} if isinstance(part.begun, ToolCall) else start]

    def close(self, part: Part, block: Growing) -> list[Event]:
        """Its end, with what the provider wants to see again; a call is then repeated whole."""
        end = self._event(part, "end")
        if not isinstance(block, ToolCall):
            return [_signed(end, block.native)]
        call = written_call(end["id"], block.name, _input(part.begun, part.text))
        return [end, _signed(call, block.native)]

    def put(self, item: JsonObject, place: int) -> list[Event]:
        """A part that is there at once; the input of a hosted tool is written like any other."""
        if item["type"] != "tool-call":
            return [item]
        call_id = item["toolCallId"]
        return [
            {"type": "tool-input-start", "id": call_id, "toolName": item["toolName"], "providerExecuted": True},
            {"type": "tool-input-delta", "id": call_id, "delta": item["input"]},
            {"type": "tool-input-end", "id": call_id},
            item,
        ]

    def end(self, answer: Answer) -> list[Event]:
        """How the answer ended, and what it cost."""
        return [{"type": "finish", **self._ended(answer)}, DONE]

    def _event(self, part: Part, what: str) -> JsonObject:
        part_id = self.output[part.place].get("toolCallId") or str(part.place)
        return {"type": f"{_KINDS[type(part.begun)]}-{what}", "id": part_id}

    def _ended(self, answer: Answer) -> JsonObject:
        reason = self.reason(answer)
        return {"finishReason": {"unified": reason, "raw": reason}, "usage": _usage(answer.usage or self.usage)}


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


def _input(call: Growing, written: str) -> str:
    """The arguments as the model wrote them, even where they are not JSON; free text is a JSON string."""
    is_free_text = isinstance(call, ToolCall) and call.kind is CallKind.CUSTOM
    return msgspec.json.encode(written).decode() if is_free_text else written


def _signed(part: JsonObject, native: JsonObject | None) -> JsonObject:
    if native is not None and "providerOptions" in native:
        part["providerMetadata"] = native["providerOptions"]
    return part


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
