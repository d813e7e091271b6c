"""Print an answer as a response of the Responses API, whole or streamed, as the official client reads it.

In:  an answer and the name of the model that is to have given it.
Out: a response body, or the bytes of its event stream.

Call ids are those of the answer. Item ids are made from the response's id and the item's place, so that the same answer
gives the same bytes; times are zero, because nothing here knows the clock.
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
from legato.wire.plain import fenced, hosted_text

_PIECE = 24
"""characters of text in one delta"""


def reply(answer: Answer, model: str) -> JsonObject:
    """`answer` as a response body."""
    response_id = _response_id(answer)
    ending = answer.entry.ending or Ending.DONE
    output = [
        _item(block, ending, base62(response_id, index, length=32)) for index, block in enumerate(answer.entry.blocks)
    ]
    return {"id": response_id, **_response(answer, ending, output), "model": answer.served or model}


def reply_stream(answer: Answer, model: str) -> Iterator[bytes]:
    """`answer` as the bytes of a streamed response."""
    body = reply(answer, model)
    for number, event in enumerate(_events(body)):
        event["sequence_number"] = number
        yield b"event: " + event["type"].encode() + b"\ndata: " + msgspec.json.encode(event) + b"\n\n"


# --- the body ---------------------------------------------------------------------------------------------------------


def _response(answer: Answer, ending: Ending, output: list[JsonObject]) -> JsonObject:
    status, reason = _STATUS.get(ending, ("completed", None))
    if ending is Ending.REFUSED and not output:
        status, reason = "incomplete", "content_filter"
    return {
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "instructions": None,
        "metadata": {},
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None if answer.usage is None else _usage(answer.usage),
    }


_STATUS: dict[Ending, tuple[str, str | None]] = {
    Ending.LENGTH: ("incomplete", "max_output_tokens"),
    Ending.CUT: ("incomplete", None),
    Ending.CANCELLED: ("cancelled", None),
}


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def _response_id(answer: Answer) -> str:
    if answer.response_id.startswith("resp_"):
        return answer.response_id
    blocks = msgspec.json.encode(answer.entry.blocks).decode()
    return "resp_" + base62(answer.response_id, blocks, length=32)


def _item(block: Block, ending: Ending, item_id: str) -> JsonObject:
    match block:
        case Text():
            return _message(block.text, item_id, is_refusal=ending is Ending.REFUSED, native=block.native)
        case Thinking():
            return _reasoning(block, item_id)
        case ToolCall():
            return _call(block, item_id)
        case HostedTool():
            item: JsonObject | None = (block.native or {}).get("item")
            return item if item is not None else _message(hosted_text(block), item_id)
        case Code():
            return _message(fenced(block), item_id)
        case Media():
            return _message(media_omitted(block.kind, block.mime), item_id)
        case ToolResponse():
            raise RenderError("a tool response stands in an answer, which cannot be printed as a reply", layer="reply")
        case _:
            assert_never(block)


def _message(text: str, item_id: str, *, is_refusal: bool = False, native: JsonObject | None = None) -> JsonObject:
    part: JsonObject
    if is_refusal:
        part = {"type": "refusal", "refusal": text}
    else:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item: JsonObject = {
        "type": "message",
        "id": f"msg_{item_id}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    if native is not None and "phase" in native:
        item["phase"] = native["phase"]
    return item


def _reasoning(block: Thinking, item_id: str) -> JsonObject:
    item: JsonObject | None = (block.native or {}).get("item")
    if item is not None:
        return item
    summary = [{"type": "summary_text", "text": block.text}] if block.text else []
    return {"type": "reasoning", "id": f"rs_{item_id}", "summary": summary}


def _call(call: ToolCall, item_id: str) -> JsonObject:
    item: JsonObject = {
        "id": f"fc_{item_id}",
        "call_id": call.wire_id or f"call_{item_id[:24]}",
        "name": call.name,
        "status": "completed" if call.finished else "incomplete",
    }
    source = call.arguments.get("input")
    if call.kind is CallKind.CUSTOM and isinstance(source, str):
        item |= {"type": "custom_tool_call", "id": f"ctc_{item_id}", "input": source}
    else:
        # What the model wrote, even where it is not JSON: a client has to cope with that as from the provider itself.
        written = wire_arguments_text(call) if call.raw is None else call.raw
        item |= {"type": "function_call", "arguments": written}
    for field in ("namespace", "caller"):
        if call.native is not None and field in call.native:
            item[field] = call.native[field]
    return item


# --- the stream -------------------------------------------------------------------------------------------------------


def _events(body: JsonObject) -> Iterator[JsonObject]:
    """The events of a response, without their numbers."""
    begun: JsonObject = {**body, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(body["output"]):
        place: JsonObject = {"output_index": index, "item_id": item.get("id", "")}
        yield {"type": "response.output_item.added", "output_index": index, "item": _opened(item)}
        yield from _growth(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    end = "completed" if body["status"] == "completed" else "incomplete"
    yield {"type": f"response.{end}", "response": body}


def _opened(item: JsonObject) -> JsonObject:
    """An item as it is before it grows."""
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "reasoning":
            return {"type": "reasoning", "id": item.get("id", ""), "summary": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case "custom_tool_call":
            return {**item, "status": "in_progress", "input": ""}
        case _:
            return item


def _growth(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    match item["type"]:
        case "message":
            yield from _message_growth(item["content"][0], {**place, "content_index": 0})
        case "reasoning":
            yield from _summary_growth(item, place)
        case "function_call":
            for piece in _pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            whole = {"arguments": item["arguments"], "name": item["name"]}
            yield {"type": "response.function_call_arguments.done", **place, **whole}
        case "custom_tool_call":
            for piece in _pieces(item["input"]):
                yield {"type": "response.custom_tool_call_input.delta", **place, "delta": piece}
            yield {"type": "response.custom_tool_call_input.done", **place, "input": item["input"]}
        case _:
            pass


def _message_growth(part: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    field = "refusal" if part["type"] == "refusal" else "text"
    name = "refusal" if field == "refusal" else "output_text"
    more: JsonObject = {} if field == "refusal" else {"logprobs": []}
    yield {"type": "response.content_part.added", **place, "part": {**part, field: ""}}
    for piece in _pieces(part[field]):
        yield {"type": f"response.{name}.delta", **place, "delta": piece, **more}
    yield {"type": f"response.{name}.done", **place, field: part[field], **more}
    yield {"type": "response.content_part.done", **place, "part": part}


def _summary_growth(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    for index, part in enumerate(item.get("summary") or []):
        where = {**place, "summary_index": index}
        yield {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}}
        for piece in _pieces(part["text"]):
            yield {"type": "response.reasoning_summary_text.delta", **where, "delta": piece}
        yield {"type": "response.reasoning_summary_text.done", **where, "text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done", **where, "part": part}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]
