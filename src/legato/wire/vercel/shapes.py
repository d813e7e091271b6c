"""The JSON of the AI SDK's ModelMessages: content parts, and the messages around them."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Json, JsonObject, Media, MediaKind, ToolCall
from legato.wire.arguments import wire_arguments


def user(parts: Sequence[JsonObject]) -> JsonObject:
    """A message of the human side."""
    return {"role": "user", "content": parts}


def assistant(parts: Sequence[JsonObject]) -> JsonObject:
    """A message of the model."""
    return {"role": "assistant", "content": parts}


def tool(parts: Sequence[JsonObject]) -> JsonObject:
    """A message that holds the results of calls."""
    return {"role": "tool", "content": parts}


def text_part(text: str) -> JsonObject:
    """Text in a user or an assistant message."""
    return {"type": "text", "text": text}


def reasoning_part(text: str) -> JsonObject:
    """A thought."""
    return {"type": "reasoning", "text": text}


def user_text(text: str) -> JsonObject:
    """A message of the human side that is one text."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def tool_call(wire_id: str, name: str, call: ToolCall) -> JsonObject:
    """A call."""
    arguments = call.arguments if call.raw is None else wire_arguments(call)
    return {"type": "tool-call", "toolCallId": wire_id, "toolName": name, "input": arguments}


def custom_call(wire_id: str, name: str, source: str) -> JsonObject:
    """A call whose argument is free text."""
    return {"type": "tool-call", "toolCallId": wire_id, "toolName": name, "input": source}


def written_call(wire_id: str, name: str, text: str) -> JsonObject:
    """A call as a language model gives it: its input is text."""
    return {"type": "tool-call", "toolCallId": wire_id, "toolName": name, "input": text}


def tool_result(wire_id: str, name: str, text: str, failed: bool) -> JsonObject:
    """The result of a call."""
    return tool_output(wire_id, name, "error-text" if failed else "text", text)


def tool_output(wire_id: str, name: str, kind: str, value: Json) -> JsonObject:
    """The result of a call, where `kind` says what the value is."""
    output = {"type": kind, "value": value}
    return {"type": "tool-result", "toolCallId": wire_id, "toolName": name, "output": output}


def media_part(media: Media) -> JsonObject:
    """An attachment in a user message."""
    if media.kind is MediaKind.IMAGE:
        return {"type": "image", "image": source_of(media), "mediaType": media.mime}
    return file_part(media)


def file_part(media: Media) -> JsonObject:
    """An attachment as a file, which is the only form that an assistant message has for it."""
    part: JsonObject = {"type": "file", "data": source_of(media), "mediaType": media.mime}
    if media.name is not None:
        part["filename"] = media.name
    return part


def generated_file(media: Media) -> JsonObject | None:
    """An attachment as a language model gives it; None if there is nothing of it but its type."""
    if media.data is not None:
        return {"type": "file", "mediaType": media.mime, "data": {"type": "data", "data": media.data}}
    if media.url is not None:
        return {"type": "file", "mediaType": media.mime, "data": {"type": "url", "url": media.url}}
    return None


def image_in_result(media: Media) -> JsonObject:
    """An image inside the output of a tool."""
    if media.data is not None:
        return {"type": "image-data", "data": media.data, "mediaType": media.mime}
    return {"type": "image-url", "url": media.url}


def source_of(media: Media) -> str | None:
    """The data of an attachment, or its address."""
    return media.url if media.data is None else media.data
