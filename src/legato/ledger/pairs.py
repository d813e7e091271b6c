"""Find the call that a response belongs to, by what the log says so far.

In:  entries with the names that they were given, in order; responses that have no name yet.
Out: the call that a response may be given and the evidence for it, or that there is none.

`evidence` ranks what speaks for a call, `wire_ids` knows which call an id means, `open_calls` which calls wait, and
`lone` which results do. What was given by a guess is remembered: when better evidence comes, the guess makes room.
Nothing is decided here that is not written into the record, so following a log gives the same state as recording it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import msgspec

from legato.ledger.evidence import Evidence, evidence_of, has_news, looks_like_ours, makes_room, says_the_same
from legato.ledger.lone import LoneResults
from legato.ledger.names import TakenNames
from legato.ledger.open_calls import OpenCalls
from legato.ledger.stems import bare
from legato.ledger.wire_ids import WireIds
from legato.model import BROKEN_OFF, UNMINTED, Block, CallId, Entry, Speaker, ToolCall, ToolResponse

_HUMAN, _AI, _TOOL = Speaker
_Key: TypeAlias = tuple[str, str, bytes]


class _Held(NamedTuple):
    """A call that was answered by a guess, which came when all calls with ordinals below `before` were known."""

    call: ToolCall
    guess: ToolResponse
    evidence: Evidence
    before: int


class Displaced(NamedTuple):
    """A guess that makes room, and the call that it goes to; None if it needs a name of its own."""

    guess: ToolResponse
    to: CallId | None


@dataclass(slots=True)
class Pairs:
    """Which calls of one log wait for which results."""

    names: TakenNames
    ids: WireIds = field(default_factory=WireIds)
    open: OpenCalls = field(default_factory=OpenCalls)
    lone: LoneResults = field(default_factory=LoneResults)
    _held: dict[CallId, _Held] = field(default_factory=dict[CallId, _Held])
    """calls that a guess has answered; their ids are still armed"""
    _placed: dict[str, CallId] = field(default_factory=dict[str, CallId])
    """by an id that fitted nothing: the call that its response was given by place, since a person last spoke"""
    copies: dict[CallId, ToolCall] = field(default_factory=dict[CallId, ToolCall])
    """by the name that it had in another log: a call that was copied from there, and has a name of its own here"""
    round_over: bool = False
    _round_first: int = 0
    """the ordinal that the round began with"""
    _answer: str | None = None
    answer_calls: list[ToolCall] = field(default_factory=list[ToolCall])
    """the calls of the newest answer, to see replays within it; `_siblings` are the same by what they ask for"""
    _siblings: dict[_Key, ToolCall] = field(default_factory=dict[_Key, ToolCall])

    # --- following the log --------------------------------------------------------------------------------------------

    def begin(self, entry: Entry) -> None:
        """`entry` comes next: it may end an answer, a round, or the time of early results."""
        speaker, answer = entry.speaker, entry.answer
        if speaker is _TOOL and answer is None:
            return  # results between the parts of one answer do not end it
        # What begins with results belongs to what was before.
        is_heard = speaker is _HUMAN and type(entry.blocks[0]) is not ToolResponse
        if is_heard:
            self._hear()
        if answer is None or answer != self._answer:
            self._answer = answer
            if self.answer_calls or self._siblings:
                self.answer_calls, self._siblings = [], {}
            if self.round_over:
                self._round_first, self.round_over = self.names.next_ordinal, False
                if not is_heard:
                    self.open.end_round()
        if speaker is _AI and entry.ending is not None and entry.ending in BROKEN_OFF:
            self.round_over = True

    def end(self, entry: Entry) -> None:
        """`entry` is done. What comes after results in an entry of a person was said when they were there."""
        if entry.speaker is _HUMAN and type(entry.blocks[0]) is ToolResponse and _is_speech(entry):
            self._hear()

    def _hear(self) -> None:
        """A person spoke: the time of results that came before their calls is over, their ids may mean others now."""
        self.round_over = True
        self.open.hear()
        if self._placed:
            self._placed = {}
        if self.lone.responses:
            self.lone = LoneResults()

    def note_call(self, call: ToolCall, bare_id: str) -> None:
        """A call that has its name."""
        wire_id = call.wire_id
        self.names.take(call.id, call.ordinal)
        early = None if call.adopts is None else self._take_early(call.adopts)
        if early is None:
            self.open.add(call)
        else:
            self._hold(call, early, call.ordinal)
        if not wire_id:
            return
        before = self.ids.newest.get(wire_id)
        unnamed = None if before is None else self._unnamed(before)
        self.ids.arm(call, bare_id, before=unnamed, round_first=self._round_first)
        self.answer_calls.append(call)

    def _take_early(self, name: CallId) -> ToolResponse | None:
        """The result of that name, or the one that the call of that name was given by a guess."""
        held = self._held.pop(name, None)
        if held is None:
            return self.lone.take(name)
        self._placed.pop(held.guess.wire_id, None)
        self.open.reopen(held.call, self._round_first)
        return held.guess

    def _unnamed(self, call_id: CallId) -> ToolCall | None:
        """The call of that name, if no result has named it yet, in whatever spelling."""
        held = self._held.get(call_id)
        if held is None:
            return self.open.get(call_id)
        return held.call if held.evidence is not Evidence.RESPELLED else None

    def _hold(self, call: ToolCall, guess: ToolResponse, before: int, *, is_far: bool = False) -> None:
        """Remember that `call` is answered by a guess."""
        evidence = evidence_of(guess, call.id, call.wire_id)
        if evidence is Evidence.PLACE and guess.wire_id:
            self._placed[guess.wire_id] = call.id
        self._held[call.id] = _Held(call, guess, Evidence.ELSEWHERE if is_far else evidence, before)

    def note_response(self, response: ToolResponse) -> None:
        """A response that has its name."""
        self.round_over = True
        call_id = response.call_id
        if response.ordinal >= 0 and response.displaces is None:
            self._note_lone(call_id, response.ordinal, response)
            return
        is_far = call_id not in self.open.current
        call = self.open.pop(call_id)
        held = self._held.get(call_id)
        if held is not None and (has_news(response) or response.displaces is not None):
            call = held.call
            del self._held[call_id]
            if self._placed.get(held.guess.wire_id) == call_id:
                del self._placed[held.guess.wire_id]
            if response.displaces is not None:
                self._note_displaced(held, response.displaces, response.ordinal)
        if call is None:
            if call_id in self.lone:
                self.lone.repeat(call_id, response)
            return
        if response.guessed:
            self._hold(call, response, self.names.next_ordinal, is_far=is_far and held is None)
        if not response.guessed or self._held[call_id].evidence is Evidence.RESPELLED:
            self.ids.disarm(call)

    def _note_lone(self, name: CallId, ordinal: int, response: ToolResponse) -> None:
        """A response without a call has a name of its own, and waits for the call if it has an id."""
        self.names.take(name, ordinal)
        if response.wire_id and response.wire_id not in self.ids.newest:
            self.lone.add(name, ordinal, response)

    def _note_displaced(self, held: _Held, to: CallId, ordinal: int) -> None:
        """A guess made room and went to another call or, with an `ordinal`, to a name of its own."""
        if ordinal >= 0:
            self._note_lone(to, ordinal, held.guess)
        elif (call := self.open.pop(to)) is not None:
            self._hold(call, held.guess, held.before)

    # --- calls --------------------------------------------------------------------------------------------------------

    @property
    def is_quiet(self) -> bool:
        """Whether a call that comes now can only be a new one: the round goes on, and no result waits for its call."""
        return not (self.round_over or self._placed or self.lone.responses)

    def early(self, call: ToolCall) -> CallId | None:
        """What `call` adopts: the name of a result that waits for it, or the call that its result was guessed for."""
        if not call.wire_id:
            return None
        guessed = self._placed.get(call.wire_id)
        if guessed is not None and self._held[guessed].guess.tool_name in ("", call.name):
            return guessed
        return self.lone.awaiting(call) if self.lone.responses else None

    def find_twin(self, call: ToolCall) -> ToolCall | None:
        """The call that `call` repeats within its answer."""
        if call.wire_id not in self.ids.newest:
            return None
        for sibling in self.answer_calls:
            self._siblings.setdefault(_asked(sibling), sibling)
        self.answer_calls.clear()
        return self._siblings.get(_asked(call))

    def called(self, wire_id: str) -> CallId | None:
        """The call that someone means by `wire_id`, in any spelling, answered or not."""
        return self.ids.find(wire_id) or self._respelled(wire_id)

    # --- responses ----------------------------------------------------------------------------------------------------

    def find(self, response: ToolResponse, place: CallId | None) -> tuple[CallId | None, Evidence]:
        """The call that `response` may be given, and what speaks for it; `place` is the one that its place tells."""
        named = self._named(response)
        if named is not None:
            return named, Evidence.NAMED
        place = place if place in self.open else None
        wire_id = response.wire_id or response.call_id
        if wire_id:
            call_id, evidence = self._respelled(wire_id), Evidence.RESPELLED
            if call_id is None or not self._is_weaker(call_id, evidence):
                call_id, evidence = place, Evidence.PLACE
            return call_id, evidence
        call, is_near = self.open.first(response.tool_name) if place is None else (self.open.get(place), True)
        if call is None:
            return None, Evidence.ELSEWHERE
        if not call.wire_id:
            return call.id, Evidence.NAMED  # neither has an id, so nothing better can come
        return call.id, Evidence.PLACE if is_near else Evidence.ELSEWHERE

    def _named(self, response: ToolResponse) -> CallId | None:
        """The call that `response` names: by our own id, or by exactly the id that the provider gave.

        A response that was copied from another log names its call as that was named there.
        """
        call_id = response.call_id
        copy = self.copies.get(call_id)
        if copy is not None and copy.wire_id == response.wire_id and copy.id in self.open:
            return copy.id
        if call_id != UNMINTED and self.names.has(call_id):
            return call_id
        return self.ids.find(response.wire_id or call_id)

    def _respelled(self, wire_id: str) -> CallId | None:
        """The call whose id `wire_id` is in another spelling, our own name for it included."""
        spelling = self.ids.spellings.get(bare(wire_id))
        if spelling is not None:
            return self.ids.find(spelling)
        return CallId(wire_id) if looks_like_ours(wire_id) and CallId(wire_id) in self.open else None

    def _is_weaker(self, call_id: CallId, evidence: Evidence) -> bool:
        """Whether what holds the call so far, if anything does, has less to say for itself than `evidence`."""
        held = self._held.get(call_id)
        return held.evidence > evidence if held is not None else call_id in self.open

    def places(self, blocks: tuple[Block, ...], first: int) -> dict[int, CallId]:
        """The calls that the place of responses tells, by their number in the entry, for those from `first` on.

        The responses that name no call must be as many as the calls of this round which are left open, tool by tool.
        """
        strays: list[tuple[int, ToolResponse]] = []
        named: set[CallId] = set()
        queues: dict[str, Iterator[CallId]] = {}
        for number, block in enumerate(blocks[first:], first):
            if type(block) is ToolCall:
                return {}
            if type(block) is ToolResponse:
                found = self._named(block) or self._respelled(block.wire_id or block.call_id)
                if found in (armed := self.ids.armed.get(block.wire_id, ())):
                    found = next(queues.setdefault(block.wire_id, iter(armed)), found)
                if found is None:
                    strays.append((number, block))
                else:
                    named.add(found)
        current = self.open.current
        if not strays or len(strays) != len(current) - len(named & current.keys()):
            return {}
        free = sorted((call for call in current.values() if call.id not in named), key=lambda call: call.ordinal)
        if not all(_fits(response, call) for (_, response), call in zip(strays, free, strict=True)):
            return {}
        return {number: call.id for (number, _), call in zip(strays, free, strict=True)}

    def repeated_in(self, response: ToolResponse) -> CallId | None:
        """The result without a call that comes again in `response`."""
        return self.lone.repeated_in(response) if response.wire_id and self.lone.responses else None

    def displaced_by(self, response: ToolResponse) -> Displaced | None:
        """The guess that holds the call of `response`, which has the better evidence, and where it goes.

        A result that came early goes back to where it was, one without an id on to the next open call, and any other
        one gets the name that it would have had without the guess.
        """
        held = self._held.get(response.call_id)
        if held is None or not makes_room(held.guess, response):
            return None
        guess, home = held.guess, held.call.adopts
        if home is not None and home in self.open:
            return Displaced(guess, home)
        if not guess.wire_id and (other := self.open.first_before(guess.tool_name, held.before)) is not None:
            return Displaced(guess, other.id)
        if says_the_same(guess, response):
            return None
        if home is not None and home not in self._held and guess.call_id == home and not guess.guessed:
            return Displaced(guess, home)
        return Displaced(guess, None)


def _asked(call: ToolCall) -> _Key:
    """What makes two calls of one answer the same call."""
    return call.wire_id, call.name, msgspec.json.encode((call.arguments, call.raw, call.namespace), order="sorted")


def _fits(response: ToolResponse, call: ToolCall) -> bool:
    """Whether `response` may be of the tool that `call` asks for; one under a strange id has to say so."""
    return response.tool_name == call.name or not (response.tool_name or response.wire_id or response.call_id)


def _is_speech(entry: Entry) -> bool:
    return any(type(block) is not ToolResponse for block in entry.blocks)
