"""The JSON of the Messages API: content blocks, and the messages around them."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import JsonObject, Media, MediaKind, ToolCall
from legato.wire.arguments import wire_arguments
from legato.wire.projection.grammar import decoded_text

# https://platform.claude.com/docs/en/build-with-claude/vision and .../pdf-support
PDF = "application/pdf"
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def user(content: Sequence[JsonObject]) -> JsonObject:
    """A message of the human side: what it says, and the results of calls."""
    return {"role": "user", "content": content}


def assistant(content: Sequence[JsonObject]) -> JsonObject:
    """A message of the model."""
    return {"role": "assistant", "content": content}


def text_block(text: str) -> JsonObject:
    """Text."""
    return {"type": "text", "text": text}


def thinking(text: str, signature: str) -> JsonObject:
    """A thought with its signature."""
    return {"type": "thinking", "thinking": text, "signature": signature}


def redacted_thinking(data: str) -> JsonObject:
    """A thought that only the provider can read."""
    return {"type": "redacted_thinking", "data": data}


def user_text(text: str) -> JsonObject:
    """A message of the human side that is one text."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def no_thought() -> JsonObject:
    """What stands where a thought is demanded and there is none to send.

    DeepSeek takes a block without text or signature (QwenLM/qwen-code#3788); for Kimi an empty text counts as missing
    and a space does not (theopenco/llmgateway#2093).
    """
    return {"type": "thinking", "thinking": NO_THOUGHT, "signature": ""}


NO_THOUGHT = " "


def tool_use(wire_id: str, name: str, call: ToolCall) -> JsonObject:
    """A call."""
    arguments = call.arguments if call.raw is None else wire_arguments(call)
    return {"type": "tool_use", "id": wire_id, "name": name, "input": arguments}


def tool_result(wire_id: str, name: str, text: str, failed: bool) -> JsonObject:
    """The result of a call."""
    if failed:
        return {"type": "tool_result", "tool_use_id": wire_id, "content": text, "is_error": True}
    return {"type": "tool_result", "tool_use_id": wire_id, "content": text}


def media_block(media: Media) -> JsonObject:
    """An image or a document."""
    if media.kind is MediaKind.IMAGE:
        return {"type": "image", "source": _source(media)}
    document: JsonObject = {"type": "document", "source": _document_source(media)}
    if media.name:
        document["title"] = media.name
    return document


def _document_source(media: Media) -> JsonObject:
    if media.data is not None and media.mime.startswith("text/"):
        return {"type": "text", "media_type": "text/plain", "data": decoded_text(media)}
    return _source(media)


def _source(media: Media) -> JsonObject:
    if media.data is not None:
        return {"type": "base64", "media_type": media.mime, "data": media.data}
    return {"type": "url", "url": media.url}
