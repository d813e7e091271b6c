"""Give every call a name of its own, and find the call that a response belongs to.

In:  entries as they arrive, with the ids that providers gave: reused, empty, missing, with one prefix too many.
Out: the same entries with our own ids and ordinals, minted once, when they are recorded.

`evidence` ranks what speaks for a call, `wire_ids` knows which call an id means, `open_calls` which calls wait, and
`lone` which results do. A response that fits no call gets a name too, so that the pair can be reconstructed; should its
call still come before anybody speaks, the call adopts it. Everything that is decided is written into the record: the
name, whether it was a guess (`guessed`), where a guess goes that made room (`displaces`), what a call takes over
(`adopts`). So `note` decides nothing, and the same log gives the same names on every machine: no clock, no randomness.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from legato.ledger.evidence import Evidence, evidence_of, has_news, looks_like_ours, makes_room, says_the_same
from legato.ledger.lone import LoneResults
from legato.ledger.open_calls import OpenCalls
from legato.ledger.stems import PREFIX, bare, is_usual, stem_of
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


class Identity:
    """The names in one log."""

    def __init__(self) -> None:
        self.next_ordinal = 0
        self.suffixes: dict[str, int] = {}
        """each stem in use, with a number below which all its suffixes are in use too"""
        self._ids = WireIds()
        self._open = OpenCalls()
        self._held: dict[CallId, _Held] = {}
        """calls that a guess has answered; their ids are still armed"""
        self._placed: dict[str, CallId] = {}
        """by an id that fitted nothing: the call that its response was given by place, since a person last spoke"""
        self._lone = LoneResults()
        self._round_first = 0
        """the ordinal that the round began with"""
        self._round_over = False
        self._answer: str | None = None
        self._answer_calls: list[ToolCall] = []
        """the calls of the newest answer, to see replays within it; `_siblings` are the same by what they ask for"""
        self._siblings: dict[_Key, ToolCall] = {}

    def after_undo(self, standing: Iterable[Entry]) -> Identity:
        """The names once only `standing` is left of the log: what was undone is open no longer, and keeps its names."""
        rest = Identity()
        for entry in standing:
            rest.note(entry)
        rest.next_ordinal, rest.suffixes = self.next_ordinal, self.suffixes
        rest._ids.remember(self._ids)
        return rest

    # --- minting ------------------------------------------------------------------------------------------------------

    def mint(self, entry: Entry) -> Entry:
        """`entry` with every call and every response named, and remembered here.

        One loop, and no function for a call whose id was never met and makes a name as it is, nor for the result of an
        open call under its own id: nearly all are such, and there is no more to look at.
        """
        self._begin(entry)
        ids, open_calls = self._ids, self._open.current
        suffix, newest, spellings, armed = self.suffixes, ids.newest, ids.spellings, ids.armed
        blocks: list[Block] = []
        is_named, has_early = False, self._has_early()
        places: dict[int, CallId] | None = None
        for block in entry.blocks:
            if type(block) is ToolCall:
                wire_id = block.wire_id
                usual = is_usual(wire_id)
                if (
                    usual is None
                    or (stem := usual[1]) in suffix
                    or stem in spellings
                    or has_early
                    or self._round_over
                    or block.adopts is not None
                ):
                    block, places = self._mint_odd_call(block), None
                    has_early = self._has_early()
                else:
                    name, ordinal = CallId(PREFIX + stem), self.next_ordinal
                    block = replace(block, id=name, ordinal=ordinal)
                    self.next_ordinal = ordinal + 1
                    suffix[stem] = 1
                    newest[wire_id], spellings[stem] = name, wire_id
                    open_calls[name] = block
                    self._answer_calls.append(block)
                is_named = True
            elif type(block) is ToolResponse:
                wire_id = block.wire_id
                owner = newest.get(wire_id)
                if (
                    owner is None
                    or owner not in open_calls
                    or wire_id in armed
                    or block.call_id not in (UNMINTED, owner)
                    or block.ordinal >= 0
                    or block.guessed
                    or block.displaces is not None
                ):
                    if places is None:
                        places = self._places(entry.blocks, len(blocks))
                    block = self._mint_odd_response(block, places.get(len(blocks)))
                    has_early = self._has_early()
                else:
                    del open_calls[owner]
                    block = replace(block, call_id=owner)
                    self._round_over = True
                is_named = True
            blocks.append(block)
        if entry.speaker is _HUMAN:
            self._end(entry)
        return replace(entry, blocks=tuple(blocks)) if is_named else entry

    def note(self, entry: Entry) -> None:
        """Remember an entry that was minted before."""
        self._begin(entry)
        for block in entry.blocks:
            if type(block) is ToolCall:
                if block.ordinal >= self.next_ordinal:  # else it is a replay within its answer, with its twin's name
                    self._note_call(block, bare(block.wire_id))
            elif type(block) is ToolResponse:
                self._note_response(block)
        if entry.speaker is _HUMAN:
            self._end(entry)

    def _mint_odd_call(self, call: ToolCall) -> ToolCall:
        wire_id = call.wire_id
        if wire_id in self._ids.newest and (twin := self._find_twin(call)):
            return replace(call, id=twin.id, ordinal=twin.ordinal)
        stem = bare(wire_id)
        name = self._name(stem, wire_id, call.name)
        call = replace(call, id=name, ordinal=self.next_ordinal, adopts=self._early(call))
        self._note_call(call, stem)
        return call

    def _has_early(self) -> bool:
        """Whether there are results whose calls may still come."""
        return bool(self._lone) or bool(self._placed)

    def _early(self, call: ToolCall) -> CallId | None:
        """What `call` adopts: the name of a result that waits for it, or the call that its result was guessed for."""
        if not call.wire_id:
            return None
        guessed = self._placed.get(call.wire_id)
        if guessed is not None and self._held[guessed].guess.tool_name in ("", call.name):
            return guessed
        return self._lone.awaiting(call) if self._lone else None

    def _find_twin(self, call: ToolCall) -> ToolCall | None:
        """The call that `call` repeats within its answer."""
        for sibling in self._answer_calls:
            self._siblings.setdefault(_asked(sibling), sibling)
        self._answer_calls.clear()
        return self._siblings.get(_asked(call))

    def _mint_odd_response(self, response: ToolResponse, place: CallId | None) -> ToolResponse:
        given = response.wire_id or response.call_id
        found, evidence = self._find(response, place)
        response = replace(response, guessed=evidence is not Evidence.NAMED, displaces=None, ordinal=-1)
        if found is not None:
            response = self._displacing(replace(response, call_id=found))
        else:
            response = replace(response, guessed=False)
            again = self._lone.repeated_in(response) if response.wire_id and self._lone else None
            if again is not None:
                response = replace(response, call_id=again)
            else:
                name = self._name(bare(given), given, response.tool_name)
                response = replace(response, call_id=name, ordinal=self.next_ordinal)
        self._note_response(response)
        return response

    def _displacing(self, response: ToolResponse) -> ToolResponse:
        """`response`, which has the better evidence for its call, with the place that a guess which holds it goes to.

        A result that came early goes back to where it was, one without an id on to the next open call, and any other
        one gets the name that it would have had without the guess.
        """
        held = self._held.get(response.call_id)
        if held is None or not makes_room(held.guess, response):
            return response
        guess, home = held.guess, held.call.adopts
        if home is not None and home in self._open:
            return replace(response, displaces=home)
        if not guess.wire_id and (other := self._open.first_before(guess.tool_name, held.before)) is not None:
            return replace(response, displaces=other.id)
        if says_the_same(guess, response):
            return response
        if home is not None and home not in self._held and guess.call_id == home and not guess.guessed:
            return replace(response, displaces=home)
        name = self._name(bare(guess.wire_id), guess.wire_id, guess.tool_name)
        return replace(response, displaces=name, ordinal=self.next_ordinal)

    def _name(self, stem: str, wire_id: str, name: str) -> CallId:
        """A free id, with a suffix if its stem is taken."""
        stem = stem_of(stem, wire_id, name, self.next_ordinal)
        if stem not in self.suffixes:
            return CallId(PREFIX + stem)
        number = self.suffixes[stem] + 1
        while f"{stem}_{number}" in self.suffixes:
            number += 1
        self.suffixes[stem] = number - 1
        return CallId(f"{PREFIX}{stem}_{number}")

    # --- finding ------------------------------------------------------------------------------------------------------

    def called(self, wire_id: str) -> CallId | None:
        """The call that somebody means by `wire_id`, in any spelling, answered or not."""
        return self._ids.find(wire_id) or self._respelled(wire_id)

    def _find(self, response: ToolResponse, place: CallId | None) -> tuple[CallId | None, Evidence]:
        """The call that `response` may be given, and what speaks for it; `place` is the one that its place tells."""
        named = self._named(response)
        if named is not None:
            return named, Evidence.NAMED
        place = place if place in self._open else None
        wire_id = response.wire_id or response.call_id
        if wire_id:
            call_id, evidence = self._respelled(wire_id), Evidence.RESPELLED
            if call_id is None or not self._is_weaker(call_id, evidence):
                call_id, evidence = place, Evidence.PLACE
            return call_id, evidence
        call, is_near = self._open.first(response.tool_name) if place is None else (self._open.get(place), True)
        if call is None:
            return None, Evidence.ELSEWHERE
        if not call.wire_id:
            return call.id, Evidence.NAMED  # neither has an id, so nothing better can come
        return call.id, Evidence.PLACE if is_near else Evidence.ELSEWHERE

    def _named(self, response: ToolResponse) -> CallId | None:
        """The call that `response` names: by our own id, or by exactly the id that the provider gave."""
        call_id = response.call_id
        if call_id != UNMINTED and self._is_known(call_id):
            return call_id
        return self._ids.find(response.wire_id or call_id)

    def _respelled(self, wire_id: str) -> CallId | None:
        """The call whose id `wire_id` is in another spelling, our own name for it included."""
        spelling = self._ids.spellings.get(bare(wire_id))
        if spelling is not None:
            return self._ids.find(spelling)
        return CallId(wire_id) if looks_like_ours(wire_id) and CallId(wire_id) in self._open else None

    def _is_weaker(self, call_id: CallId, evidence: Evidence) -> bool:
        """Whether what holds the call so far, if anything does, has less to say for itself than `evidence`."""
        held = self._held.get(call_id)
        return held.evidence > evidence if held is not None else call_id in self._open

    def _is_known(self, call_id: str) -> bool:
        """Whether this is one of our own ids."""
        return call_id.startswith(PREFIX) and call_id[len(PREFIX) :] in self.suffixes

    def _places(self, blocks: tuple[Block, ...], first: int) -> dict[int, CallId]:
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
                if found in (armed := self._ids.armed.get(block.wire_id, ())):
                    found = next(queues.setdefault(block.wire_id, iter(armed)), found)
                if found is None:
                    strays.append((number, block))
                else:
                    named.add(found)
        current = self._open.current
        if not strays or len(strays) != len(current) - len(named & current.keys()):
            return {}
        free = sorted((call for call in current.values() if call.id not in named), key=lambda call: call.ordinal)
        if not all(_fits(response, call) for (_, response), call in zip(strays, free, strict=True)):
            return {}
        return {number: call.id for (number, _), call in zip(strays, free, strict=True)}

    # --- remembering --------------------------------------------------------------------------------------------------

    def _begin(self, entry: Entry) -> None:
        speaker, answer = entry.speaker, entry.answer
        if speaker is _HUMAN:
            if type(entry.blocks[0]) is not ToolResponse:  # else what comes first belongs to what was before
                self._hear()
        elif speaker is _TOOL and answer is None:
            return  # results between the parts of one answer do not end it
        if answer is None or answer != self._answer:
            self._answer = answer
            if self._answer_calls or self._siblings:
                self._answer_calls, self._siblings = [], {}
            if self._round_over:
                self._round_first, self._round_over = self.next_ordinal, False
                self._open.end_round()
        if entry.ending in BROKEN_OFF and speaker is _AI:
            self._round_over = True

    def _end(self, entry: Entry) -> None:
        """What comes after results in an entry of a person was said when they were there."""
        if type(entry.blocks[0]) is ToolResponse and _is_speech(entry):
            self._hear()

    def _hear(self) -> None:
        """A person spoke: the time of results that came before their calls is over, their ids may mean others now."""
        self._round_over = True
        self._open.hear()
        if self._placed:
            self._placed = {}
        if self._lone:
            self._lone = LoneResults()

    def _note_call(self, call: ToolCall, stem: str) -> None:
        name, wire_id = call.id, call.wire_id
        self.next_ordinal = call.ordinal + 1
        self.suffixes[name[len(PREFIX) :]] = 1
        early = None if call.adopts is None else self._take_early(call.adopts)
        if early is None:
            self._open.add(call)
        else:
            self._hold(call, early, call.ordinal)
        if not wire_id:
            return
        before = self._ids.newest.get(wire_id)
        unnamed = None if before is None else self._unnamed(before)
        self._ids.arm(call, stem, before=unnamed, round_first=self._round_first)
        self._answer_calls.append(call)

    def _take_early(self, name: CallId) -> ToolResponse | None:
        """The result of that name, or the one that the call of that name was given by a guess."""
        held = self._held.pop(name, None)
        if held is None:
            return self._lone.take(name)
        self._placed.pop(held.guess.wire_id, None)
        self._open.reopen(held.call, self._round_first)
        return held.guess

    def _unnamed(self, call_id: CallId) -> ToolCall | None:
        """The call of that name, if no result has named it yet, in whatever spelling."""
        held = self._held.get(call_id)
        if held is None:
            return self._open.get(call_id)
        return held.call if held.evidence is not Evidence.RESPELLED else None

    def _hold(self, call: ToolCall, guess: ToolResponse, before: int, *, is_far: bool = False) -> None:
        """Remember that `call` is answered by a guess."""
        evidence = evidence_of(guess, call.id, call.wire_id)
        if evidence is Evidence.PLACE and guess.wire_id:
            self._placed[guess.wire_id] = call.id
        self._held[call.id] = _Held(call, guess, Evidence.ELSEWHERE if is_far else evidence, before)

    def _note_response(self, response: ToolResponse) -> None:
        self._round_over = True
        call_id = response.call_id
        if response.ordinal >= 0 and response.displaces is None:
            self._note_lone(call_id, response.ordinal, response)
            return
        is_far = call_id not in self._open.current
        call = self._open.pop(call_id)
        held = self._held.get(call_id)
        if held is not None and (has_news(response) or response.displaces is not None):
            call = held.call
            del self._held[call_id]
            if self._placed.get(held.guess.wire_id) == call_id:
                del self._placed[held.guess.wire_id]
            if response.displaces is not None:
                self._note_displaced(held, response.displaces, response.ordinal)
        if call is None:
            if call_id in self._lone:
                self._lone.repeat(call_id, response)
            return
        if response.guessed:
            self._hold(call, response, self.next_ordinal, is_far=is_far and held is None)
        if not response.guessed or self._held[call_id].evidence is Evidence.RESPELLED:
            self._ids.disarm(call)

    def _note_lone(self, name: CallId, ordinal: int, response: ToolResponse) -> None:
        """A response without a call has a name of its own, and waits for the call if it has an id."""
        self.next_ordinal = ordinal + 1
        self.suffixes[name[len(PREFIX) :]] = 1
        if response.wire_id and response.wire_id not in self._ids.newest:
            self._lone.add(name, ordinal, response)

    def _note_displaced(self, held: _Held, to: CallId, ordinal: int) -> None:
        """A guess made room and went to another call or, with an `ordinal`, to a name of its own."""
        if ordinal >= 0:
            self._note_lone(to, ordinal, held.guess)
        elif (call := self._open.pop(to)) is not None:
            self._hold(call, held.guess, held.before)


def _asked(call: ToolCall) -> _Key:
    """What makes two calls of one answer the same call."""
    return call.wire_id, call.name, msgspec.json.encode((call.arguments, call.raw, call.namespace), order="sorted")


def _fits(response: ToolResponse, call: ToolCall) -> bool:
    """Whether `response` may be of the tool that `call` asks for; one under a strange id has to say so."""
    return response.tool_name == call.name or not (response.tool_name or response.wire_id or response.call_id)


def _is_speech(entry: Entry) -> bool:
    return any(type(block) is not ToolResponse for block in entry.blocks)
