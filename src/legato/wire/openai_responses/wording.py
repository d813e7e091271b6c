"""The words and content parts that several modules of this dialect print or recognise.

Responses has no error flag on outputs, so a failed call begins with `ERROR_MARK`; `parse` takes it off again. Closures
speak for themselves and carry no mark, or they would not be recognised when a transcript comes back in.
"""

from __future__ import annotations

from legato.model import Capabilities, JsonObject, Media, MediaKind

ERROR_MARK = "Error: "


def user_message(*parts: JsonObject) -> JsonObject:
    """A whole human-side item."""
    return {"type": "message", "role": "user", "content": list(parts)}


def text_part(text: str) -> JsonObject:
    """Text in a human-side item or in an output."""
    return {"type": "input_text", "text": text}


def media_part(media: Media, capabilities: Capabilities) -> JsonObject | None:
    """A medium in a human-side item or in an output; None if the target cannot take it."""
    if media.kind is MediaKind.IMAGE and capabilities.images:
        if media.data is not None:
            return {"type": "input_image", "detail": "auto", "image_url": data_url(media.mime, media.data)}
        if media.url is not None:
            return {"type": "input_image", "detail": "auto", "image_url": media.url}
    elif media.kind is MediaKind.DOCUMENT and capabilities.documents:
        if media.data is not None:
            name = media.name or ("document.pdf" if media.mime == "application/pdf" else "document")
            return {"type": "input_file", "filename": name, "file_data": data_url(media.mime, media.data)}
        if media.url is not None:
            return {"type": "input_file", "file_url": media.url}
    return None


def data_url(mime: str, data: str) -> str:
    """Base64 data as an address."""
    return f"data:{mime};base64,{data}"
