"""Images and documents: as this dialect prints them, and back."""

from __future__ import annotations

import base64
import binascii

from legato.model import Capabilities, JsonObject, Media, MediaKind
from legato.wire.anthropic.fields import as_object, as_text

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_PDF = "application/pdf"


def media_block(media: Media, capabilities: Capabilities) -> JsonObject | None:
    """A medium on the human side; None where the target cannot take it."""
    match media.kind:
        case MediaKind.IMAGE:
            source = _source(media, media.mime in _IMAGES) if capabilities.images else None
            return source and {"type": "image", "source": source}
        case MediaKind.DOCUMENT:
            source = _document_source(media) if capabilities.documents else None
            if source is None:
                return None
            document: JsonObject = {"type": "document", "source": source}
            if media.name:
                document["title"] = media.name
            return document
        case MediaKind.AUDIO | MediaKind.VIDEO:
            return None


def read_media(block: JsonObject) -> Media | None:
    """The medium in a block; None if it holds none, or one that only the provider has (an uploaded file)."""
    source = as_object(block.get("source"))
    mime, data, url = (as_text(source.get(name)) for name in ("media_type", "data", "url"))
    match block.get("type"), source.get("type"):
        case "image", "base64":
            return Media(MediaKind.IMAGE, mime, data=data)
        case "image", "url":
            return Media(MediaKind.IMAGE, "image/*", url=url)
        case "document", "base64":
            return Media(MediaKind.DOCUMENT, mime or _PDF, data=data, name=_title(block))
        case "document", "text":
            encoded = base64.b64encode(data.encode()).decode()
            return Media(MediaKind.DOCUMENT, mime or "text/plain", data=encoded, name=_title(block))
        case "document", "url":
            return Media(MediaKind.DOCUMENT, _PDF, url=url, name=_title(block))
        case _:
            return None


def _title(block: JsonObject) -> str | None:
    return as_text(block.get("title")) or None


def _source(media: Media, accepted: bool) -> JsonObject | None:
    if media.data is not None:
        return {"type": "base64", "media_type": media.mime, "data": media.data} if accepted else None
    if media.url is not None and media.url.startswith("https://"):
        return {"type": "url", "url": media.url}
    return None


def _document_source(media: Media) -> JsonObject | None:
    if media.data is None or not media.mime.startswith("text/"):
        return _source(media, media.mime == _PDF)
    try:
        text = base64.b64decode(media.data).decode("utf-8", "replace")
    except binascii.Error:
        return None
    return {"type": "text", "media_type": "text/plain", "data": text} if text.strip() else None
