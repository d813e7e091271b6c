"""Images, sounds, films and documents: as this dialect prints them, and back."""

from __future__ import annotations

from legato.model import Capabilities, JsonObject, Media, MediaKind
from legato.wire.gemini.fields import as_base64, as_text, camel

_REACHABLE = ("https://", "gs://")
_KINDS = {"image": MediaKind.IMAGE, "audio": MediaKind.AUDIO, "video": MediaKind.VIDEO}


def media_part(media: Media, capabilities: Capabilities) -> JsonObject | None:
    """A medium as a part; None where the target cannot take it."""
    match media.kind:
        case MediaKind.IMAGE:
            accepted = capabilities.images
        case MediaKind.DOCUMENT:
            accepted = capabilities.documents
        case MediaKind.AUDIO | MediaKind.VIDEO:  # whoever listens here also watches
            accepted = capabilities.audio
    return plain_media_part(media) if accepted else None


def plain_media_part(media: Media) -> JsonObject | None:
    """A medium as a part, whatever the target; None where its data are out of reach."""
    if media.data is not None:
        return {"inlineData": {"mimeType": media.mime, "data": media.data}}
    if media.url is None or not media.url.startswith(_REACHABLE):
        return None
    file: JsonObject = {"fileUri": media.url}
    if media.mime and not media.mime.endswith("/*"):
        file["mimeType"] = media.mime
    return {"fileData": file}


def read_media(part: JsonObject, *, native: JsonObject | None = None) -> Media | None:
    """The medium in a part; None if it holds none."""
    inline, file = camel(part.get("inlineData")), camel(part.get("fileData"))
    source = inline or file
    if not source:
        return None
    mime = as_text(source.get("mimeType"))
    kind = _KINDS.get(mime.partition("/")[0], MediaKind.DOCUMENT)
    name = as_text(source.get("displayName")) or None
    if inline:
        return Media(kind, mime, data=as_base64(inline.get("data")), name=name, native=native)
    return Media(kind, mime, url=as_text(file.get("fileUri")), name=name, native=native)
