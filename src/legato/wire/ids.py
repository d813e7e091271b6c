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
from legato.model.hashing import base62, digits62
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
    @property
    def namespace(self) -> str: ...


_PREFIXED: dict[IdScheme, tuple[str, re.Pattern[str]]] = {
    IdScheme.CALL40: ("call_", re.compile(r"call_[A-Za-z0-9_-]{1,35}")),
    IdScheme.CALL64: ("call_", re.compile(r"call_[A-Za-z0-9_-]{1,59}")),
    IdScheme.TOOLU: ("toolu_", re.compile(r"toolu_[A-Za-z0-9_-]{1,58}")),
}
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_PRIME = 62**9 - 9
"""the largest prime below: a stem modulo it tells calls apart as well as a hash would, in a third of the time"""
_SPREAD = 0x9E3779B97F4A7C15
"""the golden ratio in 64 bits: what makes the ids of short stems use all nine digits"""
_KIMI_PREFIX = "functions."
_KIMI = re.compile(r"functions\.(.+):([0-9]{1,6})", re.DOTALL)


class IdTable(dict[CallId, str]):
    """Our ids to one scheme's ids. Extend it with all calls, in ordinal order, each once."""

    def __init__(self, scheme: IdScheme, names: Names) -> None:
        super().__init__()
        self.scheme = scheme
        self._names = names
        self._prefix, self._valid = _PREFIXED.get(scheme, ("", _NINE))
        self._choose = {IdScheme.KIMI: self._for_kimi, IdScheme.NINE: self._nine}.get(scheme, self._prefixed)
        self._is_plain = bool(self._prefix)
        """whether every id is the prefix and the stem of our own: those differ as ours do, so none is in the way"""
        self._taken: set[str] = set()
        """the ids that are in the table, unless all are plain"""
        self._highest = -1  # Kimi's counter

    def extend(self, calls: Sequence[Numbered]) -> None:
        """Add `calls`, which follow those that are here already."""
        if self._is_plain:
            if self._extend_plain(calls):
                return
            self._is_plain = False
            self._taken.update(self.values())
        taken = self._taken
        for call in calls:
            call_id, wire = call.id, self._choose(call)
            if call_id in self or wire in taken:
                raise ProjectionError(
                    f"the id {wire!r} of {call_id} is not its own", layer="projection", calls=[str(call_id)]
                )
            taken.add(wire)
            self[call_id] = wire

    def _extend_plain(self, calls: Sequence[Numbered]) -> bool:
        """Add `calls` if each gets its plain id, as nearly all do; False, with nothing done, if not.

        A provider's id is kept where it has the prefix. Most come from another provider; what sorts before the prefix
        does not begin with it, and that is quickly asked.
        """
        prefix, is_valid = self._prefix, self._valid.fullmatch
        before = len(self)
        for call in calls:
            call_id, wire = call.id, call.wire_id
            plain = prefix + call_id.removeprefix(_OURS)
            if wire >= prefix and wire.startswith(prefix) and wire != plain and is_valid(wire):
                for added in calls[: len(self) - before]:
                    del self[added.id]
                return False
            self[call_id] = plain
        if len(self) < before + len(calls):
            raise ProjectionError(
                "a call was given an id twice", layer="projection", calls=sorted({str(call.id) for call in calls})
            )
        return True

    def _prefixed(self, call: Numbered) -> str:
        wire, plain = call.wire_id, self._prefix + call.id.removeprefix(_OURS)
        if wire.startswith(self._prefix) and wire not in self._taken and self._valid.fullmatch(wire):
            return wire
        # A stem is short and plain, so this is valid in every scheme that has a prefix.
        return plain if plain not in self._taken else self._hashed(call.id)

    def _nine(self, call: Numbered) -> str:
        wire = call.wire_id
        if len(wire) == 9 and wire not in self._taken and _NINE.fullmatch(wire):
            return wire
        number = int.from_bytes(call.id.removeprefix(_OURS).encode(), "big") * _SPREAD % _PRIME
        while (candidate := digits62(number, 9)) in self._taken:
            number = (number + 1) % _PRIME
        return candidate

    def _for_kimi(self, call: Numbered) -> str:
        name, wire = self._names.project(call.name, call.namespace), call.wire_id
        match = _KIMI.fullmatch(wire) if wire.startswith(_KIMI_PREFIX) else None
        # The index counts all calls of a conversation, whatever their tools. Some servers begin anew in every answer.
        if match and match[1] == name and int(match[2]) > self._highest and str(int(match[2])) == match[2]:
            self._highest = int(match[2])
            return wire
        self._highest += 1
        return f"{_KIMI_PREFIX}{name}:{self._highest}"

    def _hashed(self, call_id: CallId) -> str:
        stem = call_id.removeprefix(_OURS)
        for attempt in range(1_000):
            candidate = self._prefix + base62(stem, attempt, length=24)
            if candidate not in self._taken:
                return candidate
        raise ProjectionError("no free id after a thousand tries", layer="projection", calls=[str(call_id)])
