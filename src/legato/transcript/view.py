"""The units of a conversation as a target with a given window sees them, kept up to date as the log grows.

Compaction records say what may be left out, each for windows up to some size; a view applies those that hold for its
window. It remembers which of its places changed, and why, so that whoever printed them prints only those again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from legato.model import Action, CallId, Decision, Fault, PrefixCause
from legato.model.records import Compacted, CompactionKind
from legato.transcript.compose import Composer
from legato.transcript.slots import Slot, summary_slot
from legato.transcript.units import Exchange, Unit


class Change(NamedTuple):
    """The slot at `place` changed; with `shifts`, everything from there on did."""

    place: int
    cause: PrefixCause
    shifts: bool = False


class View:
    """What one window sees. Call `refresh` before reading it."""

    def __init__(self, composer: Composer, window: int) -> None:
        self.window = window
        self.slots: list[Slot] = []
        self.changes: list[Change] = []
        self._composer = composer
        self._ledger = composer.ledger
        self._taken = 0
        """how many of the composer's slots are in"""
        self._cursor = len(composer.touched)
        self._epoch = composer.epoch
        self._index: dict[Slot, int] = {}
        self._shortened: dict[CallId, tuple[CompactionKind, str]] = {}
        self._variants: dict[Slot, tuple[int, Unit | None]] = {}
        self._summaries: dict[int, Slot] = {}
        self._rebuild()

    def refresh(self) -> None:
        """Take what the composer has placed or changed since the last time."""
        composer = self._composer
        if composer.epoch != self._epoch:
            self._epoch = composer.epoch
            self._rebuild(composer.epoch_cause)
        for slot in composer.slots[self._taken :]:
            self._index[slot] = len(self.slots)
            self.slots.append(slot)
        self._taken = len(composer.slots)
        for slot in composer.touched[self._cursor :]:
            index = self._index.get(slot)
            if index is not None:
                self.changes.append(Change(index, slot.cause or PrefixCause.LATE_RESULT))
        self._cursor = len(composer.touched)

    def unit(self, index: int) -> Unit | None:
        """The unit at `index`; None if it has nothing to say."""
        slot = self.slots[index]
        unit = slot.make(self._ledger) if slot.is_stale else slot.unit
        if not self._shortened or type(unit) is not Exchange:
            return unit
        known = self._variants.get(slot)
        if known is None or known[0] != slot.revision:
            known = self._variants[slot] = (slot.revision, self._shorten(unit))
        return known[1]

    def units_from(self, start: int) -> Iterator[tuple[Slot, Unit | None, tuple[Decision, ...]]]:
        """Every place from `start` on: its slot, its unit, and what was decided for it."""
        if self._shortened:
            for index in range(start, len(self.slots)):
                yield self.slots[index], self.unit(index), self.decisions(index)
            return
        ledger = self._ledger
        for slot in islice(self.slots, start, None):
            unit = slot.make(ledger) if slot.is_stale else slot.unit
            yield slot, unit, slot.decisions

    def decisions(self, index: int) -> tuple[Decision, ...]:
        """What was decided for the unit at `index`."""
        slot = self.slots[index]
        if not self._shortened:
            if slot.is_stale:
                slot.make(self._ledger)
            return slot.decisions
        unit = self.unit(index)
        if type(unit) is not Exchange:
            return slot.decisions
        shortened = [completion.call_id for completion in unit.completions if completion.shortened is not None]
        return slot.decisions + tuple(
            Decision(Action.COMPACTED, self._shortened[call][0].value, Fault.RENDERING, calls=(call,))
            for call in shortened
        )

    def units(self) -> Iterator[Unit]:
        """Every unit, in order."""
        for index in range(len(self.slots)):
            unit = self.unit(index)
            if unit is not None:
                yield unit

    def _shorten(self, unit: Exchange) -> Exchange:
        """`unit` with the outputs that a clip or a stub replaces; closures are short already."""
        if not any(completion.call_id in self._shortened for completion in unit.completions):
            return unit
        completions = tuple(
            replace(completion, shortened=self._shortened[completion.call_id][1], media=())
            if completion.is_real and completion.call_id in self._shortened
            else completion
            for completion in unit.completions
        )
        return replace(unit, completions=completions, is_plain=False)

    def _rebuild(self, cause: PrefixCause = PrefixCause.COMPACTION) -> None:
        """Lay out the slots again; the first one that differs from before is a change that shifts."""
        before, shortened_before = self.slots, self._shortened
        active = {
            seq: record for seq, record in sorted(self._composer.compactions.items()) if record.window >= self.window
        }
        self._shortened = {
            record.call: (record.kind, record.text) for record in active.values() if record.call is not None
        }
        slots = list(self._composer.slots)
        for seq, record in _outermost(active):
            slots = self._cover(slots, seq, record)
        self.slots = slots
        self._taken = len(self._composer.slots)
        self._index = {slot: index for index, slot in enumerate(slots)}
        first = next(
            (index for index, (old, new) in enumerate(zip(before, slots, strict=False)) if old is not new),
            min(len(before), len(slots)),
        )
        if first < len(before):
            self.changes.append(Change(first, cause, shifts=True))
        if shortened_before != self._shortened:
            self._variants.clear()
            self._note_shortened(shortened_before, cause, first)

    def _note_shortened(self, before: dict[CallId, tuple[CompactionKind, str]], cause: PrefixCause, end: int) -> None:
        differing = {
            call for call in before.keys() | self._shortened.keys() if before.get(call) != self._shortened.get(call)
        }
        for index, slot in enumerate(self.slots[:end]):
            unit = slot.make(self._ledger)
            if type(unit) is Exchange and any(c.call_id in differing for c in unit.completions):
                self.changes.append(Change(index, cause))

    def _cover(self, slots: list[Slot], seq: int, record: Compacted) -> list[Slot]:
        """`slots` with a summary in place of those that lie whole inside the record's span, and before the record."""
        last = min(record.last, seq - 1)
        covered = [slot for slot in slots if record.first <= slot.first and slot.last <= last]
        if not covered:
            return slots
        summary = self._summaries.get(seq)
        if summary is None:
            summary = self._summaries[seq] = summary_slot(record.text, record.first, last)
            summary.decisions = (Decision(Action.COMPACTED, "cover", Fault.RENDERING),)
        gone = set(covered)
        place = slots.index(covered[0])
        result = [slot for slot in slots if slot not in gone]
        result.insert(place, summary)
        return result


def _outermost(active: dict[int, Compacted]) -> list[tuple[int, Compacted]]:
    """The covers, oldest first, without those that lie whole inside a later one."""
    covers: list[tuple[int, Compacted]] = []
    for seq, record in active.items():
        if record.kind is CompactionKind.COVER:
            last = min(record.last, seq - 1)
            covers = [
                (at, inner) for at, inner in covers if inner.first < record.first or min(inner.last, at - 1) > last
            ]
            covers.append((seq, record))
    return covers
