"""One conversation as one target sees it, kept from request to request.

A unit is spelled once, and again only if it changed or if the unit before it came to end differently. Whatever else can
change how a unit is printed is in the fingerprint that a spelling is kept under, so a turn costs what is new.
"""

from __future__ import annotations

from msgspec import Struct

from legato.model import Authority, Decision, Include, PrefixCause, ThinkingPolicy
from legato.request.assembly import Assembly
from legato.request.report import PrefixChange
from legato.transcript.conversation import Conversation
from legato.transcript.slots import Slot
from legato.transcript.units import Said, Unit
from legato.transcript.view import Change
from legato.wire.contract import DialectParts, End, Envelope, Head, Spelled, Voice
from legato.wire.dialects import dialect_parts

_ALL, _CURRENT_TURN = Include.ALL, Include.CURRENT_TURN


class Printed(Struct, frozen=True, gc=False):
    """One printed place: everything its print depends on, and the print."""

    slot: Slot
    revision: int
    before: End
    keeps_thinking: bool
    unit: Unit | None
    spelled: Spelled
    decisions: tuple[Decision, ...]


class Spelling:
    """The printed units of one conversation for one target, in order."""

    def __init__(self, talk: Conversation, voice: Voice, policy: ThinkingPolicy) -> None:
        self.parts: DialectParts = dialect_parts(voice.target.dialect)
        self.voice = voice
        self.view = talk.view(voice.target.capabilities.window)
        self.printed: list[Printed] = []
        self.assembly = Assembly(self.parts.blocks_field)
        self.units_spelled = 0
        """how often a unit was spelled: the work that was really done"""
        self.rendered = 0
        """how many places the newest request held"""
        self.cached_end: tuple[int, int] | None = None
        """the last (message, block) of the newest request: up to there the provider may have cached it"""
        self.head: tuple[Envelope, bool, Head, bytes] | None = None
        """the newest head and what it was printed from: it seldom changes from one request to the next"""
        self._policy = policy
        self._cursor = 0
        self._turn = 0
        """the place of the newest human message; what is before it is not of the current turn"""

    @property
    def end(self) -> End:
        """How the last printed unit ended."""
        return self.printed[-1].spelled.end if self.printed else End.START

    def advance(self) -> PrefixChange | None:
        """Print what is new; the first change in what the newest request held, if there is one."""
        self.view.refresh()
        start = len(self.printed)
        changes = self.view.changes[self._cursor :]
        if changes or self._policy.include is _CURRENT_TURN:
            self._cursor += len(changes)
            start = min([start, *(change.place for change in changes), *self._turn_changes()])
        old = self.printed[start:]
        self._print_from(start, {printed.slot: printed for printed in old})
        change = self._first_change(start, old[: max(self.rendered - start, 0)], changes) if old else None
        self.rendered = len(self.printed)
        return change

    def _turn_changes(self) -> range:
        """The places whose thinking is kept or left out otherwise than before, because a turn began or was undone."""
        before, self._turn = self._turn, self._newest_turn()
        return range(min(before, self._turn), max(before, self._turn))

    def _newest_turn(self) -> int:
        for place in range(len(self.view.slots) - 1, -1, -1):
            unit = self.view.unit(place)
            if type(unit) is Said and unit.authority is Authority.PERSON:
                return place
        return 0

    def _print_from(self, start: int, known: dict[Slot, Printed]) -> None:
        if start < len(self.printed):
            self.printed = self.printed[:start]  # requests keep the list that was
            self.assembly.cut(start)
        end = self.end
        view, voice, spell = self.view, self.voice, self.parts.spell
        places, append = self.printed, self.assembly.append
        include = self._policy.include
        keeps = include is _ALL
        for slot, unit, decided in view.units_from(start):
            if include is _CURRENT_TURN:
                keeps = len(places) >= self._turn
            printed = known.get(slot) if known else None
            if printed is None or not _still_holds(printed, slot.revision, end, keeps, unit):
                spelled = Spelled((), end) if unit is None else spell(unit, end, voice, keeps)
                decisions = decided + spelled.decisions if spelled.decisions else decided
                printed = Printed(slot, slot.revision, end, keeps, unit, spelled, decisions)
                self.units_spelled += 1
            else:
                spelled = printed.spelled
            places.append(printed)
            append(spelled.groups)
            end = spelled.end

    def _first_change(self, start: int, old: list[Printed], changes: list[Change]) -> PrefixChange | None:
        for place, printed in enumerate(old, start):
            now = self.printed[place] if place < len(self.printed) else None
            if now is None or now.spelled.groups != printed.spelled.groups:
                causes = [change for change in changes if change.place <= place]
                cause = max(causes, key=lambda change: change.place).cause if causes else PrefixCause.THINKING_POLICY
                return PrefixChange(cause, printed.slot.first)
        return None

    def first_difference(self, earlier: Spelling) -> int | None:
        """The first unit of the newest request of `earlier` that is printed otherwise here; None if this extends it."""
        for place, printed in enumerate(earlier.printed[: earlier.rendered]):
            if place >= len(self.printed) or self.printed[place].spelled.groups != printed.spelled.groups:
                return printed.slot.first
        return None


def _still_holds(printed: Printed, revision: int, before: End, keeps: bool, unit: Unit | None) -> bool:
    return (
        printed.revision == revision
        and printed.before is before
        and printed.keeps_thinking is keeps
        and (printed.unit is unit or printed.unit == unit)
    )
