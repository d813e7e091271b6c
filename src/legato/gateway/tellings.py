"""What clients told before: a request is decoded and read from where it departs from the one before.

In:  the body of a request.
Out: its fields, and what they say; the same as if no other had come before.

A client sends its whole conversation with every request. It is known again by the bytes of its messages: those that
came before are neither decoded nor read again. Nothing here depends on who answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import takewhile
from operator import eq
from typing import Any, cast

import msgspec
from msgspec import Raw, Struct

from legato.errors import FormatError
from legato.gateway.chain import SIZE
from legato.gateway.scans import Scan
from legato.gateway.state import RecentlyUsed
from legato.model import Dialect, Entry, Json, JsonObject
from legato.request.parsing import decode_body
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.known_tools import decode_known
from legato.wire.rereading import Rereader

MAX_TELLINGS = 256
"""conversations that are known again by their bytes: our choice, as many as are kept warm"""

MAX_BYTES = 64 << 20
"""bytes of their messages: our choice, each is held about three times, but mostly shared with what is kept warm"""

_ALIKE = 16
"""conversations that begin with the same message, of those that are known: our choice, for clients whose first message
says where they run; it bounds how many are compared"""

_SPLIT, _LIST, _JSON = msgspec.json.Decoder(dict[str, Raw]), msgspec.json.Decoder(list[Raw]), msgspec.json.Decoder()
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)


# --- bodies -----------------------------------------------------------------------------------------------------------


class OpenedBody(Struct):
    """A body of which the messages are not decoded yet."""

    fields: JsonObject
    """the others; there is None where the messages belong if they are only in `raws`"""
    raws: list[Raw] | None = None
    """the messages as JSON; None if nobody has looked, or if they are no list"""
    data: bytes = b""
    """the body as it came, for when a message cannot be decoded"""


def open_body(data: bytes, messages_field: str) -> OpenedBody:
    """The body that is written in `data`; raises `FormatError` if that is none.

    Tools that came lately are not decoded again: nobody may change what is in them.
    """
    try:
        split = _SPLIT.decode(data)
        messages = split.get(messages_field, Raw(b"null"))
        raws = _LIST.decode(messages) if bytes(memoryview(messages)[:1]) == b"[" else None
        left = messages_field if raws is not None else None
        fields = {name: None if name == left else _decoded(name, raw) for name, raw in split.items()}
    except _UNREADABLE:
        return _open_slowly(data)
    return OpenedBody(fields, raws, data)


def _decoded(name: str, raw: Raw) -> object:
    return decode_known(bytes(raw)) if name == "tools" else _JSON.decode(raw)


def _open_slowly(data: bytes) -> OpenedBody:
    """The same for what is nearly JSON; it is read, or it says what is wrong."""
    value = decode_body(data)
    if not isinstance(value, dict):
        raise FormatError(f"the body of a request is an object, not {type(value).__name__}")
    return OpenedBody(cast(JsonObject, value))


def whole_fields(opened: OpenedBody, messages_field: str) -> JsonObject:
    """All fields of a body; raises `FormatError` if a message cannot be decoded."""
    if opened.raws is None:
        return opened.fields
    try:
        return {**opened.fields, messages_field: [_JSON.decode(raw) for raw in opened.raws]}
    except _UNREADABLE:
        return _open_slowly(opened.data).fields


# --- one conversation -------------------------------------------------------------------------------------------------


class Telling:
    """One conversation as its client tells it; what others find out about all of it is kept here as well."""

    def __init__(self, dialect: Dialect) -> None:
        parts = dialect_parts(dialect)
        self.links: Scan[Entry, bytes] = Scan(b"")
        self.compactions: Scan[Entry, tuple[Entry, ...]] = Scan(())
        self.reasoning: Scan[Entry, bool] = Scan(False)
        self.places_for_reasoning: Scan[Json, bool] = Scan(False)
        self.raws: list[Raw] = []
        """its messages as they came last"""
        self.size = 0
        """how many bytes they have"""
        self._field = parts.messages_field
        self._reader = Rereader(parts)
        self._messages: list[Json] = []

    def shares(self, raws: Sequence[Raw]) -> int:
        """How many messages it begins with that `raws` begins with as well."""
        return sum(takewhile(bool, map(eq, self.raws, raws)))

    def read(self, fields: JsonObject, raws: Sequence[Raw], news: Sequence[Json]) -> tuple[JsonObject, Parsed]:
        """A body that ends with `news`: its fields and what they say. If anything is raised, it cannot read another.

        `raws` are all of its messages, those before `news` being the ones that it knows.
        """
        same = len(raws) - len(news)
        self.size += sum(map(_length, raws[same:])) - sum(map(_length, self.raws[same:]))
        self.raws[same:] = [raw.copy() for raw in raws[same:]]  # for them alone the whole body would be held
        self._messages[same:] = news
        fields = {**fields, self._field: self._messages.copy()}
        return fields, self._reader.read(fields, same)


def _length(raw: Raw) -> int:
    return memoryview(raw).nbytes


# --- all of them ------------------------------------------------------------------------------------------------------


class Tellings:
    """The conversations that are known by the bytes of their messages."""

    def __init__(self, most: int = MAX_TELLINGS, most_bytes: int = MAX_BYTES) -> None:
        self._known: RecentlyUsed[list[Telling]] = RecentlyUsed(most, most_bytes)
        """by their first message; in each list the one that was used last is at the end"""

    def read(self, opened: OpenedBody, dialect: Dialect, tenant: str) -> tuple[JsonObject, Parsed, Telling]:
        """The fields of a body and what they say; raises what `parse` raises for it."""
        parts = dialect_parts(dialect)
        messages = opened.fields.get(parts.messages_field)
        raws = opened.raws if opened.raws is not None else _raws_of(messages)
        if not raws:
            fields = whole_fields(opened, parts.messages_field)
            return fields, parts.parse(fields), Telling(dialect)
        key = blake2b(raws[0], digest_size=SIZE, person=dialect.encode()[:SIZE]).digest()
        alike = self._known.get(tenant, key) or []
        telling, same = _nearest(alike, raws)
        try:
            news = [_JSON.decode(raw) for raw in raws[same:]] if messages is None else messages[same:]
        except _UNREADABLE:
            return self.read(_open_slowly(opened.data), dialect, tenant)
        telling = telling or Telling(dialect)
        kept = [one for one in alike if one is not telling][1 - _ALIKE :]
        self._keep(tenant, key, kept)  # if it cannot be read, its telling is of no use any more
        fields, parsed = telling.read(opened.fields, raws, news)
        self._keep(tenant, key, [*kept, telling])
        return fields, parsed, telling

    def _keep(self, tenant: str, key: bytes, alike: list[Telling]) -> None:
        self._known.put(tenant, key, alike, sum(one.size for one in alike))


def _nearest(known: Sequence[Telling], raws: Sequence[Raw]) -> tuple[Telling | None, int]:
    """The one that has most in common with `raws`, and how much: at least half of it, for who forks may come back."""
    best, most = None, 0
    for telling in reversed(known):
        shared = telling.shares(raws)
        if shared * 2 >= len(telling.raws) and shared > most:
            best, most = telling, shared
    return best, most


def _raws_of(messages: Any) -> list[Raw]:
    """Messages that were decoded elsewhere, as JSON; none if they are no list, or cannot be written."""
    listed = cast("list[Json]", messages) if isinstance(messages, list) else []
    try:
        return [Raw(msgspec.json.encode(message)) for message in listed]
    except (UnicodeError, RecursionError, OverflowError, TypeError):
        return []
