"""Content of an answer as blocks: parts of a generate result, or of an assistant message.

In:  parts in either form: results of a model hold `providerMetadata`, arguments as JSON text and `result`; messages
     hold `providerOptions`, arguments as a value and `output`.
Out: blocks in order, with the provider's metadata in `native` of the very block it came with.

A call that has its result in the same answer was executed at the other end, so it is a hosted tool: never run here. If
the provider itself did that, its parts go back to it; what the SDK ran on the way is text from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from legato.errors import IngestError
from legato.model import (
    Block,
    CallKind,
    HostedTool,
    Json,
    JsonObject,
    Media,
    MediaKind,
    Text,
    Thinking,
    ToolCall,
    clean_text,
    ingest,
    read_json_leniently,
)
from legato.model.json_access import as_id, as_object, as_text
from legato.wire.arguments import read_arguments

Restore: TypeAlias = Callable[[str], str]
"""from a tool's name on the wire to its own"""


class Form(StrEnum):
    """Where parts come from."""

    RESULT = "result"
    MESSAGE = "message"


def answer_blocks(parts: list[JsonObject], form: Form, restore: Restore) -> list[Block]:
    """The blocks of one answer; parts that are not the model's word (sources, approvals) give none."""
    results = {as_id(part.get("toolCallId")): part for part in parts if is_result(part)}
    blocks: list[Block] = []
    called: set[str] = set()
    for part in parts:
        kind = part.get("type")
        wire_id = as_id(part.get("toolCallId"))
        if kind == "tool-call":
            called.add(wire_id)
            result = results.get(wire_id)
            if result is None and part.get("providerExecuted") is not True:
                blocks.append(read_call(part, form, restore))
            else:
                blocks.append(read_hosted(part, result, restore))
        elif is_result(part):
            if wire_id not in called and part.get("preliminary") is not True:
                blocks.append(read_hosted(None, part, restore))  # the call is in an earlier answer
        elif (block := _plain_block(part)) is not None:
            blocks.append(block)
    return blocks


def is_result(part: JsonObject) -> bool:
    """Whether `part` holds the result of a call."""
    return part.get("type") in ("tool-result", "tool-error")


def _plain_block(part: JsonObject) -> Block | None:
    native = native_of(part)
    match part.get("type"):
        case "text":
            text = as_text(part.get("text"))
            return Text(text, native=native) if text or native else None
        case "reasoning":
            text = as_text(part.get("text"))
            return Thinking(text, native=native) if text or native else None
        case "file":
            return read_file(part)
        case "custom":
            kept: JsonObject = {"type": "custom", "kind": as_text(part.get("kind")), **(native or {})}
            return HostedTool(as_text(part.get("kind")) or "custom", native={"parts": [kept]})
        case _:
            return None


def native_of(part: JsonObject) -> JsonObject | None:
    """What the provider wants to see again with this part."""
    options = part.get("providerMetadata") or part.get("providerOptions")
    return {"providerOptions": ingest(options)} if options else None


# --- tools ------------------------------------------------------------------------------------------------------------


def read_call(part: JsonObject, form: Form, restore: Restore) -> ToolCall:
    """A call; free text as input makes it one of kind custom."""
    name, wire_id = restore(as_text(part.get("toolName"))), as_id(part.get("toolCallId"))
    source = part.get("input", part.get("args"))
    text = _free_text(source, form)
    if text is not None:
        return ToolCall(name, {"input": text}, wire_id, kind=CallKind.CUSTOM, native=native_of(part))
    value, raw, finished = read_arguments(source)
    return ToolCall(name, value, wire_id, raw=raw, finished=finished, native=native_of(part))


def _free_text(source: Json, form: Form) -> str | None:
    """Input that is meant as text: a JSON string in a result, anything but the JSON of an object in a message."""
    if not isinstance(source, str) or not source.strip():
        return None
    try:
        value = read_json_leniently(source)
    except IngestError:
        value = None
    if isinstance(value, dict):
        return None
    if form is Form.MESSAGE:
        return clean_text(source)
    return value if isinstance(value, str) else None


def read_hosted(call: JsonObject | None, result: JsonObject | None, restore: Restore) -> HostedTool:
    """A call that was executed at the other end, with its result if that is known."""
    known = call or result or {}
    wire_id, wire_name = as_text(known.get("toolCallId")), as_text(known.get("toolName"))
    arguments = read_arguments(call.get("input")).value if call is not None else {}
    output = None if result is None else message_output(result)
    native: JsonObject | None = None
    if any(part is not None and part.get("providerExecuted") is True for part in (call, result)):
        parts: list[JsonObject] = []
        if call is not None:
            parts.append(_message_part("tool-call", call, {"input": arguments, "providerExecuted": True}))
        if result is not None:
            parts.append(_message_part("tool-result", result, {"output": output}))
        native = {"parts": parts}
    value = None if output is None else output.get("value")
    return HostedTool(restore(wire_name), arguments, value, wire_id, native=native)


def _message_part(kind: str, part: JsonObject, fields: JsonObject) -> JsonObject:
    identity = {"toolCallId": as_text(part.get("toolCallId")), "toolName": as_text(part.get("toolName"))}
    return {"type": kind, **identity, **fields, **(native_of(part) or {})}


def message_output(result: JsonObject) -> JsonObject:
    """The output of a result as a message holds it, whichever form it came in."""
    output = as_object(result.get("output"))
    if as_text(output.get("type")) in OUTPUTS:
        return ingest(output)
    value = ingest(next((result[name] for name in ("output", "result", "error") if result.get(name) is not None), ""))
    kind = "text" if isinstance(value, str) else "json"
    is_error = result.get("isError") is True or result.get("type") == "tool-error"
    return {"type": f"error-{kind}" if is_error else kind, "value": value}


OUTPUTS = frozenset({"text", "json", "error-text", "error-json", "content", "execution-denied"})


# --- media ------------------------------------------------------------------------------------------------------------


def read_file(part: JsonObject) -> Media | None:
    """The media of any part that holds some; None if its data cannot be had from here."""
    mime = as_text(part.get("mediaType")) or as_text(part.get("mimeType"))
    name = as_text(part.get("filename")) or None
    source: Json = next((part[field] for field in ("data", "image", "url") if part.get(field) is not None), None)
    tagged = as_object(source)
    source = as_text(tagged.get("data")) or as_text(tagged.get("url")) if tagged else as_text(source)
    if not mime or "/" not in mime:
        mime = _mime_of(source) or ("image/png" if _is_image(part) else "application/octet-stream")
    native = native_of(part)
    if not source:
        return None
    if source.startswith(("http:", "https:")):
        return Media(kind_of(mime), mime, url=source, name=name, native=native)
    data = source.partition(",")[2] if source.startswith("data:") else source
    return Media(kind_of(mime), mime, data=data, name=name, native=native)


def kind_of(mime: str) -> MediaKind:
    """What kind of media the type `mime` is."""
    family = mime.partition("/")[0]
    return MediaKind(family) if family in ("image", "audio", "video") else MediaKind.DOCUMENT


def _is_image(part: JsonObject) -> bool:
    return as_text(part.get("type")).startswith("image") or part.get("mediaType") == "image"


def _mime_of(source: str) -> str:
    if not source.startswith("data:"):
        return ""
    return source.removeprefix("data:").partition(",")[0].partition(";")[0]
