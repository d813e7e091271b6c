"""From a request to a conversation: the way back of `render`.

In:  a request body, or the bare list of its messages, as JSON or as objects, and the route that it was made for, or the
     provider alone.
Out: a `Parsed`: entries, instructions, tools and options; `conversation()` of it is ready to be rendered for anyone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from legato.errors import FormatError, IngestError
from legato.model import JsonObject, Target, ingest_sent, read_json_leniently
from legato.request.catalogue import Catalogue, default_catalogue
from legato.request.sources import find_source
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts

Body: TypeAlias = bytes | str | Mapping[str, Any] | Sequence[Any]


def parse(body: Body, source: str | Target, *, catalogue: Catalogue | None = None) -> Parsed:
    """What a request says that was made for `source`: a whole body or its messages alone, as JSON or as objects.

    The history in it may be broken in any way; what is not understood is in `notes`, with its place. Answers are
    taken for those of `source`, so what is signed in them can go back there: a route, or a provider or a dialect alone,
    whose model is then the one that the body names. Raises `UnknownTarget`, or `FormatError` for what is no such
    request.
    """
    given = body if isinstance(body, bytes | str) else _as_json(body)
    target = find_source(given, source, catalogue or default_catalogue())
    parts = dialect_parts(target.dialect)
    origin = target.origin()
    parsed = parts.parse_json(given, origin) if parts.parse_json and isinstance(given, bytes | str) else None
    if parsed is None:
        try:
            parsed = parts.parse(_fields(given, parts.messages_field, target)).answered_by(origin)
        except RecursionError:
            raise FormatError("a value in it is nested too deeply to be read") from None
    return parsed.belonging_to(target.home)


def _fields(body: object, messages_field: str, target: Target) -> JsonObject:
    value = decode_body(body) if isinstance(body, bytes | str) else body
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if messages_field in fields:
            return dict(fields)
        raise FormatError(f"no {messages_field!r} in it: this is not a request for {target.provider}")
    if isinstance(value, list | tuple):
        return {messages_field: list(cast("Sequence[Any]", value))}
    raise FormatError(f"{type(value).__name__} is neither a request body nor a list of messages")


def _as_json(body: object) -> object:
    """`body` as JSON; or as a plain value, if it holds what JSON lacks or a client's objects.

    Those are read as that client would send them. JSON would make null of numbers that are none, so they are looked
    for, in a form that has them; both encodings together cost a tenth of the parsing.
    """
    try:
        if not _NO_NUMBER.search(msgspec.msgpack.encode(body)):
            return msgspec.json.encode(body)
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        pass
    try:
        return ingest_sent(body)
    except IngestError as error:
        raise FormatError(error.message) from None


_NO_NUMBER = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")
"""NaN or an infinity in MessagePack; in texts these bytes are never side by side"""


def decode_body(data: bytes | str) -> object:
    """The value that is written in `data`, in JSON or nearly so; raises `FormatError` for anything else."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass  # the slow road below either reads it or says what is wrong
    try:
        return read_json_leniently(data)
    except IngestError as error:
        raise FormatError(error.message) from None
