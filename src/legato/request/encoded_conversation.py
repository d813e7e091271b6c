"""One conversation as one target sees it, kept from request to request.

A unit is encoded once, and again only if it changed or if the unit before it came to end differently. Whatever else can
change how a unit is encoded is in the fingerprint that this is kept under, so a turn costs what is new.

What is known about its places is kept in columns, a list or table for each thing to know, since a long conversation
has many places and nothing to say about most of them.
"""

from __future__ import annotations

from bisect import bisect_left

from msgspec import Struct

from legato.model import Authority, Decision, Include, JsonObject, PrefixCause, Thinking, ThinkingPolicy
from legato.request.gate import Gate
from legato.request.loop import OpenLoop
from legato.request.report import PrefixChange
from legato.transcript.conversation import Conversation
from legato.transcript.slots import Slot
from legato.transcript.units import Exchange, Said, Unit
from legato.transcript.view import Change
from legato.wire.context import EncodeContext, End, Thoughts
from legato.wire.contract import DialectParts, EncodedEnvelope
from legato.wire.dialects import dialect_parts
from legato.wire.encoder import EncodedUnit, Projected
from legato.wire.options import Envelope

_ALL, _CURRENT_TURN = Include.ALL, Include.CURRENT_TURN


class EncodedPlaces:
    """What was encoded, by place. It only grows, so a request may keep it; a change begins a new one."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.units: list[Unit | None] = []
        self.decided: dict[int, tuple[Decision, ...]] = {}
        """what was decided when the unit was made, for places where something was"""
        self.projected: Projected = {}
        """what was decided when it was encoded, for places where something was"""
        self.thoughtful: list[int] = []
        """the places whose units hold thoughts"""

    def up_to(self, place: int) -> EncodedPlaces:
        """What is known of the places before `place`."""
        before = EncodedPlaces()
        before.slots, before.units = self.slots[:place], self.units[:place]
        before.decided = {at: decisions for at, decisions in self.decided.items() if at < place}
        before.projected = {at: decisions for at, decisions in self.projected.items() if at < place}
        before.thoughtful = self.thoughtful[: bisect_left(self.thoughtful, place)]
        return before

    def decisions(self, place: int) -> list[tuple[Decision, ...]]:
        """Everything that was decided for the places before `place`, in their order."""
        made = self.decided or self.projected
        if self.decided and self.projected:
            made = {
                at: self.decided.get(at, ()) + self.projected.get(at, ())
                for at in self.decided.keys() | self.projected.keys()
            }
        return [made[at] for at in sorted(made) if at < place]


class _Stale(Struct, frozen=True, gc=False):
    """A place that is no longer valid: what its encoding depended on, and the encoding, which may still hold."""

    slot: Slot
    unit: Unit | None
    before: End
    thoughts: Thoughts
    encoded: EncodedUnit

    def still_holds(self, unit: Unit | None, before: End, thoughts: Thoughts) -> bool:
        is_same = self.unit is unit or self.unit == unit
        return is_same and self.before is before and self.thoughts is thoughts


class EncodedConversation:
    """The encoded units of one conversation for one target, in order."""

    def __init__(self, talk: Conversation, context: EncodeContext, policy: ThinkingPolicy) -> None:
        self.parts: DialectParts = dialect_parts(context.target.dialect)
        self.context = context
        self.view = talk.view(context.target.capabilities.window)
        self.places = EncodedPlaces()
        self.encoder = self.parts.encoder(context)
        self.assembly = self.parts.assembly(self.encoder.grammar)
        self.gate = Gate(self.parts, context.target)
        self.assembly.when_cut = self.gate.cut
        self.units_encoded = 0
        """how often a unit was encoded: the work that was really done"""
        self.rendered = 0
        """how many places the newest request held"""
        self.cuts: list[int] = []
        """the places from which on it was encoded again, one for each time; readers keep a cursor"""
        self._whole = 0
        """how many of the places of the newest request are encoded as they were in it"""
        self._sent: list[_Stale] = []
        """what it held at the places behind them"""
        self._changes: list[Change] = []
        """what changed since then"""
        self.cached_end: tuple[int, int] | None = None
        """the last (message, block) of the newest request: up to there the provider may have cached it"""
        self.head: tuple[Envelope, bool, EncodedEnvelope, bytes] | None = None
        """the newest head and what it was encoded from: it seldom changes from one request to the next"""
        self._policy = policy
        self._loop = OpenLoop()
        self._cursor = 0
        self._turn = 0
        """the place of the newest human message; what is before it is not of the current turn"""
        self._silent: int | None = None
        """the place from which on the model's own thoughts are left out; None: nowhere"""

    @property
    def bytes_held(self) -> int:
        """The size of what is encoded: the messages, and what the newest request begins with."""
        return self.assembly.bytes_held + (len(self.head[3]) if self.head is not None else 0)

    def advance(self) -> None:
        """Encode what is new, and again what changed."""
        self.view.refresh()
        count = start = len(self.places.slots)
        changes = self.view.changes[self._cursor :]
        if changes:
            self._cursor += len(changes)
            self._changes += changes
            start = min(start, *(change.place for change in changes))
        turn = self._turn
        if self._policy.include is _CURRENT_TURN:
            self._turn = self._newest_turn(start)
            if self._turn != turn:  # the thinking between the two is kept or left out otherwise than before
                start = min(start, turn, self._turn)
        stale = self._invalidate_from(start, turn) if start < count else []
        self._encode_from(start, {old.slot: old for old in stale})

    def take_change(self) -> PrefixChange | None:
        """The first change in what the newest request held, if there is one; what is encoded now is the newest one."""
        change = self._first_change()
        self.rendered = self._whole = len(self.places.slots)
        self._sent, self._changes = [], []
        return change

    def open_loop(self) -> int | None:
        """The place of the exchange that began the tool loop in which what is encoded ends; None if there is none."""
        if not self.encoder.grammar.native_calls:
            return None
        return self._loop.find(self.places.units, self.assembly.ends)

    def silence(self, loop: int | None) -> None:
        """Leave the model's own thoughts out of the open loop that began at `loop`, where they would be refused.

        They are refused while thinking is off; None while it is on, and the thoughts that were left out come back.
        """
        if self.encoder.grammar.thoughts_in_silent_loops or loop == self._silent:
            return
        start = min(place for place in (loop, self._silent) if place is not None)
        # Nothing may have been thought there; and what was silenced may be gone, after an undo or a compaction.
        thoughtful = self.places.thoughtful[bisect_left(self.places.thoughtful, start) :]
        stale = self._invalidate_from(thoughtful[0], self._turn) if thoughtful else []
        self._silent = loop
        if thoughtful:
            self._encode_from(thoughtful[0], {old.slot: old for old in stale})

    def _newest_turn(self, start: int) -> int:
        """The place of the newest human message; the places before `start` are as they were."""
        for place in range(len(self.view.slots) - 1, -1, -1):
            if place < start and self._turn < start:
                return self._turn
            unit = self.view.unit(place)
            if type(unit) is Said and unit.authority is Authority.PERSON:
                return place
        return 0

    def shows_thoughts(self, place: int) -> bool:
        """Whether the policy lets thoughts at `place` be sent."""
        return self._thoughts(place, self._turn) is not Thoughts.HELD_BACK

    def _thoughts(self, place: int, turn: int) -> Thoughts:
        """What becomes of the thoughts at `place`, if the current turn begins at `turn`."""
        include = self._policy.include
        if not (place >= turn if include is _CURRENT_TURN else include is _ALL):
            return Thoughts.HELD_BACK
        return Thoughts.SHOWN if self._silent is None or place < self._silent else Thoughts.SILENCED

    def _invalidate_from(self, start: int, turn: int) -> list[_Stale]:
        """Take the places from `start` on away; they were encoded when the current turn began at `turn`."""
        places, ends = self.places, self.assembly.ends
        before = ends[start - 1] if start else End.START
        stale: list[_Stale] = []
        for place, messages in enumerate(self.assembly.cut(start), start):
            encoded = EncodedUnit(messages, ends[place], places.projected.get(place, ()))
            thoughts = self._thoughts(place, turn)
            stale.append(_Stale(places.slots[place], places.units[place], before, thoughts, encoded))
            before = ends[place]
        self.places = places.up_to(start)
        self._loop.cut(start)
        self.cuts.append(start)
        if start < self._whole:
            self._sent[:0] = stale[: self._whole - start]
            self._whole = start
        return stale

    def _encode_from(self, start: int, known: dict[Slot, _Stale]) -> None:
        """Encode all places from `start` on; all of them or none, should one fail."""
        view, places = self.view, self.places
        slots, units = view.slots[start:], view.units_from(start)
        try:
            self._encode(slots, units, known)
        except BaseException:
            self.assembly.cut(start)
            self.places = places.up_to(start)
            raise
        places.slots += slots
        places.units += units
        places.decided |= view.decisions_from(start)

    def _encode(self, slots: list[Slot], units: list[Unit | None], known: dict[Slot, _Stale]) -> None:
        page = self.assembly
        start = len(page.ends)
        at = 0
        while at < len(units):
            if not known:
                self.encoder.append_simple(units, at, page, self.places.projected)
                done = len(page.ends) - start
                self.units_encoded += done - at
                at = done
                if at == len(units):
                    break
            self._encode_unit(slots[at], units[at], start + at, known)
            at += 1

    def _encode_unit(self, slot: Slot, unit: Unit | None, place: int, known: dict[Slot, _Stale]) -> None:
        """Encode one unit, or take what its place held before."""
        end, thoughts = self.assembly.end, self._thoughts(place, self._turn)
        old = known.get(slot)
        if old is not None and old.still_holds(unit, end, thoughts):
            encoded = old.encoded
            self.assembly.append_copies(encoded.messages, encoded.end)
        else:
            encoded = EncodedUnit((), end) if unit is None else self.encoder.encode(unit, end, thoughts)
            self.assembly.append(encoded.messages, encoded.end)
            self.units_encoded += 1
        if encoded.decisions:
            self.places.projected[place] = encoded.decisions
        if type(unit) is Exchange and any(type(block) is Thinking for block in unit.blocks):
            self.places.thoughtful.append(place)

    def _first_change(self) -> PrefixChange | None:
        for place, sent in enumerate(self._sent, self._whole):
            if place >= len(self.places.slots) or self.assembly.messages_of(place) != sent.encoded.messages:
                causes = [change for change in self._changes if change.place <= place]
                cause = max(causes, key=lambda change: change.place).cause if causes else PrefixCause.THINKING_POLICY
                return PrefixChange(cause, sent.slot.first)
        return None

    def first_difference(self, earlier: EncodedConversation) -> int | None:
        """The first unit of the newest request of `earlier` that is encoded otherwise here; None if this extends it."""
        for place in range(earlier.rendered):
            slot, messages = earlier._held(place)
            if place >= len(self.places.slots) or self.assembly.messages_of(place) != messages:
                return slot.first
        return None

    def _held(self, place: int) -> tuple[Slot, tuple[JsonObject, ...]]:
        """What the newest request held at `place`."""
        if place < self._whole:
            return self.places.slots[place], self.assembly.messages_of(place)
        sent = self._sent[place - self._whole]
        return sent.slot, sent.encoded.messages

    # --- how large it is ----------------------------------------------------------------------------------------------

    def pieces(self, place: int) -> list[bytes]:
        """The JSON of what is encoded at `place`: messages, or its part of those that it shares."""
        return self.assembly.shares(place)

    def pieces_of(self, unit: Unit, before: End, place: int) -> tuple[list[bytes], End]:
        """What would be encoded if `unit` was at `place`, behind a unit that ended so; and how it would end."""
        encoded = self.encoder.encode(unit, before, self._thoughts(place, self._turn))
        alone = self.parts.assembly(self.encoder.grammar)  # messages of one unit are joined as well
        alone.append_copies(encoded.messages, encoded.end)
        return alone.shares(0), encoded.end
