"""Arguments of a call: the text a model wrote as a value, and a value as what providers accept.

A provider takes a JSON object and nothing else. What the model wrote instead (nothing, an array, broken JSON) is kept
as it was in `ToolCall.raw`, so that the log stays true and the model can be shown what it wrote.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, NamedTuple, cast

import msgspec

from legato.errors import IngestError
from legato.model import CallKind, Json, JsonObject, ToolCall, clean_text, ingest, read_json_leniently

RAW_KEY = "raw_arguments"
"""the one key of the object that is on the wire for arguments that are not a JSON object"""

encode_json = msgspec.json.Encoder().encode

_LONGEST_PLAIN = 64 * 1024  # shorter text cannot hold a string or a number of parts that is too large


def _plain_decoder(levels: int) -> msgspec.json.Decoder[JsonObject]:
    """Reads only what is safe as it is: an object of few levels, without an integer beyond 64 bits."""
    exact_integer: Any = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
    scalar = value = exact_integer | float | str | bool | None
    for _ in range(levels):
        value = scalar | list[value] | dict[str, value]
    return msgspec.json.Decoder(dict[str, value])


_decode_plain = _plain_decoder(levels=3).decode


class Arguments(NamedTuple):
    """Arguments as `ToolCall` holds them."""

    value: JsonObject
    raw: str | None = None
    finished: bool = True


def read_arguments(source: Json) -> Arguments:
    """Arguments from what a provider sent: an object, its JSON text, or anything else a model came up with."""
    value = read_plain_arguments(source) if isinstance(source, str) else None
    return _read_thoroughly(source) if value is None else Arguments(value)


def read_plain_arguments(text: str) -> JsonObject | None:
    """The object that `text` is; None where reading it takes more than parsing it.

    Nearly all arguments are the text of a small object. The parser checks that while it reads, so that no one has to
    walk over the value again.
    """
    if len(text) > _LONGEST_PLAIN or ("\\" in text and "u0000" in text):
        return None
    try:
        value = _decode_plain(text)
    except (msgspec.DecodeError, UnicodeError):
        return None
    return None if RAW_KEY in value else value


def _read_thoroughly(source: Json) -> Arguments:
    if isinstance(source, dict):
        return _unwrapped(ingest(cast(JsonObject, source)))
    if source is None:
        return Arguments({})
    if not isinstance(source, str):
        return Arguments({}, raw=msgspec.json.encode(ingest(source)).decode())
    if not source.strip():
        return Arguments({})
    try:
        value = read_json_leniently(source)
    except IngestError:
        return Arguments({}, raw=clean_text(source), finished=not _breaks_off(source))
    if isinstance(value, dict):
        return _unwrapped(cast(JsonObject, value))
    return Arguments({}) if value is None else Arguments({}, raw=clean_text(source))


def wire_arguments(call: ToolCall) -> JsonObject:
    """The object that stands for the arguments on the wire."""
    return call.arguments if call.raw is None else {RAW_KEY: call.raw}


def wire_arguments_text(call: ToolCall) -> str:
    """The same as JSON text, for dialects that want a string."""
    return encode_json(call.arguments if call.raw is None else {RAW_KEY: call.raw}).decode()


def written_arguments(call: ToolCall) -> str:
    """The text that the model wrote, even where it is not JSON; the free text of a custom call."""
    if call.kind is CallKind.CUSTOM:
        source = call.arguments.get("input")
        return source if isinstance(source, str) else msgspec.json.encode(call.arguments).decode()
    return msgspec.json.encode(call.arguments).decode() if call.raw is None else call.raw


def _unwrapped(value: JsonObject) -> Arguments:
    raw = value.get(RAW_KEY)
    if len(value) == 1 and isinstance(raw, str):
        return Arguments({}, raw=raw, finished=not _breaks_off(raw))
    return Arguments(value)


def _breaks_off(text: str) -> bool:
    """Whether JSON `text` is wrong only because it ends too early (a provider may call that an ordinary stop)."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text.rstrip()) or error.msg.startswith(("Unterminated string", "Expecting value"))
    except (RecursionError, ValueError):
        return False
    return False
