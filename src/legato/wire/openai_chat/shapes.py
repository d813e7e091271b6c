"""The JSON of Chat Completions: messages, and what they hold."""

from __future__ import annotations

from legato.model import Json, JsonObject, Media, MediaKind, Thinking, ToolCall
from legato.wire.arguments import wire_arguments_text

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
    return {"id": wire_id, "type": "function", "function": {"name": name, "arguments": wire_arguments_text(call)}}


def written_call(wire_id: str, name: str, arguments: str, *, custom: bool) -> JsonObject:
    """A call with the arguments as the model wrote them; with `custom`, one whose argument is free text."""
    if custom:
        return {"id": wire_id, "type": "custom", "custom": {"name": name, "input": arguments}}
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
    """One string out of many pieces: an answer runs on, a person's texts and what we put in stand by themselves."""

    __slots__ = ("_is_apart", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._is_apart = False

    def add(self, text: str) -> None:
        """More of what the model said."""
        if self._is_apart:
            self._begin_paragraph()
            self._is_apart = False
        self._pieces.append(text)

    def add_apart(self, text: str) -> None:
        """A piece that stands by itself."""
        if not text:
            return
        if self._pieces:
            self._begin_paragraph()
        self._pieces.append(text)
        self._is_apart = True

    def _begin_paragraph(self) -> None:
        """A blank line, unless the text before it ends its own line already."""
        if not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n\n")

    def take(self) -> str:
        """The text so far; what comes next starts anew."""
        text = "".join(self._pieces)
        self._pieces.clear()
        self._is_apart = False
        return text
