"""Write an answer as the response of a chat server.

In:  an answer, or its deltas, and the name of the model that is to have given it.
Out: what the official client accepts, and what `decode` reads back as the same answer.

Ids and argument texts are as the model wrote them; there is no clock here, so `created` is zero if nobody tells it.
"""

from __future__ import annotations

from legato.model import Answer, CallKind, Ending, JsonObject, Text, Thinking, ToolCall, Usage
from legato.wire.arguments import written_arguments
from legato.wire.growing import Growing, Part
from legato.wire.openai_chat.shapes import custom_call, joined_fields, thinking_chunk, written_call
from legato.wire.replying import DONE, Event, EventWriter

_REASONS = {
    Ending.DONE: "stop",
    Ending.CALLS: "tool_calls",
    Ending.LENGTH: "length",
    Ending.REFUSED: "content_filter",
    Ending.PAUSED: "stop",
    Ending.CUT: "length",
    Ending.CANCELLED: "length",
}


class Writer(EventWriter):
    """Writes one completion, or its chunks."""

    free_text = None
    signs_text = False
    reasons = _REASONS
    _said: Text | None = None
    """the last text in the content"""
    _last_calls: tuple[JsonObject, ...] = ()
    """calls that come in the chunk in which the answer ends"""

    def item(self, block: Growing, place: int) -> JsonObject:
        """The fields of the message that a block is in."""
        native = block.native or {}
        match block:
            case ToolCall():
                return {"tool_calls": [_written(block, written_arguments(block))]}
            case Text():
                is_refusal = native.get("refusal")
                return {"refusal": block.text} if is_refusal else {"content": self._gap_before(block) + block.text}
            case Thinking():
                if native.get("chunk"):
                    self._said = None
                    return {"content": [thinking_chunk(block)]}
                return {"reasoning_content": block.text, "reasoning_details": native.get("reasoning_details") or []}

    def _gap_before(self, text: Text) -> str:
        """A text that stands for another block is a paragraph of its own; any other goes on where the last ended."""
        before, self._said = self._said, text
        is_apart = before is not None and (_is_told(before) or _is_told(text))
        return "\n\n" if is_apart else ""

    def body(self, answer: Answer) -> JsonObject:
        """The completion: the order among text, thinking and calls is the protocol's own."""
        message: JsonObject = {"role": "assistant", "content": None, "refusal": None} | joined_fields(self.output)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.reason(answer)}
        body = self._response("chat.completion") | {"choices": [choice]}
        return body if answer.usage is None else body | {"usage": _usage(answer.usage)}

    def begin(self) -> list[Event]:
        """The role."""
        return [self._chunk({"role": "assistant", "content": ""})]

    def open(self, part: Part) -> list[Event]:
        """The head of a call, or a blank line between texts that do not belong together."""
        if isinstance(part.begun, ToolCall):
            return [] if self.unsplit_calls else [self._call(part, _written(part.begun, ""))]
        gap = self.output[part.place].get("content")
        return [self._chunk({"content": gap})] if gap and isinstance(gap, str) else []

    def grow(self, part: Part, piece: str) -> list[Event]:
        """More of a field of the message."""
        match part.begun:
            case Text():
                return [self._chunk({"refusal" if part.native.get("refusal") else "content": piece})]
            case Thinking():
                if part.native.get("chunk"):
                    return [self._chunk({"content": [thinking_chunk(Thinking(piece))]})]
                return [self._chunk({"reasoning_content": piece})]
            case ToolCall():
                growth = {part.begun.kind.value: {"input" if part.is_free_text else "arguments": piece}}
                return [] if self.unsplit_calls else [self._call(part, growth)]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """What the server wants to see again with a thought or a call."""
        native = block.native or {}
        match block:
            case Thinking() if part.native.get("chunk"):
                signed = thinking_chunk(block) | {"thinking": list[JsonObject]()}
                return [self._chunk({"content": [signed]})] if "signature" in signed else []
            case Thinking() if native.get("reasoning_details"):
                return [self._chunk({"reasoning_details": native["reasoning_details"]})]
            case ToolCall() if not self.unsplit_calls and native.get("extra_content") != part.native.get(
                "extra_content"
            ):
                return [self._call(part, {"extra_content": native["extra_content"]})]
            case _:
                return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """A call that comes whole; nothing else has an end.

        Mistral's models send a call in the chunk with the finish reason and the usage (the recorded streams of
        `mistral-small-latest` in https://github.com/crmne/ruby_llm), without an index at times (those in
        https://github.com/vercel/ai), and clients number calls by their place in a chunk: all come in one.
        """
        if not isinstance(block, ToolCall) or not self.unsplit_calls:
            return []
        written = _written(block, part.text)
        if not self.joins_usage:
            return [self._call(part, written)]
        self._last_calls += ({"index": part.call, **written},)
        return []

    def break_off(self) -> list[Event]:
        """The calls that waited for the end."""
        return [self._chunk({"tool_calls": [*self._last_calls]})] if self._last_calls else []

    def end(self, answer: Answer) -> list[Event]:
        """How the answer ended, and what it cost."""
        last: JsonObject = {"tool_calls": [*self._last_calls]} if self._last_calls else {"content": ""}
        ended = self._chunk(last if self.joins_usage else {}, self.reason(answer))
        if answer.usage is None:
            return [ended, DONE]
        usage: JsonObject = {"usage": _usage(answer.usage)}
        if self.joins_usage:
            return [ended | usage, DONE]
        return [ended, self._response("chat.completion.chunk") | {"choices": []} | usage, DONE]

    def reason(self, answer: Answer) -> str:
        """The finish reason: that the model refused is told in the message, and filters are not to blame for it."""
        if any(type(block) is Text and (block.native or {}).get("refusal") for block in answer.entry.blocks):
            return "stop"
        return super().reason(answer)

    def _call(self, part: Part, fields: JsonObject) -> Event:
        return self._chunk({"tool_calls": [{"index": part.call, **fields}]})

    def _chunk(self, delta: JsonObject, reason: str | None = None) -> JsonObject:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return self._response("chat.completion.chunk") | {"choices": [choice]}

    def _response(self, kind: str) -> JsonObject:
        return {"id": self.response_id, "object": kind, "created": self.created, "model": self.model}


def _is_told(text: Text) -> bool:
    return bool((text.native or {}).get("told"))


def _written(call: ToolCall, arguments: str) -> JsonObject:
    make = custom_call if call.kind is CallKind.CUSTOM else written_call
    made = make(call.wire_id, call.name, arguments)
    native = call.native or {}
    return made | {"extra_content": native["extra_content"]} if "extra_content" in native else made


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
