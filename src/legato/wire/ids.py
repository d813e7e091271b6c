"""Our call ids as each provider's ids.

One append-only table per scheme, extended in ordinal order over every call ever recorded, also those that were
compacted away or undone. An id therefore depends on earlier calls only: adding, closing or compacting a call never
changes another's id. A provider's own id is kept wherever it is valid and free: an id is no secret, and what was right
stays as it was. No clock, no randomness.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from legato.errors import ProjectionError
from legato.model import CallId, IdScheme
from legato.model.hashing import base62
from legato.wire.contract import Names

CANONICAL_PREFIX = "hist_tool_"


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


class IdTable(Mapping[CallId, str]):
    """Our ids to one scheme's ids. Extend it with all calls, in ordinal order, each once."""

    def __init__(self, scheme: IdScheme, names: Names) -> None:
        self.scheme = scheme
        self._names = names
        self._wire: dict[CallId, str] = {}
        self._taken: set[str] = set()
        self._highest = -1  # Kimi's counter

    @property
    def count(self) -> int:
        """How many calls the table holds: the ordinal of the next one."""
        return len(self._wire)

    def extend(self, calls: Iterable[Numbered]) -> None:
        """Add `calls`, which follow those that are here already."""
        for call in calls:
            wire = self._choose(call)
            if wire in self._taken or call.id in self._wire:
                raise ProjectionError(
                    f"the id {wire!r} of {call.id} is not its own", layer="projection", calls=[str(call.id)]
                )
            self._taken.add(wire)
            self._wire[call.id] = wire

    def _choose(self, call: Numbered) -> str:
        wire = call.wire_id
        match self.scheme:
            case IdScheme.KIMI:
                return self._choose_for_kimi(call)
            case IdScheme.NINE:
                if _NINE.fullmatch(wire) and wire not in self._taken:
                    return wire
                stem = stem_of(call.id)
                return self._first_free(base62(stem, n, length=9) for n in range(1_000))
            case IdScheme.CALL40 | IdScheme.CALL64 | IdScheme.TOOLU:
                prefix, valid = _PREFIXED[self.scheme]
                if wire not in self._taken and valid.fullmatch(wire):
                    return wire
                stem = stem_of(call.id)
                plain = prefix + stem
                if plain not in self._taken and valid.fullmatch(plain):
                    return plain
                return self._first_free(prefix + base62(stem, n, length=24) for n in range(1_000))

    def _choose_for_kimi(self, call: Numbered) -> str:
        name = self._names.project(call.name)
        match = _KIMI.fullmatch(call.wire_id)
        if match and match[1] == name and call.wire_id not in self._taken and str(int(match[2])) == match[2]:
            self._highest = max(self._highest, int(match[2]))
            return call.wire_id
        self._highest += 1  # higher than every index in the table, so it is free under every name
        return f"functions.{name}:{self._highest}"

    def _first_free(self, candidates: Iterable[str]) -> str:
        for candidate in candidates:
            if candidate not in self._taken:
                return candidate
        raise ProjectionError("no free id after a thousand tries", layer="projection")

    def __getitem__(self, call_id: CallId) -> str:
        return self._wire[call_id]

    def __iter__(self) -> Iterator[CallId]:
        return iter(self._wire)

    def __len__(self) -> int:
        return len(self._wire)


def stem_of(call_id: CallId) -> str:
    """What is particular in one of our ids."""
    return call_id.removeprefix(CANONICAL_PREFIX)
