"""Give every call a name of its own, and find the call that a result belongs to.

In:  entries as they arrive, with the ids that providers gave: reused, empty, missing, with one prefix too many.
Out: the same entries with our own ids and ordinals, minted once, when they are recorded.

Providers reuse ids (`call_0` in every answer, one constant id), so a wire id names a call only for a while: a call
*arms* it, the next result with that id *consumes* it, a later answer may arm it again. A result that fits no call gets
a name too, so that the pair can be reconstructed; should the true call still come before anybody speaks, it adopts the
result. The same log gives the same names on every machine: no clock, no randomness, and `note` mints nothing.

Nearly every wire id is met twice, with its call and with the result, and then the call that owns it is all there is to
know. Which calls are armed is kept apart only for ids that several calls of one answer share; of any other id it is the
newest call.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from legato.model import UNMINTED, Block, CallId, Entry, Speaker, ToolCall, ToolResponse
from legato.model.hashing import base62

PREFIX = "hist_tool_"
_PREFIXES = re.compile(r"(?:call_|toolu_|hist_tool_)+|call(?=[A-Za-z0-9]{8,}\Z)")
_FIRST = ("call", "toolu_", "hist_tool_")
_HUMAN, _TOOL = Speaker.HUMAN, Speaker.TOOL
_LONGEST_STEM = 24
_STEM = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST_STEM}}}")
is_usual = re.compile(rf"(?:call|toolu)_((?!call)[A-Za-z0-9]{{1,{_LONGEST_STEM}}})").fullmatch
"""a wire id with one prefix and a stem that is good for a name"""


def bare(wire_id: str) -> str:
    """`wire_id` without known prefixes, however often they were put before it."""
    if usual := is_usual(wire_id):
        return usual[1]
    while wire_id.startswith(_FIRST) and (match := _PREFIXES.match(wire_id)) and match.end() < len(wire_id):
        wire_id = wire_id[match.end() :]
    return wire_id


def stem_of(bare_id: str, wire_id: str, name: str, ordinal: int) -> str:
    """What a call is named by: its bare id where that is short and plain, else a hash."""
    return bare_id if _STEM.fullmatch(bare_id) else base62(ordinal, wire_id, name, length=_LONGEST_STEM)


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
        self._armed: dict[str, list[tuple[str, CallId]]] = {}
        """by bare id, where calls of one answer share a wire id: (wire id, call) of those still to be answered"""
        self._waiting: dict[str, tuple[CallId, ToolResponse]] = {}
        """by bare id: a result that came before its call"""
        self._answer: str | None = None
        self._answer_calls: list[ToolCall] = []
        """the calls of the newest answer, to see replays within it; `_siblings` are the same by wire id"""
        self._siblings: dict[str, list[ToolCall]] = {}
        self._still_armed: dict[CallId, ToolCall] = {}
        """calls of the newest answer that were answered under another id than theirs, which stays armed"""

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
                    or self._waiting
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
                    or wire_id.startswith(PREFIX)
                ):
                    block = self._mint_odd_response(block, entry.blocks, len(blocks))
                else:
                    del open_calls[owner]
                    block = replace(block, call_id=owner)
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
        adopts = self._waiting_for(stem, call.name) if self._waiting and wire_id else None
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
        wire_id = response.wire_id
        call_id = self.find(response)
        if call_id is not None:
            response = replace(response, call_id=call_id)
        elif wire_id and (place := self._by_place(siblings, index)) is not None:
            response = replace(response, call_id=place, guessed=True)
        else:
            wire_id = wire_id or response.call_id
            name = self._name(bare(wire_id), wire_id, response.tool_name)
            response = replace(response, call_id=name, ordinal=self.next_ordinal)
        self._note_response(response)
        return response

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

    @property
    def is_quiet(self) -> bool:
        """Whether calls with new ids and their results concern only each other, and no human word changes anything."""
        return not (self._open or self._waiting or self._still_armed)

    def take_row(
        self, stems: list[str], wire_ids: list[str], owners: dict[str, CallId], newest: list[ToolCall]
    ) -> None:
        """Remember calls with ids never met before, named by `stems` and answered; `newest` are the newest answer's."""
        self.next_ordinal += len(stems)
        self.suffixes.update(dict.fromkeys(stems, 1))
        self._owner.update(zip(wire_ids, owners.values(), strict=True))
        self.bare_owners.update(owners)
        self._answer, self._answer_calls, self._siblings = None, newest, {}

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
            for armed_id, call_id in self._armed.get(bare(wire_id), ()):
                if armed_id == wire_id:
                    return call_id
        owner = self._owner.get(wire_id)
        if owner is not None:
            return owner
        stem = bare(wire_id)
        armed = self._armed.get(stem)
        return armed[0][1] if armed else self.bare_owners.get(stem)

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
            if self._open:
                self._older.update(self._open)
                self._open = {}
            if self._waiting:
                self._stop_waiting()
        elif speaker is _TOOL and answer is None:
            return  # results between the parts of one answer do not end it
        if answer is None or answer != self._answer:
            self._answer = answer
            if self._answer_calls or self._siblings:
                self._answer_calls, self._siblings, self._still_armed = [], {}, {}

    def _stop_waiting(self) -> None:
        """The time of results that came before their calls is over; their ids may mean others from now on."""
        for call_id, response in self._waiting.values():
            if self._owner.get(response.wire_id) == call_id:
                del self._owner[response.wire_id]
        self._waiting = {}

    def _note_call(self, call: ToolCall, stem: str) -> None:
        name, wire_id = call.id, call.wire_id
        self.next_ordinal = call.ordinal + 1
        self.suffixes[name[len(PREFIX) :]] = 1
        if call.adopts is None:
            self._open[name] = call
        if not wire_id:
            return
        if stem in self.bare_owners:
            self._arm_again(call, stem)
        if call.adopts is not None:
            self._waiting.pop(stem, None)
        self._answer_calls.append(call)
        self._owner[wire_id] = self.bare_owners[stem] = name

    def _arm_again(self, call: ToolCall, stem: str) -> None:
        """An id that was met before: a new answer arms it for itself alone, the same answer once more."""
        if not self._calls_with(call.wire_id):
            self._armed.pop(stem, None)
            return
        armed = self._armed.get(stem)
        if armed is None:
            name = self.bare_owners[stem]
            newest = self._open.get(name) or self._older.get(name) or self._still_armed.get(name)
            armed = self._armed[stem] = [] if newest is None else [(newest.wire_id, name)]
        if call.adopts is None:
            armed.append((call.wire_id, call.id))

    def _calls_with(self, wire_id: str) -> list[ToolCall]:
        """The calls of the newest answer that have `wire_id`."""
        for call in self._answer_calls:
            self._siblings.setdefault(call.wire_id, []).append(call)
        self._answer_calls.clear()
        return self._siblings.get(wire_id, [])

    def _waiting_for(self, stem: str, name: str) -> CallId | None:
        """The result that came before its call and waits for it: the same id, the same tool, nobody spoke since."""
        waiting = self._waiting.get(stem)
        return waiting[0] if waiting and waiting[1].tool_name in ("", name) else None

    def _note_response(self, response: ToolResponse) -> None:
        if response.ordinal >= 0:  # it came alone: it has a name of its own and waits for its call
            self.next_ordinal = response.ordinal + 1
            self.suffixes[response.call_id[len(PREFIX) :]] = 1
            if response.wire_id:
                self._waiting[bare(response.wire_id)] = (response.call_id, response)
                self._owner[response.wire_id] = response.call_id  # the same result again is a duplicate of this one
            return
        call_id, wire_id = response.call_id, response.wire_id
        call = self._open.pop(call_id, None) or self._older.pop(call_id, None)
        if self._armed or call is None or call.wire_id != wire_id:
            self._disarm(call_id, call, bare(wire_id))

    def _disarm(self, call_id: CallId, call: ToolCall | None, stem: str) -> None:
        """A result consumes the bare id it came with; `call` is the one it answered, if that was open."""
        armed = self._armed.get(stem)
        if armed:
            armed[:] = [pair for pair in armed if pair[1] != call_id]
        if call is None:
            call = self._still_armed.get(call_id)
            if call is not None and bare(call.wire_id) == stem:
                del self._still_armed[call_id]
        elif bare(call.wire_id) != stem:
            self._still_armed[call_id] = call
