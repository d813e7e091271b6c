"""Our call ids as each provider's ids.

One append-only table per scheme, extended in ordinal order over every call ever recorded, also those that were
compacted away or undone. An id therefore depends on earlier calls only: adding, closing or compacting a call never
changes another's id. A provider's own id is kept wherever it is valid and free: an id is no secret, and what was right
stays as it was. No clock, no randomness.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from legato.errors import ProjectionError
from legato.model import CallId, IdScheme
from legato.model.hashing import base62
from legato.wire.voice import Names

_OURS = "hist_tool_"
"""what our own ids begin with; the rest is their stem"""


class Numbered(Protocol):
    """What projection needs to know about a call."""

    @property
    def id(self) -> CallId: ...
    @property
    def wire_id(self) -> str: ...
    @property
    def name(self) -> str: ...


_PREFIXED: dict[IdScheme, tuple[str, re.Pattern[str]]] = {
    IdScheme.CALL40: ("call_", re.compile(r"call_[A-Za-z0-9_-]{1,35}")),
    IdScheme.CALL64: ("call_", re.compile(r"call_[A-Za-z0-9_-]{1,59}")),
    IdScheme.TOOLU: ("toolu_", re.compile(r"toolu_[A-Za-z0-9_-]{1,58}")),
}
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_KIMI = re.compile(r"functions\.(.+):([0-9]{1,6})", re.DOTALL)


class IdTable(dict[CallId, str]):
    """Our ids to one scheme's ids. Extend it with all calls, in ordinal order, each once."""

    def __init__(self, scheme: IdScheme, names: Names) -> None:
        super().__init__()
        self.scheme = scheme
        self._names = names
        self._prefix, self._valid = _PREFIXED.get(scheme, ("", _NINE))
        self._choose = {IdScheme.KIMI: self._for_kimi, IdScheme.NINE: self._nine}.get(scheme, self._prefixed)
        self._taken: set[str] = set()
        """the ids that are not plain; a plain one is the prefix and the stem of our own, which is in the table"""
        self._highest = -1  # Kimi's counter

    def extend(self, calls: Sequence[Numbered]) -> None:
        """Add `calls`, which follow those that are here already."""
        if self._prefix and self._extend_at_once(calls):
            return
        for call in calls:
            call_id, wire = call.id, self._choose(call)
            if call_id in self or not self._is_free(wire):
                raise ProjectionError(
                    f"the id {wire!r} of {call_id} is not its own", layer="projection", calls=[str(call_id)]
                )
            if wire != self._plain(call_id):
                self._taken.add(wire)
            self[call_id] = wire

    def _extend_at_once(self, calls: Sequence[Numbered]) -> bool:
        """Add `calls` if each gets its plain id, as nearly all do; False, with nothing done, if not.

        Plain ids are as different as our own, so where there are no others, none is in the way of another. A provider's
        id is kept where it has the prefix; most come from another provider, and their first letter tells.
        """
        if self._taken:
            return False
        prefix, is_valid = self._prefix, self._valid.fullmatch
        initial, before = prefix[0], len(self)
        for call in calls:
            call_id, wire = call.id, call.wire_id
            plain = prefix + call_id.removeprefix(_OURS)
            if wire[:1] == initial and wire.startswith(prefix) and wire != plain and is_valid(wire):
                for added in calls[: len(self) - before]:
                    del self[added.id]
                return False
            self[call_id] = plain
        if len(self) < before + len(calls):
            raise ProjectionError(
                "a call was given an id twice", layer="projection", calls=sorted({str(call.id) for call in calls})
            )
        return True

    def _plain(self, call_id: CallId) -> str:
        """A stem is short and plain, so this is valid in every scheme that has a prefix."""
        return self._prefix + call_id.removeprefix(_OURS)

    def _is_free(self, wire: str) -> bool:
        return wire not in self._taken and self.get(CallId(_OURS + wire[len(self._prefix) :])) != wire

    def _prefixed(self, call: Numbered) -> str:
        wire, plain = call.wire_id, self._plain(call.id)
        if wire.startswith(self._prefix) and self._valid.fullmatch(wire) and self._is_free(wire):
            return wire
        return plain if self._is_free(plain) else self._hashed(call.id, self._prefix, 24)

    def _nine(self, call: Numbered) -> str:
        wire = call.wire_id
        if len(wire) == 9 and self._is_free(wire) and _NINE.fullmatch(wire):
            return wire
        return self._hashed(call.id, "", 9)

    def _for_kimi(self, call: Numbered) -> str:
        name = self._names.project(call.name)
        match = _KIMI.fullmatch(call.wire_id)
        if match and match[1] == name and self._is_free(call.wire_id) and str(int(match[2])) == match[2]:
            self._highest = max(self._highest, int(match[2]))
            return call.wire_id
        self._highest += 1  # higher than every index in the table, so it is free under every name
        return f"functions.{name}:{self._highest}"

    def _hashed(self, call_id: CallId, prefix: str, length: int) -> str:
        stem = call_id.removeprefix(_OURS)
        for attempt in range(1_000):
            candidate = prefix + base62(stem, attempt, length=length)
            if self._is_free(candidate):
                return candidate
        raise ProjectionError("no free id after a thousand tries", layer="projection", calls=[str(call_id)])
