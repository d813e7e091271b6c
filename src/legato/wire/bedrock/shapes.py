"""The JSON of the Converse API: content blocks, and the messages around them.

A block is an object with one member, which says what it is; there is no `type`
(https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html).
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import JsonObject, Media, MediaKind, ToolCall
from legato.wire.arguments import wire_arguments

IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
DOCUMENTS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
VIDEOS = {
    "video/x-matroska": "mkv",
    "video/quicktime": "mov",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
}
FORMATS = IMAGES | DOCUMENTS | VIDEOS
"""the service's word for each media type"""

UNNAMED = "document"
S3 = "s3://"


def user(content: Sequence[JsonObject]) -> JsonObject:
    """A message of the human side: what it says, and the results of calls."""
    return {"role": "user", "content": content}


def assistant(content: Sequence[JsonObject]) -> JsonObject:
    """A message of the model."""
    return {"role": "assistant", "content": content}


def text_block(text: str) -> JsonObject:
    """Text."""
    return {"text": text}


def user_text(text: str) -> JsonObject:
    """A message of the human side that is one text."""
    return {"role": "user", "content": [{"text": text}]}


def reasoning(text: str, signature: str) -> JsonObject:
    """A thought with its signature."""
    return {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}


def redacted_reasoning(data: str) -> JsonObject:
    """A thought that only the provider can read, as base64."""
    return {"reasoningContent": {"redactedContent": data}}


def tool_use(wire_id: str, name: str, call: ToolCall) -> JsonObject:
    """A call."""
    arguments = call.arguments if call.raw is None else wire_arguments(call)
    return {"toolUse": {"toolUseId": wire_id, "name": name, "input": arguments}}


def tool_result(wire_id: str, name: str, text: str, failed: bool) -> JsonObject:
    """The result of a call."""
    status = "error" if failed else "success"
    return {"toolResult": {"toolUseId": wire_id, "content": [{"text": text}], "status": status}}


def media_block(media: Media) -> JsonObject:
    """An image, a document or a video; as data, or where it lies in S3."""
    source = {"bytes": media.data} if media.data is not None else {"s3Location": {"uri": media.url}}
    block: JsonObject = {"format": FORMATS.get(media.mime, "txt"), "source": source}
    if media.kind is MediaKind.DOCUMENT:
        block = {"name": media.name or UNNAMED, **block}
    return {media.kind.value: block}
