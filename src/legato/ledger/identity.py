"""Give every call a name of its own, and find the call that a result belongs to.

In:  entries as they arrive, with the ids that providers gave: reused, empty, missing, with one prefix too many.
Out: the same entries with our own ids and ordinals, minted once, when they are recorded.

Providers reuse ids (`call_0` in every answer, one constant id), so a wire id names a call only for a while: a call
*arms* it, the next result with that id *consumes* it, a later answer may arm it again. Calls that are armed at the same
time are answered in their order. A *round* is what the model says until a result comes, somebody speaks or the answer
breaks off; with the next one the calls of the rounds before it are armed no longer.

A result that fits no call gets a name too, so that the pair can be reconstructed; should the true call still come
before anybody speaks, it adopts the result. What was adopted or guessed gives way to a result that names the call; the
record of that one says where the other goes (`evidence` has the ranks). The same log gives the same names on every
machine: no clock, no randomness, and `note` mints nothing.

Nearly every wire id is met twice, with its call and with the result, and then the call that owns it is all there is to
know. Which calls are armed is kept apart only for ids that several calls of one round share; of any other id it is the
newest call.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from legato.ledger.evidence import Evidence, gives_way, has_news
from legato.ledger.lone import LoneResults
from legato.ledger.stems import PREFIX, bare, is_usual, stem_of
from legato.model import BROKEN_OFF, UNMINTED, Block, CallId, Entry, Speaker, ToolCall, ToolResponse

_HUMAN, _AI, _TOOL = Speaker


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
        self._owner: dict[str, CallId] = {}
        """by wire id: the newest call that had it, answered or not"""
        self.bare_owners: dict[str, CallId] = {}
        self._open: dict[CallId, ToolCall] = {}
        """open calls since a human last spoke, in order; `_older` has the ones before"""
        self._older: dict[CallId, ToolCall] = {}
        self._held: dict[CallId, _Held] = {}
        """calls that a guess has answered; their ids are still armed"""
        self._armed: dict[str, list[ToolCall]] = {}
        """by bare id, where calls of one round share it: those that no result has named yet, in order"""
        self._lone = LoneResults()
        self._round_first = 0
        """the ordinal that the round began with"""
        self._round_over = False
        self._answer: str | None = None
        self._answer_calls: list[ToolCall] = []
        """the calls of the newest answer, to see replays within it; `_siblings` are the same by wire id"""
        self._siblings: dict[str, list[ToolCall]] = {}

    # --- minting ------------------------------------------------------------------------------------------------------

    def mint(self, entry: Entry) -> Entry:
        """`entry` with every call and every response named, and remembered here.

        One loop, and no function for a call whose id was never met and makes a name as it is, nor for the result of an
        open call under its own id: nearly all are such, and there is no more to look at.
        """
        self._begin(entry)
        suffix, owners, bare_owners, open_calls = self.suffixes, self._owner, self.bare_owners, self._open
        blocks: list[Block] = []
        is_named = False
        for block in entry.blocks:
            if type(block) is ToolCall:
                wire_id = block.wire_id
                usual = is_usual(wire_id)
                if (
                    usual is None
                    or (stem := usual[1]) in suffix
                    or stem in bare_owners
                    or self._lone
                    or block.adopts is not None
                ):
                    block = self._mint_odd_call(block)
                else:
                    name, ordinal = CallId(PREFIX + stem), self.next_ordinal
                    block = replace(block, id=name, ordinal=ordinal)
                    self.next_ordinal = ordinal + 1
                    suffix[stem] = 1
                    owners[wire_id] = bare_owners[stem] = name
                    open_calls[name] = block
                    self._answer_calls.append(block)
                is_named = True
            elif type(block) is ToolResponse:
                wire_id = block.wire_id
                owner = owners.get(wire_id)
                if (
                    owner is None
                    or owner not in open_calls
                    or self._armed
                    or block.call_id != UNMINTED
                    or block.ordinal >= 0
                    or block.guessed
                    or block.displaces is not None
                    or wire_id.startswith(PREFIX)
                ):
                    block = self._mint_odd_response(block, entry.blocks, len(blocks))
                else:
                    del open_calls[owner]
                    block = replace(block, call_id=owner)
                    self._round_over = True
                is_named = True
            blocks.append(block)
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

    def _mint_odd_call(self, call: ToolCall) -> ToolCall:
        wire_id = call.wire_id
        if wire_id in self._owner and (twin := self._find_twin(call)):
            return replace(call, id=twin.id, ordinal=twin.ordinal)
        stem = bare(wire_id)
        adopts = self._lone.awaiting(call) if self._lone and wire_id else None
        name = self._name(stem, wire_id, call.name)
        call = replace(call, id=name, ordinal=self.next_ordinal, adopts=adopts)
        self._note_call(call, stem)
        return call

    def _find_twin(self, call: ToolCall) -> ToolCall | None:
        for twin in self._calls_with(call.wire_id):
            if twin.name == call.name and twin.arguments == call.arguments and twin.raw == call.raw:
                return twin
        return None

    def _mint_odd_response(self, response: ToolResponse, siblings: tuple[Block, ...], index: int) -> ToolResponse:
        given_id = response.wire_id or response.call_id
        call_id = self.find(response)
        response = replace(response, guessed=False, displaces=None, ordinal=-1)
        is_lone = call_id in self._lone
        if call_id is not None and is_lone and call_id != response.call_id:
            call_id = self._lone.repeated_in(response, call_id)
        if call_id is not None:
            call = self._open.get(call_id) or self._older.get(call_id)
            is_guess = not given_id and call is not None and bool(call.wire_id)
            response = replace(response, call_id=call_id, guessed=is_guess)
            if not is_guess:
                response = self._overrule(response)
        elif response.wire_id and not is_lone and (place := self._by_place(siblings, index)) is not None:
            response = replace(response, call_id=place, guessed=True)
        else:
            name = self._name(bare(given_id), given_id, response.tool_name)
            response = replace(response, call_id=name, ordinal=self.next_ordinal)
        self._note_response(response)
        return response

    def _overrule(self, response: ToolResponse) -> ToolResponse:
        """`response`, which names its call, with the place that a guess which holds the call goes to.

        A result that came early goes back to its own name, one without an id on to the next open call, and any other
        one gets the name that it would have had without the guess.
        """
        held = self._held.get(response.call_id)
        if held is None or not gives_way(held.guess, response):
            return response
        if held.evidence is Evidence.EARLY:
            return replace(response, displaces=held.call.adopts)
        guess = held.guess
        if held.evidence is Evidence.ORDER and (other := self._next_open(guess.tool_name, held.before)) is not None:
            return replace(response, displaces=other)
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

    def find(self, response: ToolResponse) -> CallId | None:
        """The call that `response` answers: by its id, or without one by the order of what is open."""
        if response.call_id != UNMINTED and self._is_known(response.call_id):
            return response.call_id
        wire_id = response.wire_id or response.call_id
        if not wire_id:
            return self._first_open(response.tool_name)
        if self._is_known(wire_id):
            return CallId(wire_id)
        if self._armed:
            for call in self._armed.get(bare(wire_id), ()):
                if call.wire_id == wire_id:
                    return call.id
        owner = self._owner.get(wire_id)
        if owner is not None:
            return owner
        stem = bare(wire_id)
        armed = self._armed.get(stem)
        return armed[0].id if armed else self.bare_owners.get(stem)

    def _is_known(self, call_id: str) -> bool:
        """Whether this is one of our own ids, and a call's: not that of a result that came alone."""
        return call_id.startswith(PREFIX) and call_id[len(PREFIX) :] in self.suffixes

    def _first_open(self, tool_name: str) -> CallId | None:
        """The first open call of that tool since a human spoke, else the first open call, else the same among older."""
        for calls in (self._open, self._older):
            for call_id, call in calls.items():
                if call.name == tool_name:
                    return call_id
            if calls:
                return next(iter(calls))
        return None

    def _next_open(self, tool_name: str, before: int) -> CallId | None:
        """The first open call since a human spoke that a result of `tool_name` which came after it may answer."""
        for call in self._open.values():
            if call.ordinal < before and tool_name in ("", call.name):
                return call.id
        return None

    def _by_place(self, siblings: tuple[Block, ...], index: int) -> CallId | None:
        """The call for the response at `index`, whose id fits nothing, if counts and names leave no doubt.

        The responses from `index` on that fit nothing must be as many as the calls left open, tool by tool.
        """
        strays: list[str] = []
        answered: set[CallId] = set()
        for block in siblings[index:]:
            if type(block) is ToolCall:
                return None
            if type(block) is ToolResponse:
                found = self.find(block)
                if found is not None:
                    answered.add(found)
                elif block.wire_id:
                    strays.append(block.tool_name)
        free = [call for call in self._open.values() if call.id not in answered]
        return free[0].id if strays == [call.name for call in free] else None

    # --- remembering --------------------------------------------------------------------------------------------------

    def _begin(self, entry: Entry) -> None:
        speaker, answer = entry.speaker, entry.answer
        if speaker is _HUMAN:
            self._round_over = True
            if self._open:
                self._older.update(self._open)
                self._open = {}
            if self._lone:
                self._stop_waiting()
        elif speaker is _TOOL and answer is None:
            return  # results between the parts of one answer do not end it
        if answer is None or answer != self._answer:
            self._answer = answer
            if self._answer_calls or self._siblings:
                self._answer_calls, self._siblings = [], {}
            if self._round_over:
                self._round_first, self._round_over = self.next_ordinal, False
        if entry.ending in BROKEN_OFF and speaker is _AI:
            self._round_over = True

    def _stop_waiting(self) -> None:
        """The time of results that came before their calls is over; their ids may mean others from now on."""
        for name, wire_id in self._lone.wire_ids():
            if self._owner.get(wire_id) == name:
                del self._owner[wire_id]
        self._lone = LoneResults()

    def _note_call(self, call: ToolCall, stem: str) -> None:
        name, wire_id = call.id, call.wire_id
        self.next_ordinal = call.ordinal + 1
        self.suffixes[name[len(PREFIX) :]] = 1
        if call.adopts is None:
            self._open[name] = call
        elif (early := self._lone.take(call.adopts)) is not None:
            self._held[name] = _Held(call, early, Evidence.EARLY, call.ordinal)
        if not wire_id:
            return
        if stem in self.bare_owners:
            self._arm_again(call, stem)
        self._answer_calls.append(call)
        self._owner[wire_id] = self.bare_owners[stem] = name

    def _arm_again(self, call: ToolCall, stem: str) -> None:
        """An id that was met before: calls of this round that no result has named come first, older ones are out."""
        armed = self._armed.pop(stem, None)
        if armed is None:
            newest = self._unnamed(self.bare_owners[stem])
            armed = [] if newest is None else [newest]
        armed = [earlier for earlier in armed if earlier.ordinal >= self._round_first]
        if armed:
            self._armed[stem] = [*armed, call]

    def _unnamed(self, call_id: CallId) -> ToolCall | None:
        """The call of that name, if no result has named it yet."""
        held = self._held.get(call_id)
        return held.call if held is not None else self._open.get(call_id) or self._older.get(call_id)

    def _calls_with(self, wire_id: str) -> list[ToolCall]:
        """The calls of the newest answer that have `wire_id`."""
        for call in self._answer_calls:
            self._siblings.setdefault(call.wire_id, []).append(call)
        self._answer_calls.clear()
        return self._siblings.get(wire_id, [])

    def _note_response(self, response: ToolResponse) -> None:
        self._round_over = True
        call_id = response.call_id
        call = self._open.pop(call_id, None)
        if call is not None and not response.guessed and not self._armed:
            return  # as nearly always
        if response.ordinal >= 0 and response.displaces is None:
            self._note_lone(call_id, response.ordinal, response)
            return
        call = call or self._older.pop(call_id, None)
        if response.guessed:
            if call is not None:
                evidence = Evidence.PLACE if response.wire_id else Evidence.ORDER
                self._held[call_id] = _Held(call, response, evidence, self.next_ordinal)
            return
        held = self._held.get(call_id)
        if held is not None:
            call = held.call
            if has_news(response):
                del self._held[call_id]
                if response.displaces is not None:
                    self._note_displaced(held, response.displaces, response.ordinal)
        if call is not None:
            self._disarm(call)
        elif call_id in self._lone:
            self._lone.repeat(call_id, response)

    def _note_lone(self, name: CallId, ordinal: int, response: ToolResponse) -> None:
        """A response without a call has a name of its own, and waits for the call if it has an id."""
        self.next_ordinal = ordinal + 1
        self.suffixes[name[len(PREFIX) :]] = 1
        owner = self._owner.get(response.wire_id)
        if response.wire_id and (owner is None or owner in self._lone):
            self._lone.add(name, response)
            self._owner[response.wire_id] = name  # the same result again is a duplicate of this one

    def _note_displaced(self, held: _Held, to: CallId, ordinal: int) -> None:
        """A guess gave way and went to another call or, with an `ordinal`, to a name of its own."""
        if ordinal >= 0:
            self._note_lone(to, ordinal, held.guess)
        elif (call := self._open.pop(to, None) or self._older.pop(to, None)) is not None:
            self._held[to] = held._replace(call=call)

    def _disarm(self, call: ToolCall) -> None:
        """A result has named `call`: the next one with that id means the next call that is armed."""
        stem = bare(call.wire_id)
        if armed := self._armed.get(stem):
            if left := [other for other in armed if other.id != call.id]:
                self._armed[stem] = left
            else:
                del self._armed[stem]
