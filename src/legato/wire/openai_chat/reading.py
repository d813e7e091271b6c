"""Read what a chat server sends, whatever its habits: small readers that body, stream and request share.

JSON that comes from others is never what a schema says: fields are missing, null, or of another type. Each reader takes
anything and gives a typed value, or nothing.
"""

from __future__ import annotations

from typing import cast

import msgspec

from legato.errors import BadAnswer
from legato.model import Ending, Json, JsonObject, Media, MediaKind, Text, Usage, ingest
from legato.model.json_access import as_count, as_object, as_string, as_text
from legato.wire.endings import Ended, ending_of
from legato.wire.readback import text_in

_ENDINGS = {
    "stop": Ending.DONE,
    "tool_calls": Ending.CALLS,
    "function_call": Ending.CALLS,
    "length": Ending.LENGTH,
    "content_filter": Ending.REFUSED,
    # What servers of the family say in place of these, in lower case.
    "eos": Ending.DONE,  # Together
    "eos_token": Ending.DONE,  # Text Generation Inference
    "stop_sequence": Ending.DONE,
    "end_turn": Ending.DONE,
    "complete": Ending.DONE,  # Cohere
    "tool_call": Ending.CALLS,
    "tool_use": Ending.CALLS,
    "max_tokens": Ending.LENGTH,
    "model_length": Ending.LENGTH,  # Mistral: the window is full
    "model_context_window_exceeded": Ending.LENGTH,  # GLM
    "refusal": Ending.REFUSED,
    "sensitive": Ending.REFUSED,  # GLM
    "abort": Ending.CUT,  # vLLM
    "insufficient_system_resource": Ending.CUT,  # DeepSeek
}


def read_text(content: Json) -> str:
    """A string, or the text of a list of strings and text parts."""
    if not isinstance(content, list):
        return as_string(content)
    return "".join(
        item if isinstance(item, str) else as_string(as_object(item).get("text"))
        for item in cast("list[object]", content)
    )


def read_argument_text(value: Json) -> str:
    """The arguments of a call as text: most servers send text, some an object."""
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(ingest(value)).decode()


def read_image(part: JsonObject) -> Media | None:
    """The image of an `image_url` part."""
    source = part.get("image_url")
    address = as_string(source) or as_string(as_object(source).get("url"))
    return read_media(MediaKind.IMAGE, address, "image/*") if address else None


def read_media(kind: MediaKind, address: str, mime: str, name: str | None = None) -> Media:
    """Media from a URL; a data URL gives the data itself. `mime` counts where the address does not say."""
    if address.startswith("data:"):
        head, mark, data = address[5:].partition(";base64,")
        if mark:
            return Media(kind, head or mime, data=data, name=name)
    return Media(kind, mime, url=address, name=name)


def read_part(part: JsonObject) -> Text | Media | None:
    """A part of a user or tool message; None if it is not understood."""
    match part.get("type"):
        case "text" | "input_text" | "output_text":
            return text_in(part)
        case None if part.get("text") is not None:
            return text_in(part)
        case "image_url":
            return read_image(part)
        case "document_url":
            address = as_string(part.get("document_url"))
            name = as_string(part.get("document_name")) or None
            return read_media(MediaKind.DOCUMENT, address, "application/pdf", name) if address else None
        case "file":
            source = as_object(part.get("file"))
            address = as_string(source.get("file_data"))
            name = as_string(source.get("filename")) or None
            return read_media(MediaKind.DOCUMENT, address, "application/pdf", name) if address else None
        case "input_audio":
            return _read_audio(part.get("input_audio"))
        case _:
            return None


def _read_audio(source: Json) -> Media | None:
    data = as_string(source) or as_string(as_object(source).get("data"))
    form = as_string(as_object(source).get("format"))
    mime = "audio/mpeg" if form == "mp3" else f"audio/{form or 'wav'}"
    return Media(MediaKind.AUDIO, mime, data=data) if data else None


def read_ending(reason: str, *, has_calls: bool, is_refused: bool) -> Ended:
    """How an answer ended."""
    if is_refused:
        return Ended(Ending.REFUSED)
    return ending_of(reason.lower(), _ENDINGS, has_calls=has_calls)


def read_usage(value: Json) -> Usage | None:
    """Tokens as the provider counted them; None if it did not say."""
    usage = as_object(value)
    if not usage:
        return None
    prompt, completion = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
    details = as_object(usage.get("prompt_tokens_details"))
    reasoning = as_count(as_object(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    if as_count(usage.get("total_tokens")) == prompt + completion + reasoning:
        completion += reasoning  # xAI counts thinking apart from the answer
    cached = as_count(details.get("cached_tokens"))
    for name in ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens"):  # DeepSeek, Kimi, Mistral
        cached = cached or as_count(usage.get(name))
    return Usage(
        input=prompt,
        output=completion,
        cache_read=cached,
        cache_write=as_count(details.get("cache_write_tokens")),
        reasoning=reasoning,
    )


def raise_for_error(body: JsonObject) -> None:
    """Raise `BadAnswer` if `body` (a response, a chunk of a stream or one of its choices) is an error."""
    error: Json = body.get("error")
    if not error and body.get("finish_reason") != "error" and body.get("object") != "error":
        return
    error = error or body
    said = as_text(error) or as_text(as_object(error).get("message"))
    raise BadAnswer(
        f"the provider sent an error in place of an answer: {said or 'it gave no message'}",
        layer="decode",
        error=ingest(error),
    )
