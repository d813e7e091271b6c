"""The JSON of Chat Completions: messages, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, groupby

from legato.model import Json, JsonObject, Media, MediaKind, Thinking, ToolCall
from legato.wire.arguments import encode_json, wire_arguments

AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}


def user(content: Json) -> JsonObject:
    """A message of the human side: a text, or parts."""
    return {"role": "user", "content": content}


def assistant(content: Json) -> JsonObject:
    """A message of the model."""
    return {"role": "assistant", "content": content}


def joined(first: JsonObject, second: JsonObject) -> JsonObject:
    """Two messages of the human side as one: one string, or the parts of both where one of them has parts."""
    one, other = first["content"], second["content"]
    if isinstance(one, str) and isinstance(other, str):
        return {**first, "content": f"{one}\n\n{other}"}
    return {**first, "content": [*_parts(one), *_parts(other)]}


def _parts(content: str | list[JsonObject]) -> list[JsonObject]:
    return [text_part(content)] if isinstance(content, str) else content


def tool(wire_id: str, name: str, text: str, failed: bool) -> JsonObject:
    """The result of a call. It has no flag for failures."""
    return {"role": "tool", "tool_call_id": wire_id, "content": text}


def named_tool(wire_id: str, name: str, text: str, failed: bool) -> JsonObject:
    """The result of a call, with the name of the tool."""
    return {"role": "tool", "tool_call_id": wire_id, "content": text, "name": name}


def function_call(wire_id: str, name: str, call: ToolCall) -> JsonObject:
    """A call."""
    arguments = encode_json(call.arguments if call.raw is None else wire_arguments(call)).decode()
    return {"id": wire_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def custom_call(wire_id: str, name: str, source: str) -> JsonObject:
    """A call whose argument is free text."""
    return {"id": wire_id, "type": "custom", "custom": {"name": name, "input": source}}


def written_call(wire_id: str, name: str, arguments: str) -> JsonObject:
    """A call with the arguments as the model wrote them."""
    return {"id": wire_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def text_part(text: str) -> JsonObject:
    """Text, in a content of several parts."""
    return {"type": "text", "text": text}


def thinking_chunk(block: Thinking) -> JsonObject:
    """A thought as a chunk of the content, as Mistral sends and takes it, with its signature if it has one."""
    chunk: JsonObject = {"type": "thinking", "thinking": [text_part(block.text)]}
    signature = (block.native or {}).get("signature")
    if signature is not None:
        chunk["signature"] = signature
    return chunk


def media_part(media: Media, *, document_urls: bool, plain_audio: bool) -> JsonObject:
    """An attachment in a user message, in the form that the server's profile names."""
    address = media.url if media.data is None else f"data:{media.mime};base64,{media.data}"
    match media.kind:
        case MediaKind.IMAGE:
            return {"type": "image_url", "image_url": {"url": address}}
        case MediaKind.AUDIO:
            sound = media.data if plain_audio else {"data": media.data, "format": AUDIO_FORMATS[media.mime]}
            return {"type": "input_audio", "input_audio": sound}
        case MediaKind.DOCUMENT | MediaKind.VIDEO:
            if document_urls:
                return {"type": "document_url", "document_url": address}
            return {"type": "file", "file": {"filename": media.name or "document.pdf", "file_data": address}}


class Prose:
    """One string out of many pieces: an answer runs on, a person's texts and what we put in are by themselves."""

    __slots__ = ("_is_apart", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._is_apart = False

    def add(self, text: str, *, apart: bool = False) -> None:
        """More text; what is `apart`, and what comes after it, begins a paragraph unless a line begins there anyway."""
        if apart and not text:
            return
        if self._pieces and (apart or self._is_apart) and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n\n")
        self._pieces.append(text)
        self._is_apart = apart

    def take(self) -> str:
        """The text so far; what comes next starts anew."""
        text = "".join(self._pieces)
        self._pieces.clear()
        self._is_apart = False
        return text


def joined_fields(holders: Iterable[JsonObject]) -> JsonObject:
    """The fields of a message that several blocks have a part in: their texts are one, and so are their lists.

    A text beside lists is a part of its own.
    """
    fields: dict[str, list[Json]] = {}
    for holder in holders:
        for name, value in holder.items():
            if value:
                fields.setdefault(name, []).append(value)
    return {name: _joined(values) for name, values in fields.items()}


def _joined(values: list[Json]) -> Json:
    if {*map(type, values)} == {str}:
        return "".join(values)
    parts: list[Json] = []
    for kind, group in groupby(values, type):
        run = list(group)
        parts += [text_part("".join(run))] if kind is str else chain.from_iterable(run)
    return parts
