"""Blocks out of what files hold: calls, results, media and the parts of a content, as several formats write them.

A part is read as what it says it is, whichever side of the conversation its message belongs to: a result in an answer
is still a result, and a call in a message of the user is still one of the model's. The ledger pairs them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import msgspec

from legato.formats.fields import as_list, as_object, as_text, first_id, first_text
from legato.model import (
    Block,
    Json,
    JsonObject,
    Media,
    MediaKind,
    Text,
    ToolCall,
    ToolResponse,
    clean_text,
    ingest,
)
from legato.model.json_access import as_string
from legato.wire.anthropic.decode import read_blocks
from legato.wire.anthropic.media import read_media as read_anthropic_media
from legato.wire.arguments import read_arguments
from legato.wire.phrases import EMPTY_RESULT
from legato.wire.readback import read_closure


def response(
    wire_id: str, tool_name: str, value: Json, *, is_error: bool = False, media: tuple[Media, ...] = ()
) -> ToolResponse:
    """A recorded result. One of our closures is recognised and stays a closure: it is no result."""
    text = value if isinstance(value, str) else None
    if text is not None:
        closure = read_closure(text, wire_id=wire_id, tool_name=tool_name)
        if closure is not None:
            return closure
        if text == EMPTY_RESULT:
            text = value = ""
    if is_error:
        error = text if text is not None else "" if value is None else as_json(value)
        return ToolResponse(
            wire_id=wire_id, tool_name=tool_name, error=clean_text(error), is_complete=True, media=media
        )
    result: Json = "" if value is None else ingest(value)
    return ToolResponse(wire_id=wire_id, tool_name=tool_name, result=result, is_complete=True, media=media)


def as_json(value: Json) -> str:
    """`value` as JSON text."""
    return msgspec.json.encode(ingest(value)).decode()


def text_blocks(text: str) -> list[Block]:
    """Text as a block; nothing if there is none."""
    return [Text(clean_text(text))] if text else []


def kind_of(mime: str) -> MediaKind:
    """What kind of media this type is."""
    family = mime.partition("/")[0]
    return MediaKind(family) if family in ("image", "audio", "video") else MediaKind.DOCUMENT


def media_from(address: str, mime: str, *, name: str | None = None) -> Media:
    """Media from a URL; a data URL gives the data itself."""
    if address.startswith("data:"):
        head, mark, data = address[5:].partition(";base64,")
        if mark:
            mime = head or mime
            return Media(kind_of(mime), mime, data=clean_text(data), name=name)
    return Media(kind_of(mime), mime, url=clean_text(address), name=name)


_CALLS = frozenset({"tool_use", "tool_call", "tool-call", "toolCall", "function_call"})
_RESULTS = frozenset({"tool_result", "tool-result", "toolResult", "function_call_output", "function_result"})

_HELD = ("content", "output", "result", "value")
_OUTPUTS = frozenset({"text", "json", "content", "error-text", "error-json"})


def is_call(part: JsonObject) -> bool:
    """Whether a part asks for a tool, in any of the usual forms."""
    return as_string(part.get("type")) in _CALLS


def is_result(part: JsonObject) -> bool:
    """Whether a part is what a tool returned, in any of the usual forms."""
    return as_string(part.get("type")) in _RESULTS


def read_call(source: JsonObject) -> ToolCall:
    """A call in any of the usual forms."""
    function = as_object(source.get("function"))
    arguments: Json = next(
        (
            holder[key]
            for holder in (function, source)
            for key in ("arguments", "input", "args", "parameters")
            if key in holder
        ),
        None,
    )
    value, raw, finished = read_arguments(arguments)
    name = first_text(function, "name") or first_text(source, "name", "toolName", "tool_name")
    return ToolCall(name, value, first_id(source, "call_id", "toolCallId", "id"), raw=raw, finished=finished)


def read_result(source: JsonObject) -> ToolResponse:
    """A result in any of the usual forms, under the id that it names."""
    wire_id = first_id(source, "tool_use_id", "tool_call_id", "call_id", "toolCallId", "id")
    held = next((key for key in _HELD if key in source), "")
    content: Json = source[held] if held else None
    is_error = source.get("is_error") is True or source.get("isError") is True
    if isinstance(content, dict):
        output = as_object(content)
        if as_string(output.get("type")) in _OUTPUTS and "value" in output:  # as the Vercel AI SDK writes it
            content, is_error = output["value"], is_error or output["type"].startswith("error")
    value, media = result_content(content)
    name = first_text(source, "name", "toolName", "tool_name")
    return response(wire_id, name, value, is_error=is_error, media=media)


def read_part(part: JsonObject) -> Block | None:
    """A part of any message, in any of the usual forms; None if it is not understood."""
    if is_call(part):
        return read_call(part)
    return read_result(part) if is_result(part) else _read_said(part)


def anthropic_answer(items: Iterable[Json]) -> list[Block]:
    """The content of an answer in the form of the Anthropic API, with the results of our own tools among it."""
    blocks: list[Block] = []
    for are_results, run in groupby(map(as_object, items), key=is_result):
        found = list(run)
        blocks += map(read_result, found) if are_results else read_blocks(found, str)
    return blocks


def _read_said(part: JsonObject) -> Block | None:
    """Text or an attachment; None if it is neither."""
    kind = as_string(part.get("type"))
    if kind in ("text", "input_text", "output_text") or (not kind and isinstance(part.get("text"), str)):
        is_text = isinstance(part.get("text"), str) or not part.keys() - {"type", "text", "cache_control", "citations"}
        return Text(as_text(part.get("text"))) if is_text else None
    if kind in ("image", "document") and isinstance(part.get("source"), dict):
        return read_anthropic_media(part)
    return _read_medium(part, kind)


_DEFAULT_MIMES = {
    "image": "image/*",
    "audio": "audio/wav",
    "video": "video/mp4",
    "document": "application/pdf",
    "file": "application/octet-stream",
}


def _read_medium(part: JsonObject, kind: str) -> Block | None:
    """Media with an address (`image_url`, `audio`), with data beside their type, or in an object of their own."""
    family = kind.removeprefix("input_").removesuffix("_url").removesuffix("_data")
    family = {"inline": "file", "media": "file"}.get(family, family)
    if family not in _DEFAULT_MIMES:
        return None
    inner: Json = part.get(kind) if part.get(kind) is not None else part.get(family)
    holder = {**part, **as_object(inner)}
    mime = first_text(holder, "mimeType", "mime_type", "mediaType", "media_type", "mime") or _DEFAULT_MIMES[family]
    name = first_text(holder, "filename", "name", "title") or None
    data = first_text(holder, "data", "base64", "file_data")
    if data and not data.startswith("data:"):
        form = as_text(holder.get("format"))
        if family == "audio" and form:
            mime = "audio/mpeg" if form == "mp3" else f"audio/{form}"
        return Media(kind_of(mime), mime, data=data, name=name)
    address = (
        data or (inner if isinstance(inner, str) else "") or first_text(holder, "url", "image", "image_url", "uri")
    )
    return media_from(address, mime, name=name) if address else None


def parts_of(content: Json) -> list[Json]:
    """The parts of a content; one that nobody put into a list is the only one."""
    return [content] if isinstance(content, dict) else as_list(content)


def split_content(content: Json) -> tuple[list[Block], list[tuple[int, JsonObject]]]:
    """A content (text, a part, a list of parts) as blocks, and the parts that were not understood with their index."""
    if isinstance(content, str):
        return text_blocks(content), []
    blocks: list[Block] = []
    unknown: list[tuple[int, JsonObject]] = []
    for index, item in enumerate(parts_of(content)):
        block = Text(clean_text(item)) if isinstance(item, str) else read_part(as_object(item))
        if block is None:
            unknown.append((index, as_object(item)))
        elif not isinstance(block, Text) or block.text:
            blocks.append(block)
    return blocks, unknown


def result_content(content: Json) -> tuple[Json, tuple[Media, ...]]:
    """The content of a result as the value that a model reads, and its media. Unknown parts stay as their JSON."""
    if isinstance(content, str) or content is None:
        return content, ()
    items = as_list(content)
    part = as_object(content)
    if part.get("type") and _read_said(part) is not None:
        items = [part]  # a part that no one put into a list
    elif not isinstance(content, list):
        return ingest(content), ()
    texts: list[str] = []
    media: list[Media] = []
    for item in items:
        block = Text(clean_text(item)) if isinstance(item, str) else _read_said(as_object(item))
        if isinstance(block, Text):
            texts.append(block.text)
        elif isinstance(block, Media):
            media.append(block)
        else:
            texts.append(as_json(item))
    return "\n".join(texts), tuple(media)
