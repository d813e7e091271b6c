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
from msgspec import Raw

from legato.gateway.bodies import UNREADABLE, OpenedBody, Opening, open_body, open_slowly, whole_fields
from legato.gateway.chain import SIZE
from legato.gateway.scans import Scan, count_same
from legato.gateway.state import RecentlyUsed
from legato.model import Dialect, Entry, Json, JsonObject
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.rereading import Rereader

MAX_TELLINGS = 256
"""conversations that are known again by their bytes: our choice, as many as are kept warm"""

MAX_BYTES = 64 << 20
"""bytes of their messages: our choice, each is held about three times, but mostly shared with what is kept warm"""

_ALIKE = 16
"""conversations that begin with the same message, of those that are known: our choice, for clients whose first message
says where they run; it bounds how many are compared"""

LONG = 1 << 18
"""bytes of a body that is worth a comparison with others: our choice, for a shorter one it saves too little"""

_BEGINNING = 128
"""what part of that is the beginning by which it is looked for: our choice, more than most fields in front"""

_OPENINGS = 4
"""long bodies that begin with these and are kept: our choice, an agent and those that it sends out"""

_JSON = msgspec.json.Decoder()


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
        same = count_same(self.raws, raws)
        return same + sum(takewhile(bool, map(eq, self.raws[same:], raws[same:])))

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

    def __init__(self, most: int = MAX_TELLINGS, most_bytes: int = MAX_BYTES, *, long: int = LONG) -> None:
        self._known: RecentlyUsed[list[Telling]] = RecentlyUsed(most, most_bytes)
        """by their first message; in each list the one that was used last is at the end"""
        self._long = long
        self._openings: RecentlyUsed[list[Opening]] = RecentlyUsed(most, most_bytes)
        """long bodies by how they begin, in the same order"""

    def open(self, data: bytes, dialect: Dialect, tenant: str) -> OpenedBody:
        """The body that is written in `data`; raises `FormatError` if that is none."""
        field = dialect_parts(dialect).messages_field
        if len(data) < self._long:
            return open_body(data, field)
        key = blake2b(data[: self._long // _BEGINNING], digest_size=SIZE, person=dialect.encode()[:SIZE]).digest()
        known = self._openings.get(tenant, key) or []
        opened = open_body(data, field, reversed(known))
        if (opening := opened.opening) is not None:
            before = [one for one in known if one.raws[:1] != opening.raws[:1]]
            kept = [*before[1 - _OPENINGS :], opening]
            self._openings.put(tenant, key, kept, sum(len(one.data) for one in kept))
        return opened

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
        except UNREADABLE:
            opened.is_json = False
            return self.read(open_slowly(opened.data), dialect, tenant)
        telling = telling or Telling(dialect)
        kept = [one for one in alike if one is not telling][1 - _ALIKE :]
        self._keep(tenant, key, kept)  # if it cannot be read, its telling is of no use any more
        fields, parsed = telling.read(opened.fields, raws, news)
        self._keep(tenant, key, [*kept, telling])
        if opened.opening is not None:  # the next is then seen to have the very same, and holds no other body
            opened.opening.raws = telling.raws.copy()
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
