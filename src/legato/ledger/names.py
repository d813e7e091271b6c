"""Our own names for calls: which are taken, and which one is free.

A name is `hist_tool_` and a stem, with a number behind it where the stem is taken. Names are never given twice in one
log, not even after an undo, and the same log gives the same names on every machine: no clock, no randomness.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from legato.ledger.stems import PREFIX, stem_of
from legato.model import CallId


@dataclass(slots=True)
class TakenNames:
    """The names in one log, and the ordinal of the next one."""

    next_ordinal: int = 0
    taken: dict[str, int] = field(default_factory=dict[str, int])
    """each stem in use, with a number below which all its suffixes are in use too"""

    def free(self, bare_id: str, wire_id: str, tool_name: str) -> CallId:
        """A name that nothing has, with a suffix if its stem is taken."""
        stem = stem_of(bare_id, wire_id, tool_name, self.next_ordinal)
        if stem not in self.taken:
            return PREFIX + stem
        number = self.taken[stem] + 1
        while f"{stem}_{number}" in self.taken:
            number += 1
        self.taken[stem] = number - 1
        return PREFIX + f"{stem}_{number}"

    def take(self, name: CallId, ordinal: int) -> None:
        """Something has this name and this ordinal."""
        self.next_ordinal = ordinal + 1
        self.taken[name[len(PREFIX) :]] = 1

    def has(self, call_id: str) -> bool:
        """Whether something has this name."""
        return call_id.startswith(PREFIX) and call_id[len(PREFIX) :] in self.taken
