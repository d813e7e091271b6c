"""Write an answer as the response of a chat server: a body, or a stream of chunks while it arrives.

In:  an answer, or its deltas, and the name of the model that is to have given it.
Out: what the official client accepts, and what `decode` reads back as the same answer.

Ids and argument texts stand as the model wrote them; there is no clock here, so `created` is zero.
"""

from __future__ import annotations

from legato.model import (
    Answer,
    CallKind,
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
from legato.model.json_access import as_objects
from legato.wire.arguments import written_arguments
from legato.wire.deltas import answer_id, spoken
from legato.wire.growing import Growing, Part
from legato.wire.openai_chat.shapes import Prose, text_part, thinking_chunk, written_call
from legato.wire.plain import told
from legato.wire.replying import DONE, Event, EventWriter, tool_response_in_answer

_REASONS = {
    Ending.DONE: "stop",
    Ending.CALLS: "tool_calls",
    Ending.LENGTH: "length",
    Ending.REFUSED: "content_filter",
    Ending.PAUSED: "stop",
    Ending.CUT: "length",
    Ending.CANCELLED: "length",
}


def reply(answer: Answer, model: str) -> JsonObject:
    """`answer` as a `chat.completion`."""
    choice = {"index": 0, "message": _message(answer), "logprobs": None, "finish_reason": _reason(answer)}
    body = _response("chat.completion", model, answer_id(answer)) | {"choices": [choice]}
    return body if answer.usage is None else body | {"usage": _usage(answer.usage)}


class Writer(EventWriter):
    """Writes the chunks of one completion. An answer that was cut breaks off: no finish reason, no `[DONE]`."""

    free_text = None
    signs_text = False
    _has_content = False
    _is_apart = False
    """whether the last text stands for another block, so that what follows begins a paragraph"""

    def begin(self) -> list[Event]:
        """The role."""
        return [self._chunk({"role": "assistant", "content": ""})]

    def open(self, part: Part) -> list[Event]:
        """The head of a call, or a blank line between texts that do not belong together."""
        match part.begun:
            case ToolCall():
                return [] if self.whole_calls else [self._call(part, _written(part.begun, ""))]
            case Text() if not part.native.get("refusal"):
                stands_apart = self._has_content and (part.is_told or self._is_apart)
                self._has_content, self._is_apart = True, part.is_told
                return [self._chunk({"content": "\n\n"})] if stands_apart else []
            case Thinking() if part.native.get("chunk"):
                self._has_content = self._is_apart = False
                return []
            case _:
                return []

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
                kind = part.begun.kind.value
                growth = {kind: {"input" if part.is_free_text else "arguments": piece}}
                return [] if self.whole_calls else [self._call(part, growth)]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """What the server wants to see again with a thought or a call."""
        native = block.native or {}
        match block:
            case Thinking() if part.native.get("chunk"):
                signed = thinking_chunk(block) | {"thinking": list[JsonObject]()}
                return [self._chunk({"content": [signed]})] if "signature" in signed else []
            case Thinking() if native.get("reasoning_details"):
                return [self._chunk({"reasoning_details": native["reasoning_details"]})]
            case ToolCall() if not self.whole_calls and native.get("extra_content") != part.native.get("extra_content"):
                return [self._call(part, {"extra_content": native["extra_content"]})]
            case _:
                return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """A call that comes whole; nothing else has an end."""
        if isinstance(block, ToolCall) and self.whole_calls:
            return [self._call(part, _written(block, part.text))]
        return []

    def own(self, block: Code | HostedTool | Media) -> list[Event] | None:
        """A message has no form for other blocks."""
        return None

    def end(self, answer: Answer) -> list[Event]:
        """How the answer ended, and what it cost."""
        if answer.entry.ending in (Ending.CUT, Ending.CANCELLED):
            return []
        ended = self._chunk({"content": ""} if self.joins_usage else {}, _reason(answer))
        if answer.usage is None:
            return [ended, DONE]
        usage: JsonObject = {"usage": _usage(answer.usage)}
        if self.joins_usage:
            return [ended | usage, DONE]
        response = _response("chat.completion.chunk", self.model, self.response_id)
        return [ended, response | {"choices": []} | usage, DONE]

    def _call(self, part: Part, fields: JsonObject) -> Event:
        return self._chunk({"tool_calls": [{"index": part.call, **fields}]})

    def _chunk(self, delta: JsonObject, reason: str | None = None) -> JsonObject:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _response("chat.completion.chunk", self.model, self.response_id) | {"choices": [choice]}


# --- what both are made of --------------------------------------------------------------------------------------------


def _response(kind: str, model: str, response_id: str) -> JsonObject:
    return {"id": response_id, "object": kind, "created": 0, "model": model}


def _message(answer: Answer) -> JsonObject:
    """The answer's blocks as one message; the order among text, thinking and calls is the protocol's own."""
    prose = Prose()
    chunks: list[JsonObject] = []
    thoughts: list[str] = []
    details: list[JsonObject] = []
    refusals: list[str] = []
    calls: list[JsonObject] = []
    for block in spoken(answer):
        native = block.native or {}
        match block:
            case Text() if native.get("refusal"):
                refusals.append(block.text)
            case Text():
                prose.add(block.text)
            case Thinking() if native.get("chunk"):
                chunks += [*_flushed(prose), thinking_chunk(block)]
            case Thinking():
                thoughts.append(block.text)
                details += as_objects(native.get("reasoning_details"))
            case ToolCall():
                calls.append(_written(block, written_arguments(block)))
            case ToolResponse():
                raise tool_response_in_answer()
            case _:
                prose.add_apart(told(block))
    content = [*chunks, *_flushed(prose)] if chunks else prose.take() or None
    message: JsonObject = {"role": "assistant", "content": content, "refusal": "".join(refusals) or None}
    more = {"reasoning_content": "".join(thoughts), "reasoning_details": details, "tool_calls": calls}
    return message | {name: value for name, value in more.items() if value}


def _flushed(prose: Prose) -> list[JsonObject]:
    text = prose.take()
    return [text_part(text)] if text else []


def _written(call: ToolCall, arguments: str) -> JsonObject:
    spelled = written_call(call.wire_id, call.name, arguments, custom=call.kind is CallKind.CUSTOM)
    native = call.native or {}
    return spelled | {"extra_content": native["extra_content"]} if "extra_content" in native else spelled


def _reason(answer: Answer) -> str:
    if any(isinstance(block, Text) and (block.native or {}).get("refusal") for block in answer.entry.blocks):
        return "stop"
    return _REASONS[answer.entry.ending or (Ending.CALLS if answer.calls else Ending.DONE)]


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
