"""An answer as the response of a chat server: a body, or the bytes of a stream.

In:  an `Answer` and the name of the model that is to have given it.
Out: what the official client accepts, and what `decode` reads back as the same answer.

For simulation and gateways. Ids and argument texts stand as the model wrote them; there is no clock here, so `created`
is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never, cast

import msgspec

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
from legato.wire.openai_chat.reading import read_objects
from legato.wire.openai_chat.shapes import Prose, thinking_chunk
from legato.wire.phrases import media_omitted
from legato.wire.plain import fenced, hosted_text

_PIECE = 24
"""characters in one delta of a stream"""

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
    message = _message(answer)
    body: JsonObject = {
        "id": _id(answer),
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(answer, message)}],
    }
    if answer.usage is not None:
        body["usage"] = _usage(answer.usage)
    return body


def reply_stream(answer: Answer, model: str) -> Iterator[bytes]:
    """`answer` as server-sent chunks. An answer that was cut breaks off: no finish reason, no `[DONE]`."""
    message = _message(answer)
    start: JsonObject = {"id": _id(answer), "object": "chat.completion.chunk", "created": 0, "model": model}
    for delta in _deltas(message):
        yield _event({**start, "choices": [_choice(delta, None)]})
    if answer.entry.ending in (Ending.CUT, Ending.CANCELLED):
        return
    yield _event({**start, "choices": [_choice({}, _reason(answer, message))]})
    if answer.usage is not None:
        yield _event({**start, "choices": [], "usage": _usage(answer.usage)})
    yield b"data: [DONE]\n\n"


# --- the message ------------------------------------------------------------------------------------------------------


def _message(answer: Answer) -> JsonObject:
    """The answer's blocks as one message; the order among text, thinking and calls is the protocol's own."""
    prose = Prose()
    chunks: list[JsonObject] = []
    thoughts: list[str] = []
    details: list[JsonObject] = []
    refusals: list[str] = []
    calls: list[JsonObject] = []
    for block in answer.entry.blocks:
        native = block.native or {}
        match block:
            case Text():
                if native.get("refusal"):
                    refusals.append(block.text)
                else:
                    prose.add(block.text)
            case Thinking():
                if native.get("chunk"):
                    _flush(prose, chunks)
                    chunks.append(thinking_chunk(block))
                else:
                    thoughts.append(block.text)
                    details += read_objects(native.get("reasoning_details"))
            case ToolCall():
                calls.append(_call(block, native))
            case HostedTool():
                prose.add_apart(hosted_text(block))
            case Code():
                prose.add_apart(fenced(block))
            case Media():
                prose.add_apart(media_omitted(block.kind, block.mime))
            case ToolResponse():
                pass  # a result is no part of an answer
            case _:
                assert_never(block)
    message: JsonObject = {"role": "assistant", "content": None, "refusal": "".join(refusals) or None}
    if chunks:
        _flush(prose, chunks)
        message["content"] = chunks
    else:
        message["content"] = prose.take() or None
    if thoughts:
        message["reasoning_content"] = "".join(thoughts)
    if details:
        message["reasoning_details"] = details
    if calls:
        message["tool_calls"] = calls
    return message


def _flush(prose: Prose, chunks: list[JsonObject]) -> None:
    text = prose.take()
    if text:
        chunks.append({"type": "text", "text": text})


def _call(call: ToolCall, native: JsonObject) -> JsonObject:
    spelled: JsonObject
    if call.kind is CallKind.CUSTOM:
        spelled = {"id": call.wire_id, "type": "custom", "custom": {"name": call.name, "input": _input(call)}}
    else:
        text = msgspec.json.encode(call.arguments).decode() if call.raw is None else call.raw
        spelled = {"id": call.wire_id, "type": "function", "function": {"name": call.name, "arguments": text}}
    if "extra_content" in native:
        spelled["extra_content"] = native["extra_content"]
    return spelled


def _input(call: ToolCall) -> str:
    text = call.arguments.get("input")
    return text if isinstance(text, str) else msgspec.json.encode(call.arguments).decode()


def _reason(answer: Answer, message: JsonObject) -> str:
    if message["refusal"] is not None:
        return "stop"
    return _REASONS[answer.entry.ending or (Ending.CALLS if answer.calls else Ending.DONE)]


def _id(answer: Answer) -> str:
    return answer.response_id or "chatcmpl-0"


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


# --- its pieces -------------------------------------------------------------------------------------------------------


def _deltas(message: JsonObject) -> Iterator[JsonObject]:
    yield {"role": "assistant", "content": ""}
    details = {"reasoning_details": message["reasoning_details"]} if "reasoning_details" in message else {}
    for piece in _pieces(message.get("reasoning_content") or ""):
        yield {"reasoning_content": piece, **details}
        details = {}
    if details:
        yield details
    content = message["content"]
    if isinstance(content, list):
        for chunk in cast("list[JsonObject]", content):
            yield {"content": [chunk]}
    else:
        for piece in _pieces(content or ""):
            yield {"content": piece}
    for piece in _pieces(message["refusal"] or ""):
        yield {"refusal": piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        yield from _call_deltas(index, call)


def _call_deltas(index: int, call: JsonObject) -> Iterator[JsonObject]:
    kind = call["type"]
    field = "input" if kind == "custom" else "arguments"
    opening = {**call, kind: {**call[kind], field: ""}}
    yield {"tool_calls": [{"index": index, **opening}]}
    for piece in _pieces(call[kind][field]):
        yield {"tool_calls": [{"index": index, kind: {field: piece}}]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def _choice(delta: JsonObject, reason: str | None) -> JsonObject:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _event(chunk: JsonObject) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"
