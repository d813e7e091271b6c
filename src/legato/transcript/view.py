"""The units of a conversation as a target with a given window sees them, kept up to date as the log grows.

Compaction records say what may be left out, each for windows up to some size; a view applies those that hold for its
window. It remembers which of its places changed, and why, so that only those are encoded again.
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
from legato.transcript.units import Completion, Exchange, Unit, output_digest


class Change(NamedTuple):
    """The slot at `place` changed; with `shifts`, everything from there on did."""

    place: int
    cause: PrefixCause
    shifts: bool = False


class _Short(NamedTuple):
    """What a clip or a stub puts in place of an output, and the name of the output it was made from."""

    kind: CompactionKind
    text: str
    digest: str

    def is_of(self, completion: Completion) -> bool:
        """Whether it was made from this end of its call; a result that came later is not what was shortened."""
        return completion.is_real if not self.digest else self.digest == output_digest(completion)


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
        """the places of the slots, as far as someone asked for one"""
        self._shortened: dict[CallId, _Short] = {}
        self._covers: list[tuple[int, Compacted]] = []
        """the covers that hold, without those that lie whole inside a later one"""
        self._is_tangled = False
        """whether two of them overlap in part; then their order matters, and one more is not simply put on top"""
        self._variants: dict[Slot, tuple[int, Unit | None]] = {}
        self._summaries: dict[int, Slot] = {}
        self._rebuild()

    def refresh(self) -> None:
        """Take what the composer has placed or changed since the last time."""
        composer = self._composer
        if composer.epoch != self._epoch:
            since, self._epoch = self._epoch, composer.epoch
            # As many compactions came as there were epochs, unless something was taken back meanwhile.
            added = list(islice(reversed(composer.compactions.items()), composer.epoch - since))[::-1]
            if composer.taken_back > since or not self._add(added):
                self._rebuild(composer.epoch_cause)
        self._take_new()
        for slot in composer.touched[self._cursor :]:
            index = self._place_of(slot)
            if index is not None:
                self.changes.append(Change(index, slot.cause or PrefixCause.LATE_RESULT))
        self._cursor = len(composer.touched)

    def _take_new(self) -> None:
        self.slots += self._composer.slots[self._taken :]
        self._taken = len(self._composer.slots)

    def _place_of(self, slot: Slot) -> int | None:
        known = len(self._index)
        if known < len(self.slots):
            self._index.update(zip(self.slots[known:], range(known, len(self.slots)), strict=True))
        return self._index.get(slot)

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

    def units_from(self, start: int) -> list[Unit | None]:
        """The unit of every place from `start` on."""
        if self._shortened:
            return [self.unit(index) for index in range(start, len(self.slots))]
        ledger = self._ledger
        return [slot.make(ledger) if slot.is_stale else slot.unit for slot in self.slots[start:]]

    def decisions_from(self, start: int) -> dict[int, tuple[Decision, ...]]:
        """What was decided, by place, for those places from `start` on where something was."""
        if self._shortened:
            places = range(start, len(self.slots))
            return {place: decided for place in places if (decided := self.decisions(place))}
        return {place: slot.decisions for place, slot in enumerate(self.slots[start:], start) if slot.decisions}

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
            Decision(Action.COMPACTED, self._shortened[call].kind.value, Fault.RENDERING, calls=(call,))
            for call in shortened
        )

    def units(self) -> Iterator[Unit]:
        """Every unit, in order."""
        for index in range(len(self.slots)):
            unit = self.unit(index)
            if unit is not None:
                yield unit

    def _shorten(self, unit: Exchange) -> Exchange:
        """`unit` with the outputs that a clip or a stub replaces."""
        completions = tuple(
            replace(completion, shortened=short.text, media=())
            if (short := self._shortened.get(completion.call_id)) is not None and short.is_of(completion)
            else completion
            for completion in unit.completions
        )
        if all(new is old for new, old in zip(completions, unit.completions, strict=True)):
            return unit
        return replace(unit, completions=completions)

    # --- laying out ---------------------------------------------------------------------------------------------------

    def _rebuild(self, cause: PrefixCause = PrefixCause.COMPACTION) -> None:
        """Lay out all slots again."""
        before, shortened_before = self.slots, self._shortened
        active = {
            seq: record for seq, record in sorted(self._composer.compactions.items()) if record.window >= self.window
        }
        self._shortened = {record.call: _short(record) for record in active.values() if record.call is not None}
        self._covers = _outermost([], active)
        self._is_tangled = _are_tangled(self._covers)
        self.slots = list(self._composer.slots)
        for seq, record in self._covers:
            self._cover(seq, record)
        self._taken = len(self._composer.slots)
        known = shortened_before.keys() | self._shortened.keys()
        differing = {call for call in known if shortened_before.get(call) != self._shortened.get(call)}
        self._note_order(before, differing, cause)

    def _add(self, added: list[tuple[int, Compacted]]) -> bool:
        """Put the newest compactions on top of what is laid out: as much work as the view is long, not the log.

        False if the outcome would differ from laying out everything again.
        """
        active = {seq: record for seq, record in added if record.window >= self.window}
        covers = _outermost(self._covers, active)
        if self._is_tangled or _are_tangled(covers):
            return False
        before = self.slots[:]
        self._take_new()
        self._covers = covers
        differing: set[CallId] = set()
        for seq, record in active.items():
            if record.call is not None:
                short = _short(record)
                if self._shortened.get(record.call) != short:
                    self._shortened[record.call] = short
                    differing.add(record.call)
            if record.kind is CompactionKind.COVER:
                self._cover(seq, record)
        self._note_order(before, differing, PrefixCause.COMPACTION)
        return True

    def _note_order(self, before: list[Slot], differing: set[CallId], cause: PrefixCause) -> None:
        """Note what changed: from the first slot that is another one everything, and before it what is shortened."""
        slots = self.slots
        self._index = {}
        first = next(
            (index for index, (old, new) in enumerate(zip(before, slots, strict=False)) if old is not new),
            min(len(before), len(slots)),
        )
        if first < len(before):
            self.changes.append(Change(first, cause, shifts=True))
        if not differing:
            return
        for index, slot in enumerate(slots):
            unit = slot.make(self._ledger)
            if type(unit) is Exchange and any(c.call_id in differing for c in unit.completions):
                self._variants.pop(slot, None)
                if index < first:
                    self.changes.append(Change(index, cause))

    def _cover(self, seq: int, record: Compacted) -> None:
        """Put a summary in place of the slots that lie whole inside the record's span, and before the record."""
        last = min(record.last, seq - 1)
        covered = [slot for slot in self.slots if record.first <= slot.first and slot.last <= last]
        if not covered:
            return
        summary = self._summaries.get(seq)
        if summary is None:
            summary = self._summaries[seq] = summary_slot(record.text, record.first, last)
            summary.decisions = (Decision(Action.COMPACTED, "cover", Fault.RENDERING),)
        gone = set(covered)
        place = self.slots.index(covered[0])
        self.slots = [slot for slot in self.slots if slot not in gone]
        self.slots.insert(place, summary)
        for slot in covered:
            self._variants.pop(slot, None)


def _short(record: Compacted) -> _Short:
    return _Short(record.kind, record.text, record.digest)


def _outermost(covers: list[tuple[int, Compacted]], active: dict[int, Compacted]) -> list[tuple[int, Compacted]]:
    """`covers` and the newer ones in `active`, oldest first, without those that lie whole inside a later one."""
    for seq, record in active.items():
        if record.kind is CompactionKind.COVER:
            last = min(record.last, seq - 1)
            covers = [
                (at, inner) for at, inner in covers if inner.first < record.first or min(inner.last, at - 1) > last
            ]
            covers.append((seq, record))
    return covers


def _are_tangled(covers: list[tuple[int, Compacted]]) -> bool:
    """Whether two of `covers` overlap in part: neither lies whole inside the other."""
    spans = sorted((record.first, -min(record.last, seq - 1)) for seq, record in covers)
    ends: list[int] = []
    for first, end in spans:
        while ends and ends[-1] < first:
            ends.pop()
        if ends and ends[-1] < -end:
            return True
        ends.append(-end)
    return False
