"""Images, documents and videos, read from content blocks."""

from __future__ import annotations

from legato.model import JsonObject, Media, MediaKind
from legato.model.json_access import as_data, as_object, as_text
from legato.wire.bedrock.shapes import DOCUMENTS, IMAGES, VIDEOS
from legato.wire.phrases import plain_name

_KINDS = {
    MediaKind.IMAGE: {word: mime for mime, word in IMAGES.items()},
    MediaKind.DOCUMENT: {word: mime for mime, word in DOCUMENTS.items()},
    MediaKind.VIDEO: {word: mime for mime, word in VIDEOS.items()},
}


def read_media(block: JsonObject) -> Media | None:
    """The attachment in a block; None if it holds none, or one in a form that is new to us."""
    for kind, formats in _KINDS.items():
        held = as_object(block.get(kind.value))
        source = as_object(held.get("source"))
        mime = formats.get(as_text(held.get("format")), "")
        data, uri = as_data(source.get("bytes")), as_text(as_object(source.get("s3Location")).get("uri"))
        if mime and (data or uri):
            name = plain_name(as_text(held.get("name")))
            return Media(kind, mime, data=data, name=name) if data else Media(kind, mime, url=uri, name=name)
    return None
