"""Our call ids as each provider's ids.

One append-only table per scheme, extended in ordinal order over every call ever recorded, also those that were
compacted away or undone. An id therefore depends on earlier calls only: adding, closing or compacting a call never
changes another's id. A provider's own id is kept wherever it is valid and free: an id is no secret, and what was right
stays as it was. No clock, no randomness.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Protocol
from zlib import crc32

from legato.errors import ProjectionError
from legato.model import CallId, IdScheme
from legato.model.hashing import base62
from legato.wire.context import Names

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


# Where each form comes from is said at `IdScheme`.
_PREFIXED: dict[IdScheme, tuple[str, re.Pattern[str]]] = {
    IdScheme.CALL40: ("call_", re.compile(r"call_[A-Za-z0-9_-]{1,35}")),
    IdScheme.CALL64: ("call_", re.compile(r"call_[A-Za-z0-9_-]{1,59}")),
    IdScheme.TOOLU: ("toolu_", re.compile(r"toolu_[A-Za-z0-9_-]{1,58}")),
    IdScheme.TOOLUSE: ("tooluse_", re.compile(r"tooluse_[A-Za-z0-9_-]{1,56}")),
}
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_KIMI_PREFIX = "functions."
_KIMI = re.compile(r"functions\.(.+):([0-9]{1,6})", re.DOTALL)


class IdTable(dict[CallId, str]):
    """Our ids to one scheme's ids. Extend it with all calls, in ordinal order, each once."""

    def __init__(self, scheme: IdScheme, names: Names) -> None:
        super().__init__()
        self.scheme = scheme
        self._names = names
        self._prefix, self._valid = _PREFIXED.get(scheme, ("", _NINE))
        self._all_derived = bool(self._prefix)
        """whether every id is the prefix and the stem of our own: those differ as ours do, so none is in the way"""
        self._taken: set[str] = set()
        """the ids that are in the table, unless they cannot collide"""
        self._highest = -1  # Kimi's counter

    def extend(self, calls: Sequence[Numbered]) -> None:
        """Add `calls`, which follow those that are here already."""
        size = len(self) + len(calls)
        if self.scheme is IdScheme.KIMI:
            self._extend_counted(calls)
        elif self.scheme is IdScheme.NINE:
            self._extend_nine(calls)
        elif not (self._all_derived and self._extend_derived(calls)):
            self._extend_prefixed(calls)
        if len(self) != size or (self._taken and len(self._taken) != size):
            uses = Counter(self.values())
            shared = [str(call_id) for call_id, wire in self.items() if uses[wire] > 1]
            raise ProjectionError(
                "a call was given an id twice, or two calls the same one",
                layer="projection",
                calls=sorted(shared or {str(call.id) for call in calls}),
            )

    def _extend_derived(self, calls: Sequence[Numbered]) -> bool:
        """Add `calls` if each gets an id derived from ours, as nearly all do; False, with nothing done, if not.

        A provider's id is kept where it has the prefix. Most come from another provider; what sorts before the prefix
        does not begin with it, and that is quickly asked.
        """
        prefix, is_valid = self._prefix, self._valid.fullmatch
        derived: dict[CallId, str] = {}
        for call in calls:
            call_id, theirs = call.id, call.wire_id
            derived[call_id] = wire = prefix + call_id.removeprefix(_OURS)
            if theirs >= prefix and theirs != wire and theirs.startswith(prefix) and is_valid(theirs):
                return False
        self.update(derived)
        return True

    def _extend_prefixed(self, calls: Sequence[Numbered]) -> None:
        taken, prefix, is_valid = self._taken, self._prefix, self._valid.fullmatch
        if self._all_derived:
            self._all_derived = False
            taken.update(self.values())
        for call in calls:
            wire = call.wire_id
            if not wire.startswith(prefix) or wire in taken or not is_valid(wire):
                # A stem is short and plain, so this is valid in every scheme that has a prefix.
                wire = prefix + call.id.removeprefix(_OURS)
                if wire in taken:
                    wire = self._hashed(call.id)
            taken.add(wire)
            self[call.id] = wire

    def _extend_nine(self, calls: Sequence[Numbered]) -> None:
        """Add ids of nine letters and digits: a provider's own, or a checksum of our stem, or the next that is free."""
        taken, is_valid = self._taken, _NINE.fullmatch
        for call in calls:
            call_id, wire = call.id, call.wire_id
            if len(wire) != 9 or wire in taken or not is_valid(wire):
                number = crc32(call_id.removeprefix(_OURS).encode())
                while (wire := f"{number:09x}") in taken:
                    number += 1
            taken.add(wire)
            self[call_id] = wire

    def _extend_counted(self, calls: Sequence[Numbered]) -> None:
        """Add ids that end in a number, as Kimi's do. The numbers rise, so that no id is in another's way."""
        project, highest = self._names.project, self._highest
        names: dict[str, str] = {}
        for call in calls:
            name, wire = call.name, call.wire_id
            if call.namespace:
                name = project(name, call.namespace)
            elif name in names:
                name = names[name]
            else:
                name = names[name] = project(name)
            if wire.startswith(_KIMI_PREFIX) and (number := _number_of(wire, name)) > highest:
                highest = number
                self[call.id] = wire
            else:
                highest += 1
                self[call.id] = f"{_KIMI_PREFIX}{name}:{highest}"
        self._highest = highest

    def _hashed(self, call_id: CallId) -> str:
        stem = call_id.removeprefix(_OURS)
        for attempt in range(1_000):
            candidate = self._prefix + base62(stem, attempt, length=24)
            if candidate not in self._taken:
                return candidate
        raise ProjectionError("no free id after a thousand tries", layer="projection", calls=[str(call_id)])


def _number_of(wire_id: str, name: str) -> int:
    """The number at the end of an id that Kimi gave to a call of this tool; -1 if it is no such id.

    The number counts all calls of a conversation, whatever their tools. Some servers begin anew in every answer.
    """
    match = _KIMI.fullmatch(wire_id)
    if match is None or match[1] != name:
        return -1
    number = int(match[2])
    return number if str(number) == match[2] else -1
