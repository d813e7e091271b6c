"""Content parts of ModelMessages, as this dialect prints them."""

from __future__ import annotations

from legato.model import Capabilities, JsonObject, Media, MediaKind


def text_part(text: str) -> JsonObject:
    """Text in a user or an assistant message."""
    return {"type": "text", "text": text}


def user_message(*parts: JsonObject) -> JsonObject:
    """A whole human-side message."""
    return {"role": "user", "content": list(parts)}


def media_part(media: Media, capabilities: Capabilities) -> JsonObject | None:
    """A medium in a user message; None if the target cannot take it."""
    source = media.url if media.data is None else media.data
    if source is None or not _takes(media.kind, capabilities):
        return None
    if media.kind is MediaKind.IMAGE:
        return {"type": "image", "image": source, "mediaType": media.mime}
    return file_part(media, source)


def file_part(media: Media, source: str) -> JsonObject:
    """A medium as a file, which is the only form that an assistant message has for it."""
    part: JsonObject = {"type": "file", "data": source, "mediaType": media.mime}
    if media.name is not None:
        part["filename"] = media.name
    return part


def result_part(media: Media) -> JsonObject | None:
    """An image inside the output of a tool; None if it holds neither data nor an address."""
    if media.data is not None:
        return {"type": "image-data", "data": media.data, "mediaType": media.mime}
    return None if media.url is None else {"type": "image-url", "url": media.url}


def _takes(kind: MediaKind, capabilities: Capabilities) -> bool:
    match kind:
        case MediaKind.IMAGE:
            return capabilities.images
        case MediaKind.DOCUMENT:
            return capabilities.documents
        case MediaKind.AUDIO:
            return capabilities.audio
        case MediaKind.VIDEO:
            return False
