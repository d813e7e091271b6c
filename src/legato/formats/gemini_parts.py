"""The parts of Gemini's contents, as agents that keep them in their files write them: text, calls, responses, media."""

from __future__ import annotations

from collections.abc import Sequence

from legato.formats.blocks import as_json, media_from, response
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, first_text
from legato.model import Block, HostedTool, Json, JsonObject, Media, Text, Thinking, ToolCall, ToolResponse, ingest
from legato.wire.arguments import read_arguments
from legato.wire.gemini.reading import RESULTS, USES, joined, read_use
from legato.wire.gemini.shapes import media_part
from legato.wire.gemini.signatures import kept_signature


def parts_of(body: Json) -> list[JsonObject]:
    """What a content is made of: text alone, a part alone, or a list of both."""
    if isinstance(body, str):
        return [{"text": body}] if body else []
    if isinstance(body, dict):
        return [as_object(body)]
    return [{"text": item} if isinstance(item, str) else as_object(item) for item in as_list(body)]


def read_parts(body: Json) -> tuple[list[Block], list[str]]:
    """The blocks of a content, and for each part that is not understood what to say about it."""
    blocks: list[Block] = []
    unknown: list[str] = []
    for index, part in enumerate(parts_of(body)):
        if isinstance(part.get("functionResponse"), dict):
            blocks.append(read_function_response(as_object(part["functionResponse"]), "", ""))
        elif kind := next((name for name in part if name in USES or name in RESULTS), ""):
            _take_hosted(blocks, kind, part)
        elif (block := _read_content_part(part)) is not None:
            blocks.append(block)
        elif part.get("text") != "":
            unknown.append(f"part {index} ({', '.join(part)})")
    return blocks, unknown


def _read_content_part(part: JsonObject) -> Block | None:
    """A part that is no response; its signature stays with it. None if it is not understood or empty."""
    native = kept_signature(as_text(part.get("thoughtSignature")))
    call = as_object(part.get("functionCall"))
    if call:
        value, raw, finished = read_arguments(call.get("args"))
        name, wire_id = as_text(call.get("name")), as_id(call.get("id"))
        return ToolCall(name, value, wire_id, raw=raw, finished=finished, native=native)
    text = as_text(part.get("text"))
    if part.get("thought") is True:
        return Thinking(text, native=native) if text or native else None
    if text or (native and "text" in part):
        return Text(text, native=native)
    return read_medium(part)


def _take_hosted(blocks: list[Block], kind: str, part: JsonObject) -> None:
    """What the provider's own tool did; its result joins it."""
    fields = as_object(part[kind])
    kept = {kind: ingest(fields)} | (kept_signature(as_text(part.get("thoughtSignature"))) or {})
    last = blocks[-1] if blocks else None
    if kind in RESULTS and isinstance(last, HostedTool) and last.result is None:
        blocks[-1] = joined(last, kept, fields)
    else:
        blocks.append(read_use(kind, kept, fields))


def read_function_response(answered: JsonObject, wire_id: str, name: str) -> ToolResponse:
    """A function response; `output` and `error` are the fields that the API knows."""
    wire_id = as_id(answered.get("id")) or wire_id
    name = as_text(answered.get("name")) or name
    body: Json = answered.get("response")
    media = tuple(block for part in as_objects(answered.get("parts")) if (block := read_medium(part)))
    holder = as_object(body)
    if "error" in holder and len(holder) == 1:
        value: Json = holder["error"]
        return response(wire_id, name, value if isinstance(value, str) else as_json(value), is_error=True, media=media)
    if set(holder) == {"output"}:
        body = holder["output"]
    elif set(holder) == {"result"}:
        body = holder["result"]
    return response(wire_id, name, body if isinstance(body, str) else ingest(body), media=media)


def tells(answered: JsonObject) -> bool:
    """Whether a function response says what came, be it nothing."""
    body: Json = answered.get("response")
    return bool(body) if isinstance(body, str) else any(value is not None for value in as_object(body).values())


def response_part(call_id: str, name: str, value: str, media: Sequence[Media], *, is_error: bool) -> JsonObject:
    """What came of a call as agents write it, with `output` or `error`, and the media in it."""
    response: JsonObject = {"id": call_id, "name": name, "response": {"error" if is_error else "output": value}}
    if media:
        response["parts"] = [media_part(block) for block in media]
    return {"functionResponse": response}


def read_medium(part: JsonObject) -> Media | None:
    """Media in a part; None if there are none."""
    inline = as_object(part.get("inlineData"))
    if inline.get("data"):
        mime = first_text(inline, "mimeType") or "application/octet-stream"
        return media_from(f"data:{mime};base64,{as_text(inline['data'])}", mime)
    file = as_object(part.get("fileData"))
    address = first_text(file, "fileUri")
    return media_from(address, first_text(file, "mimeType") or "application/octet-stream") if address else None
