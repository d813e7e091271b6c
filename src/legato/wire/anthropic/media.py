"""Images and documents, read from content blocks."""

from __future__ import annotations

import base64

from legato.model import JsonObject, Media, MediaKind
from legato.model.json_access import as_data, as_object, as_text
from legato.wire.anthropic.shapes import PDF


def read_media(block: JsonObject) -> Media | None:
    """The media in a block; None if it holds none, or what only the provider has (an uploaded file)."""
    source = as_object(block.get("source"))
    mime, data, url = (as_text(source.get(name)) for name in ("media_type", "data", "url"))
    match block.get("type"), source.get("type"):
        case "image", "base64":
            return Media(MediaKind.IMAGE, mime, data=as_data(data))
        case "image", "url":
            return Media(MediaKind.IMAGE, "image/*", url=url)
        case "document", "base64":
            return Media(MediaKind.DOCUMENT, mime or PDF, data=as_data(data), name=_title(block))
        case "document", "text":
            encoded = base64.b64encode(data.encode()).decode()
            return Media(MediaKind.DOCUMENT, mime or "text/plain", data=encoded, name=_title(block))
        case "document", "url":
            return Media(MediaKind.DOCUMENT, PDF, url=url, name=_title(block))
        case _:
            return None


def _title(block: JsonObject) -> str | None:
    return as_text(block.get("title")) or None
