"""Write an answer as this provider's response: a body, or the bytes of a stream.

In:  an answer and the name of the model that seems to give it.
Out: what the official client accepts. Ids and signatures are those of the answer, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from legato.wire.arguments import wire_arguments
from legato.wire.gemini.shapes import REACHABLE, media_part
from legato.wire.phrases import media_omitted
from legato.wire.plain import fenced, hosted_text

_PIECE = 64
"""characters of a streamed piece of text"""

_FINISH_REASONS = {Ending.LENGTH: "MAX_TOKENS", Ending.REFUSED: "SAFETY"}
_BESIDE = ("groundingMetadata", "urlContextMetadata")


def reply(answer: Answer, model: str) -> JsonObject:
    """The answer as a response body."""
    parts = [part for block in answer.entry.blocks for part in _parts(block)]
    return _response(answer, model, parts, is_last=True)


def reply_stream(answer: Answer, model: str) -> Iterator[bytes]:
    """The answer as server-sent events."""
    for block in answer.entry.blocks:
        for part in _parts(block):
            for piece in _in_pieces(part):
                yield _event(_response(answer, model, [piece], is_last=False))
    yield _event(_response(answer, model, [{"text": ""}], is_last=True))


def _response(answer: Answer, model: str, parts: list[JsonObject], *, is_last: bool) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    response: JsonObject = {"candidates": [candidate], "modelVersion": model}
    if answer.response_id:
        response["responseId"] = answer.response_id
    if is_last:
        candidate["finishReason"] = _FINISH_REASONS.get(answer.entry.ending or Ending.DONE, "STOP")
        candidate |= _beside(answer)
        response["usageMetadata"] = _usage(answer.usage or Usage())
    return response


def _parts(block: Block) -> list[JsonObject]:
    native = block.native or {}
    signature: JsonObject = {"thoughtSignature": native["thoughtSignature"]} if native.get("thoughtSignature") else {}
    match block:
        case Text():
            return [{"text": block.text} | signature]
        case Thinking():
            return [{"text": block.text, "thought": True} | signature]
        case ToolCall():
            call: JsonObject = {"name": block.name, "args": wire_arguments(block)}
            if block.wire_id:
                call["id"] = block.wire_id
            return [{"functionCall": call} | signature]
        case HostedTool():
            if native.get("parts"):
                return native["parts"]
            return [] if any(name in native for name in _BESIDE) else [{"text": hosted_text(block)}]
        case Media():
            if not REACHABLE.accepts(block):
                return [{"text": media_omitted(block.kind, block.mime)}]
            return [media_part(block) | signature]
        case Code():
            return [{"text": fenced(block)}]
        case ToolResponse():
            return []


def _beside(answer: Answer) -> JsonObject:
    """What the provider tells beside the parts: where it looked."""
    told: JsonObject = {}
    for block in answer.entry.blocks:
        if isinstance(block, HostedTool) and block.native is not None:
            told |= {name: block.native[name] for name in _BESIDE if name in block.native}
    return told


def _in_pieces(part: JsonObject) -> Iterator[JsonObject]:
    """A part as it streams. One with a signature comes whole: the signature is that of the whole part."""
    text = part.get("text")
    if not isinstance(text, str) or "thoughtSignature" in part or len(text) <= _PIECE:
        yield part
        return
    for start in range(0, len(text), _PIECE):
        yield {**part, "text": text[start : start + _PIECE]}


def _usage(usage: Usage) -> JsonObject:
    printed: JsonObject = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    }
    if usage.reasoning:
        printed["thoughtsTokenCount"] = usage.reasoning
    if usage.cache_read:
        printed["cachedContentTokenCount"] = usage.cache_read
    return printed


def _event(response: JsonObject) -> bytes:
    return b"data: %s\r\n\r\n" % msgspec.json.encode(response)
