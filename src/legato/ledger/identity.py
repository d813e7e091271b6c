"""Give every call a name of its own, and find the call that a result belongs to.

In:  entries as they arrive, with the ids that providers gave: reused, empty, missing, with one prefix too many.
Out: the same entries with our own ids and ordinals, minted once, when they are recorded.

Providers reuse ids (`call_0` in every answer, one constant id), so a wire id names a call only for a while: a call
*arms* it, the next result with that id *consumes* it, a later answer may arm it again. A result that fits no call gets
a name too, so that the pair can be reconstructed; should the true call still come before anybody speaks, it adopts the
result. The same log gives the same names on every machine: no clock, no randomness, and `note` mints nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from legato.model import UNMINTED, Block, CallId, Entry, Speaker, ToolCall, ToolResponse
from legato.model.hashing import base62

PREFIX = "hist_tool_"
_PREFIXES = re.compile(r"(?:call_|toolu_|hist_tool_)+|call(?=[A-Za-z0-9]{8,}\Z)")
_FIRST = ("call", "toolu_", "hist_tool_")
_HUMAN, _TOOL = Speaker.HUMAN, Speaker.TOOL
_LONGEST_STEM = 24
_STEM = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST_STEM}}}")


@lru_cache(maxsize=4096)  # a call's id comes back with its result
def bare(wire_id: str) -> str:
    """`wire_id` without known prefixes, however often they were put before it."""
    while wire_id.startswith(_FIRST) and (match := _PREFIXES.match(wire_id)) and match.end() < len(wire_id):
        wire_id = wire_id[match.end() :]
    return wire_id


class Identity:
    """The names in one log."""

    def __init__(self) -> None:
        self.next_ordinal = 0
        self._suffix: dict[str, int] = {}
        """each stem in use, with a number below which all its suffixes are in use too"""
        self._armed: dict[str, list[tuple[str, CallId]]] = {}
        """by bare id: (wire id, call) of the newest answer that used it, still to be answered"""
        self._owner: dict[str, CallId] = {}
        """by wire id: the newest call that had it, answered or not"""
        self._bare_owner: dict[str, CallId] = {}
        self._open: dict[CallId, str] = {}
        """open calls since a human last spoke, in order, with their tools; `_older` has the ones before"""
        self._older: dict[CallId, str] = {}
        self._waiting: dict[str, tuple[CallId, ToolResponse]] = {}
        """by bare id: a result that came before its call"""
        self._answer: str | None = None
        self._answer_calls: dict[str, list[ToolCall]] = {}
        """by wire id: the calls of the newest answer, to see replays within it"""

    # --- minting ------------------------------------------------------------------------------------------------------

    def mint(self, entry: Entry) -> Entry:
        """`entry` with every call and every response named, and remembered here."""
        self._begin(entry)
        blocks: list[Block] | None = None
        for index, block in enumerate(entry.blocks):
            if type(block) is ToolCall:
                named = self._mint_call(block)
            elif type(block) is ToolResponse:
                named = self._mint_response(block, entry.blocks, index)
            else:
                continue
            if blocks is None:
                blocks = list(entry.blocks)
            blocks[index] = named
        return entry if blocks is None else replace(entry, blocks=tuple(blocks))

    def note(self, entry: Entry) -> None:
        """Remember an entry that was minted before."""
        self._begin(entry)
        for block in entry.blocks:
            if type(block) is ToolCall:
                self._note_call(block, bare(block.wire_id))
            elif type(block) is ToolResponse:
                self._note_response(block)

    def _mint_call(self, call: ToolCall) -> ToolCall:
        wire_id = call.wire_id
        if wire_id and wire_id in self._answer_calls:
            for twin in self._answer_calls[wire_id]:
                if twin.name == call.name and twin.arguments == call.arguments and twin.raw == call.raw:
                    return replace(call, id=twin.id, ordinal=twin.ordinal)
        stem = bare(wire_id)
        adopts = self._waiting_for(stem, call.name) if self._waiting and wire_id else None
        name = self._name(stem, wire_id, call.name)
        call = replace(call, id=name, ordinal=self.next_ordinal, adopts=adopts)
        self._note_call(call, stem)
        return call

    def _mint_response(self, response: ToolResponse, siblings: tuple[Block, ...], index: int) -> ToolResponse:
        call_id = self.find(response)
        if call_id is not None:
            response = replace(response, call_id=call_id)
        elif response.wire_id and (place := self._by_place(siblings, index)) is not None:
            response = replace(response, call_id=place, guessed=True)
        else:
            wire_id = response.wire_id or response.call_id
            name = self._name(bare(wire_id), wire_id, response.tool_name)
            response = replace(response, call_id=name, ordinal=self.next_ordinal)
        self._note_response(response)
        return response

    def _name(self, stem: str, wire_id: str, name: str) -> CallId:
        """A free id: the bare wire id where that is short and plain, else a hash, with a suffix if it is taken."""
        is_plain = stem.isalnum() and stem.isascii() and len(stem) <= _LONGEST_STEM  # as nearly all are
        if not is_plain and not _STEM.fullmatch(stem):
            stem = base62(self.next_ordinal, wire_id, name, length=_LONGEST_STEM)
        if stem not in self._suffix:
            return CallId(PREFIX + stem)
        number = self._suffix[stem] + 1
        while f"{stem}_{number}" in self._suffix:
            number += 1
        self._suffix[stem] = number - 1
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
        stem = bare(wire_id)
        armed = self._armed.get(stem)
        if armed:
            for armed_id, call_id in armed:
                if armed_id == wire_id:
                    return call_id
        owner = self._owner.get(wire_id)
        if owner is not None:
            return owner
        return armed[0][1] if armed else self._bare_owner.get(stem)

    def _is_known(self, call_id: str) -> bool:
        """Whether this is one of our own ids, and a call's: not that of a result that came alone."""
        return call_id.startswith(PREFIX) and call_id[len(PREFIX) :] in self._suffix

    def _first_open(self, tool_name: str) -> CallId | None:
        """The first open call of that tool since a human spoke, else the first open call, else the same among older."""
        for calls in (self._open, self._older):
            for call_id, name in calls.items():
                if name == tool_name:
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
        free = [(call_id, name) for call_id, name in self._open.items() if call_id not in answered]
        return free[0][0] if strays == [name for _, name in free] else None

    # --- remembering --------------------------------------------------------------------------------------------------

    def _begin(self, entry: Entry) -> None:
        if entry.speaker is _HUMAN:
            if self._open:
                self._older.update(self._open)
                self._open = {}
            for (
                call_id,
                response,
            ) in self._waiting.values():  # its time is over; the id may mean another one from now on
                if self._owner.get(response.wire_id) == call_id:
                    del self._owner[response.wire_id]
            self._waiting = {}
        elif entry.speaker is _TOOL and entry.answer is None:
            return  # results between the parts of one answer do not end it
        if entry.answer is None or entry.answer != self._answer:
            self._answer = entry.answer
            self._answer_calls = {}

    def _note_call(self, call: ToolCall, stem: str) -> None:
        if call.ordinal < self.next_ordinal:
            return  # a replay within its answer: it has the name of its twin
        self.next_ordinal = call.ordinal + 1
        self._suffix[call.id[len(PREFIX) :]] = 1
        wire_id = call.wire_id
        if not wire_id:
            self._open[call.id] = call.name
            return
        siblings = self._answer_calls.setdefault(wire_id, [])
        armed = self._armed.get(stem) if siblings else None
        if armed is None:  # a new answer arms the id for itself alone
            armed = self._armed[stem] = []
        siblings.append(call)
        self._owner[wire_id] = self._bare_owner[stem] = call.id
        if call.adopts is None:
            armed.append((wire_id, call.id))
            self._open[call.id] = call.name
        else:
            self._waiting.pop(stem, None)

    def _waiting_for(self, stem: str, name: str) -> CallId | None:
        """The result that came before its call and waits for it: the same id, the same tool, nobody spoke since."""
        waiting = self._waiting.get(stem)
        return waiting[0] if waiting and waiting[1].tool_name in ("", name) else None

    def _note_response(self, response: ToolResponse) -> None:
        if response.ordinal >= 0:  # it came alone: it has a name of its own and waits for its call
            self.next_ordinal = response.ordinal + 1
            self._suffix[response.call_id[len(PREFIX) :]] = 1
            if response.wire_id:
                self._waiting[bare(response.wire_id)] = (response.call_id, response)
                self._owner[response.wire_id] = response.call_id  # the same result again is a duplicate of this one
            return
        call_id = response.call_id
        if self._open.pop(call_id, None) is None:
            self._older.pop(call_id, None)
        if response.wire_id:
            stem = bare(response.wire_id)
            armed = self._armed.get(stem)
            if armed and len(armed) > 1:
                armed[:] = [pair for pair in armed if pair[1] != call_id]
            elif armed and armed[0][1] == call_id:
                del self._armed[stem]
