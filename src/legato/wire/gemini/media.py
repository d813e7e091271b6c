"""Images, sounds, films and documents, read from parts."""

from __future__ import annotations

from legato.model import JsonObject, Media, MediaKind
from legato.model.json_access import as_text
from legato.wire.gemini.fields import as_base64, camel

_KINDS = {"image": MediaKind.IMAGE, "audio": MediaKind.AUDIO, "video": MediaKind.VIDEO}


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
