"""Give every call a name of its own, and every response the name of the call that it belongs to.

In:  entries as they arrive, with the ids that providers gave: reused, empty, missing, with one prefix too many.
Out: the same entries with our own ids and ordinals, minted once, when they are recorded.

`names` knows which names are free, `pairs` which call a response belongs to. A response that fits no call gets a name
too, so that the pair can be reconstructed; should its call still come before anyone speaks, the call adopts it.
Everything that is decided is written into the record: the name, whether it was a guess (`guessed`), where a guess goes
that made room (`displaces`), what a call takes over (`adopts`). So `note` decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import force_setattr, replace

from legato.ledger.evidence import Evidence
from legato.ledger.names import TakenNames
from legato.ledger.pairs import Pairs
from legato.ledger.stems import PREFIX, bare, match_simple_id
from legato.model import UNMINTED, Block, CallId, Entry, Speaker, Text, ToolCall, ToolResponse
from legato.model.blocks import BLOCKS
from legato.model.entries import meaningful

_HUMAN, _AI, _TOOL = Speaker


class Identity:
    """The names in one log."""

    def __init__(self) -> None:
        self._names = TakenNames()
        self._pairs = Pairs(self._names)

    def after_undo(self, standing: Iterable[Entry]) -> Identity:
        """The names once only `standing` is left of the log: what was undone is open no longer, and keeps its names."""
        rest = Identity()
        for entry in standing:
            rest.note(entry)
        rest._names.next_ordinal, rest._names.taken = self._names.next_ordinal, self._names.taken
        rest._pairs.ids.remember(self._pairs.ids)
        rest._pairs.copies = self._pairs.copies
        return rest

    def called(self, wire_id: str) -> CallId | None:
        """The call that someone means by `wire_id`, in any spelling, answered or not."""
        return self._pairs.called(wire_id)

    def is_copied(self, name: CallId) -> bool:
        """Whether a call that was copied into this log had that name where it came from."""
        return name in self._pairs.copies

    def note(self, entry: Entry) -> None:
        """Remember an entry that was minted before."""
        pairs = self._pairs
        pairs.begin(entry)
        for block in entry.blocks:
            if type(block) is ToolCall:
                if block.ordinal >= self._names.next_ordinal:  # else it is a replay within its answer
                    pairs.note_call(block, bare(block.wire_id))
            elif type(block) is ToolResponse:
                pairs.note_response(block)
        pairs.end(entry)

    def mint(self, entry: Entry, in_place: bool = False) -> Entry:
        """`entry` with every call and every response named, and remembered here.

        With `in_place`, names that need no closer look are written into the blocks, and an entry in which all are such
        comes back as it is; any other is copied as ever.

        Raises `InvalidEntry` if no one says anything in it; what is remembered then is worth nothing any more.
        """
        speaker, blocks = entry.speaker, entry.blocks
        if speaker is _TOOL and entry.answer is None:  # results do not end the answer that they come in
            minted = self._mint_results(entry, in_place)
            return entry if minted is blocks else replace(entry, blocks=minted)
        if type(speaker) is not Speaker or not blocks:
            entry = meaningful(entry)
            speaker = entry.speaker
        self._pairs.begin(entry)
        if len(blocks) == 1 and type(blocks[0]) is Text:
            return entry
        minted = self._mint_blocks(entry, [], in_place)
        if speaker is _HUMAN:
            self._pairs.end(entry)
        return entry if minted is blocks else replace(entry, blocks=minted)

    def _mint_results(self, entry: Entry, in_place: bool) -> tuple[Block, ...]:
        """The blocks of an entry of a tool.

        No function is called for the result of an open call under its own id: nearly all are such, and there is no more
        to look at.
        """
        pairs = self._pairs
        ids, open_calls = pairs.ids, pairs.open.current
        newest, armed = ids.newest, ids.armed
        results: list[Block] = []
        for block in entry.blocks:
            if type(block) is not ToolResponse:
                break
            wire_id = block.wire_id
            owner = newest.get(wire_id, UNMINTED)
            if owner not in open_calls or (armed and wire_id in armed) or (block.call_id and block.call_id != owner):
                break
            del open_calls[owner]
            if in_place:
                force_setattr(block, "call_id", owner)
            else:
                block = replace(block, call_id=owner, ordinal=-1, guessed=False, displaces=None)
            results.append(block)
        if results:
            pairs.round_over = True
            if len(results) == len(entry.blocks):
                return entry.blocks if in_place else tuple(results)
        return self._mint_blocks(meaningful(entry), results, in_place)

    def _mint_blocks(self, entry: Entry, blocks: list[Block], in_place: bool) -> tuple[Block, ...]:
        """The blocks of any entry; those in `blocks` are done.

        No function is called for a call whose id was never met and makes a name as it is.
        """
        names, pairs = self._names, self._pairs
        ids, calls = pairs.ids, pairs.answer_calls
        taken, newest, spellings, open_calls = names.taken, ids.newest, ids.spellings, pairs.open.current
        places: dict[int, CallId] | None = None
        is_quiet = entry.speaker is _AI and pairs.is_quiet
        is_same = in_place
        for block in entry.blocks[len(blocks) :] if blocks else entry.blocks:
            if type(block) is ToolCall:
                wire_id = block.wire_id
                simple = match_simple_id(wire_id) if is_quiet else None
                if simple is None or (stem := simple[1]) in taken or stem in spellings or block.id:
                    block, places, is_same = self._mint_call(block), None, False
                    is_quiet = pairs.is_quiet
                else:
                    name, ordinal = PREFIX + stem, names.next_ordinal
                    if in_place:
                        force_setattr(block, "id", name)
                        force_setattr(block, "ordinal", ordinal)
                    else:
                        block = replace(block, id=name, ordinal=ordinal)
                    names.next_ordinal = ordinal + 1
                    taken[stem] = 1
                    newest[wire_id], spellings[stem] = name, wire_id
                    open_calls[name] = block
                    calls.append(block)
            elif type(block) is ToolResponse:
                if places is None:
                    places = pairs.places(entry.blocks, len(blocks))
                block, is_same = self._mint_response(block, places.get(len(blocks))), False
                is_quiet = False
            elif type(block) is not Text and type(block) not in BLOCKS:
                meaningful(entry)  # which says what is wrong with it
            blocks.append(block)
        return entry.blocks if is_same else tuple(blocks)

    def _mint_call(self, call: ToolCall) -> ToolCall:
        """`call` with a name of its own, or with that of the call which it repeats."""
        twin = self._pairs.find_twin(call)
        if twin is not None:
            return replace(call, id=twin.id, ordinal=twin.ordinal)
        bare_id = bare(call.wire_id)
        name = self._names.free(bare_id, call.wire_id, call.name)
        before = call.id
        call = replace(call, id=name, ordinal=self._names.next_ordinal, adopts=self._pairs.early(call))
        if before not in (UNMINTED, name):
            self._pairs.copies[before] = call
        self._pairs.note_call(call, bare_id)
        return call

    def _mint_response(self, response: ToolResponse, place: CallId | None) -> ToolResponse:
        """`response` with the name of its call, or with one of its own."""
        given = response.wire_id or response.call_id
        found, evidence = self._pairs.find(response, place)
        response = replace(response, guessed=evidence is not Evidence.NAMED, displaces=None, ordinal=-1)
        if found is not None:
            response = self._displacing(replace(response, call_id=found))
        else:
            response = replace(response, guessed=False)
            again = self._pairs.repeated_in(response)
            if again is not None:
                response = replace(response, call_id=again)
            else:
                name = self._names.free(bare(given), given, response.tool_name)
                response = replace(response, call_id=name, ordinal=self._names.next_ordinal)
        self._pairs.note_response(response)
        return response

    def _displacing(self, response: ToolResponse) -> ToolResponse:
        """`response` with the place that the guess which held its call goes to, if there was one."""
        displaced = self._pairs.displaced_by(response)
        if displaced is None:
            return response
        guess, to = displaced
        if to is not None:
            return replace(response, displaces=to)
        name = self._names.free(bare(guess.wire_id), guess.wire_id, guess.tool_name)
        return replace(response, displaces=name, ordinal=self._names.next_ordinal)
