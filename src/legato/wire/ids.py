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
from legato.wire.contract import Names

_STEM_START = len("hist_tool_")
"""where what is particular in one of our ids begins"""


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
        self._highest = -1  # Kimi's counter

    def extend(self, calls: Sequence[Numbered]) -> None:
        """Add `calls`, which follow those that are here already."""
        if self._prefix and self._extend_at_once(calls):
            return
        taken = self._taken
        for call in calls:
            call_id, wire = call.id, self._choose(call)
            if wire in taken or call_id in self:
                raise ProjectionError(
                    f"the id {wire!r} of {call_id} is not its own", layer="projection", calls=[str(call_id)]
                )
            taken.add(wire)
            self[call_id] = wire

    def _extend_at_once(self, calls: Sequence[Numbered]) -> bool:
        """Add `calls` if each gets the id that it would get alone, as nearly all do; False, with nothing done, if not.

        If no two of these ids are the same and none is taken, then none would be in the way of another.
        """
        prefix, is_valid, taken = self._prefix, self._valid.fullmatch, self._taken
        added: dict[CallId, str] = {}
        for call in calls:
            call_id, wire = call.id, call.wire_id
            if not wire.startswith(prefix) or not is_valid(wire):
                wire = (
                    prefix + call_id[_STEM_START:]
                )  # a stem is short and plain, so this is valid in every such scheme
            added[call_id] = wire
        count = len(self) + len(calls)
        taken.update(added.values())
        if len(taken) < count:
            self._taken = set(self.values())
            return False
        self.update(added)
        if len(self) < count:
            raise ProjectionError("a call was given an id twice", layer="projection", calls=[*map(str, added)])
        return True

    def _prefixed(self, call: Numbered) -> str:
        prefix, wire = self._prefix, call.wire_id
        if wire.startswith(prefix) and wire not in self._taken and self._valid.fullmatch(wire):
            return wire
        plain = prefix + call.id[_STEM_START:]
        return plain if plain not in self._taken else self._hashed(call.id, prefix, 24)

    def _nine(self, call: Numbered) -> str:
        wire = call.wire_id
        if len(wire) == 9 and wire not in self._taken and _NINE.fullmatch(wire):
            return wire
        return self._hashed(call.id, "", 9)

    def _for_kimi(self, call: Numbered) -> str:
        name = self._names.project(call.name)
        match = _KIMI.fullmatch(call.wire_id)
        if match and match[1] == name and call.wire_id not in self._taken and str(int(match[2])) == match[2]:
            self._highest = max(self._highest, int(match[2]))
            return call.wire_id
        self._highest += 1  # higher than every index in the table, so it is free under every name
        return f"functions.{name}:{self._highest}"

    def _hashed(self, call_id: CallId, prefix: str, length: int) -> str:
        stem = call_id[_STEM_START:]
        for attempt in range(1_000):
            candidate = prefix + base62(stem, attempt, length=length)
            if candidate not in self._taken:
                return candidate
        raise ProjectionError("no free id after a thousand tries", layer="projection", calls=[str(call_id)])
