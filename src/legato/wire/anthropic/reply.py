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
from legato.wire.anthropic.fields import as_list
from legato.wire.anthropic.shapes import text_block
from legato.wire.arguments import wire_arguments, wire_arguments_text
from legato.wire.phrases import media_omitted
from legato.wire.plain import fenced, hosted_text

_PIECE = 64
"""characters of a streamed piece"""

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
    return {
        **_message(answer, model),
        "content": _content(answer),
        "stop_reason": _stop_reason(answer),
        "usage": _usage(answer.usage or Usage()),
    }


def reply_stream(answer: Answer, model: str) -> Iterator[bytes]:
    """The answer as server-sent events."""
    usage = _usage(answer.usage or Usage())
    started = {**_message(answer, model), "usage": {**usage, "output_tokens": 0}}
    yield _event("message_start", message=started)
    index = 0
    for block in answer.entry.blocks:
        for printed in _printed(block, index):
            hollow, deltas = _in_pieces(printed, block)
            yield _event("content_block_start", index=index, content_block=hollow)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
            index += 1
    yield _event("message_delta", delta={"stop_reason": _stop_reason(answer), "stop_sequence": None}, usage=usage)
    yield _event("message_stop")


def _message(answer: Answer, model: str) -> JsonObject:
    return {
        "id": answer.response_id or "msg_legato",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _content(answer: Answer) -> list[JsonObject]:
    content: list[JsonObject] = []
    for block in answer.entry.blocks:
        content += _printed(block, len(content))
    return content


def _printed(block: Block, index: int) -> list[JsonObject]:
    native = block.native or {}
    match block:
        case Text():
            return [{"type": "text", "text": block.text, "citations": native.get("citations")}]
        case Thinking():
            if "data" in native:
                return [{"type": "redacted_thinking", "data": native["data"]}]
            return [{"type": "thinking", "thinking": block.text, "signature": native.get("signature", "")}]
        case ToolCall():
            printed: JsonObject = {
                "type": "tool_use",
                "id": block.wire_id or f"toolu_{index}",
                "name": block.name,
                "input": wire_arguments(block),
            }
            return [printed | native if "caller" in native else printed]
        case HostedTool():
            return native.get("blocks") or [text_block(hosted_text(block))]
        case Media():
            return [text_block(media_omitted(block.kind, block.mime))]
        case Code():
            return [text_block(fenced(block))]
        case ToolResponse():
            return []


def _in_pieces(printed: JsonObject, block: Block) -> tuple[JsonObject, list[JsonObject]]:
    """A block as it starts, and what makes it whole."""
    match printed["type"]:
        case "text":
            citations = as_list(printed.get("citations"))
            return (
                {**printed, "text": "", "citations": None},
                [
                    *({"type": "text_delta", "text": piece} for piece in _pieces(printed["text"])),
                    *({"type": "citations_delta", "citation": citation} for citation in citations),
                ],
            )
        case "thinking":
            return (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    *({"type": "thinking_delta", "thinking": piece} for piece in _pieces(printed["thinking"])),
                    {"type": "signature_delta", "signature": printed["signature"]},
                ],
            )
        case "tool_use" if isinstance(block, ToolCall):
            text = wire_arguments_text(block) if block.finished or block.raw is None else block.raw
            return {**printed, "input": {}}, _input_pieces(text)
        case "server_tool_use" | "mcp_tool_use":
            text = msgspec.json.encode(printed.get("input", {})).decode()
            return {**printed, "input": {}}, _input_pieces(text)
        case _:
            return printed, []


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _input_pieces(text: str) -> list[JsonObject]:
    return [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(text)]


def _stop_reason(answer: Answer) -> str:
    ending = answer.entry.ending
    if ending is None:
        ending = Ending.CALLS if answer.calls else Ending.DONE
    return _STOP_REASONS[ending]


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


def _event(kind: str, **data: object) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), msgspec.json.encode({"type": kind, **data}))
