"""Print an answer as the result of a language model of the AI SDK, whole or as a stream of parts.

In:  an answer and the name of the model that is to have given it.
Out: what `doGenerate` gives (`finishReason` and `usage` in their grouped form), or the stream parts of `doStream` as
     server-sent events.

Call ids are those of the answer; ids of texts and thoughts are their places.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import msgspec

from legato.errors import RenderError
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
from legato.model.hashing import base62
from legato.wire.arguments import wire_arguments_text
from legato.wire.phrases import media_omitted
from legato.wire.plain import fenced
from legato.wire.vercel.fields import as_object

_PIECE = 24
"""characters of text in one delta"""

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
    content: list[JsonObject] = []
    for index, block in enumerate(answer.entry.blocks):
        content += _content(block, f"call_{base62(answer.response_id, index, length=24)}")
    return {
        "content": content,
        "finishReason": _finish_reason(answer),
        "usage": _usage(answer.usage or Usage()),
        "warnings": [],
        "response": _response(answer, model),
    }


def reply_stream(answer: Answer, model: str) -> Iterator[bytes]:
    """`answer` as the bytes of a streamed response."""
    for part in _stream_parts(answer, model):
        yield b"data: " + msgspec.json.encode(part) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _stream_parts(answer: Answer, model: str) -> Iterator[JsonObject]:
    body = reply(answer, model)
    yield {"type": "stream-start", "warnings": []}
    yield {"type": "response-metadata", **body["response"]}
    for index, part in enumerate(body["content"]):
        yield from _growth(part, str(index))
    yield {"type": "finish", "finishReason": body["finishReason"], "usage": body["usage"]}


# --- the result -------------------------------------------------------------------------------------------------------


def _finish_reason(answer: Answer) -> JsonObject:
    reason = _REASONS[answer.entry.ending or Ending.DONE]
    return {"unified": reason, "raw": reason}


def _response(answer: Answer, model: str) -> JsonObject:
    about: JsonObject = {"modelId": answer.served or model}
    if answer.response_id:
        about["id"] = answer.response_id
    return about


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


def _content(block: Block, call_id: str) -> list[JsonObject]:
    match block:
        case Text():
            return [_signed({"type": "text", "text": block.text}, block.native)]
        case Thinking():
            return [_signed({"type": "reasoning", "text": block.text}, block.native)]
        case ToolCall():
            return [_call(block, call_id)]
        case HostedTool():
            return _hosted(block, call_id)
        case Code():
            return [{"type": "text", "text": fenced(block)}]
        case Media():
            return [_file(block)]
        case ToolResponse():
            raise RenderError("a tool response stands in an answer, which cannot be printed as a reply", layer="reply")
        case _:
            assert_never(block)


def _signed(part: JsonObject, native: JsonObject | None) -> JsonObject:
    if native is not None and "providerOptions" in native:
        part["providerMetadata"] = native["providerOptions"]
    return part


def _call(call: ToolCall, call_id: str) -> JsonObject:
    source = call.arguments.get("input")
    if call.kind is CallKind.CUSTOM and isinstance(source, str):
        written = msgspec.json.encode(source).decode()
    else:
        # What the model wrote, even where it is not JSON: a client has to cope with that as from the provider itself.
        written = wire_arguments_text(call) if call.raw is None else call.raw
    part = {"type": "tool-call", "toolCallId": call.wire_id or call_id, "toolName": call.name, "input": written}
    return _signed(part, call.native)


def _hosted(block: HostedTool, call_id: str) -> list[JsonObject]:
    parts: list[JsonObject] | None = (block.native or {}).get("parts")
    if parts is not None:
        return [_as_result(part) for part in parts]
    identity: JsonObject = {"toolCallId": block.wire_id or call_id, "toolName": block.name}
    arguments = msgspec.json.encode(block.arguments).decode()
    result: Json = "" if block.result is None else block.result
    return [
        {"type": "tool-call", **identity, "input": arguments, "providerExecuted": True},
        {"type": "tool-result", **identity, "result": result},
    ]


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


def _file(media: Media) -> JsonObject:
    data: JsonObject
    if media.data is not None:
        data = {"type": "data", "data": media.data}
    elif media.url is not None:
        data = {"type": "url", "url": media.url}
    else:
        return {"type": "text", "text": media_omitted(media.kind, media.mime)}
    return _signed({"type": "file", "mediaType": media.mime, "data": data}, media.native)


# --- the stream -------------------------------------------------------------------------------------------------------


def _growth(part: JsonObject, place: str) -> Iterator[JsonObject]:
    kind = part["type"]
    if kind in ("text", "reasoning"):
        about: JsonObject = {"providerMetadata": part["providerMetadata"]} if "providerMetadata" in part else {}
        yield {"type": f"{kind}-start", "id": place}
        for piece in _pieces(part["text"]):
            yield {"type": f"{kind}-delta", "id": place, "delta": piece}
        yield {"type": f"{kind}-end", "id": place, **about}
        return
    if kind == "tool-call":
        call_id = part["toolCallId"]
        hosted = {"providerExecuted": True} if part.get("providerExecuted") else {}
        yield {"type": "tool-input-start", "id": call_id, "toolName": part["toolName"], **hosted}
        for piece in _pieces(part["input"]):
            yield {"type": "tool-input-delta", "id": call_id, "delta": piece}
        yield {"type": "tool-input-end", "id": call_id}
    yield part


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]
