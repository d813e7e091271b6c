"""Entries of the usual shapes, recorded in a row.

In:  entries that our own parsers and readers made, in order.
Out: the same log, names, calls and slots as if each had been named, entered and placed by itself, up to the first entry
     about which there is something to decide.

Usual is a person's text, and an answer with all its results behind it: every call has an id that was never met, and one
result under that id, in order, which is a text. A long conversation is nearly all of that. Between such an answer and
its results nothing is ever open, so what is true of a call is known when it is met, and everything that is kept about
it is made in one loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from legato.ledger import Call, CallState, Completion, CompletionKind, Identity, Ledger
from legato.ledger.stems import PREFIX, bare, is_usual, stem_of
from legato.model import BROKEN_OFF, UNMINTED, Authority, CallId, Entry, Speaker, Text, Thinking, ToolCall, ToolResponse
from legato.model.native import judge_native
from legato.model.records import Record, Recorded
from legato.transcript.compose import Composer
from legato.transcript.slots import AnswerBlock, Slot, SlotKind
from legato.transcript.units import Exchange, Said

_HUMAN, _AI, _TOOL = Speaker
_PERSON = Authority.PERSON
_SAID, _ANSWER = SlotKind.SAID, SlotKind.ANSWER
_COMPLETE, _SUCCESS = CallState.COMPLETE, CompletionKind.SUCCESS


def record_row(
    entries: Sequence[Entry], first: int, log: list[Record], identity: Identity, ledger: Ledger, composer: Composer
) -> int:
    """Record `entries` from number `first` up to one that is not usual; the number of that one."""
    if not identity.is_quiet:
        return first
    row = _Row(len(log), identity, ledger)
    index, count = first, len(entries)
    while index < count:
        entry, end = entries[index], index + 1
        if entry.speaker is _AI:
            while end < count and entries[end].speaker is _TOOL and entries[end].answer is None:
                end += 1
            if not row.take_exchange(entry, entries[index + 1 : end]):
                break
        elif entry.speaker is not _HUMAN or not row.take_said(entry):
            break
        index = end
    if row.records:
        row.commit(log, composer)
    return index


class _Row:
    """Usual entries, recorded here and nowhere else yet."""

    def __init__(self, seq: int, identity: Identity, ledger: Ledger) -> None:
        self.records: list[Record] = []
        self._seq = seq
        self._identity = identity
        self._ledger = ledger
        self._slots: list[Slot] = []
        self._calls: dict[CallId, Call] = {}
        self._owners: dict[str, CallId] = {}
        """the same calls by bare id"""
        self._stems: list[str] = []
        """of the same calls: what their names are made of"""
        self._homes: list[Slot] = []
        """of the same calls: the slot of their answer"""

    def take_said(self, entry: Entry) -> bool:
        """Record what a person said, if that is one text."""
        blocks = entry.blocks
        block = blocks[0]
        if len(blocks) > 1 or type(block) is not Text or entry.authority is not _PERSON or entry.answer is not None:
            return False
        if not block.text or block.text.isspace():
            return False
        seq = self._seq + len(self.records)
        self._slots.append(Slot(_SAID, seq, seq, [block], unit=Said(seq, (block,)), is_stale=False))
        self.records.append(Recorded(entry=entry))
        return True

    def take_exchange(self, answer: Entry, results: Sequence[Entry]) -> bool:
        """Record an answer with the results behind it; false, with nothing done, unless they are usual."""
        origin, ending = answer.origin, answer.ending
        if answer.answer is not None or (ending is not None and ending in BROKEN_OFF):
            return False
        responses = results[0].blocks if len(results) == 1 else [block for entry in results for block in entry.blocks]
        count = len(responses)
        seq = self._seq + len(self.records)
        response_seq, step = seq + 1, len(results) > 1
        if step and count != len(results):
            return False
        calls, owners, stems, ledger = self._calls, self._owners, self._stems, self._ledger
        known, adopted, incarnation = ledger.calls, ledger.adopted, ledger.incarnation
        imported = len(self.records) < ledger.importing
        suffixes, bare_owners = self._identity.suffixes, self._identity.bare_owners
        ordinal = self._identity.next_ordinal + len(calls)
        blocks: list[AnswerBlock] = []
        answered: list[ToolResponse] = []
        completions: list[Completion] = []
        outputs: list[str] = []
        is_plain = True
        dialect = origin.dialect if origin is not None else ""
        for block in answer.blocks:
            if block.native is not None and judge_native(block, dialect)[0] is not block:
                break
            if type(block) is ToolCall:
                wire_id, place = block.wire_id, len(outputs)
                if usual := is_usual(wire_id):
                    bare_id = stem = usual[1]
                else:
                    bare_id = bare(wire_id)
                    if not wire_id or wire_id.startswith(PREFIX) or bare_id in owners:
                        break
                    stem = stem_of(bare_id, wire_id, block.name, ordinal)
                name = CallId(PREFIX + stem)
                if (
                    stem in suffixes
                    or bare_id in bare_owners
                    or name in calls
                    or name in known
                    or name in adopted
                    or block.adopts is not None
                    or place == count
                    or type(response := responses[place]) is not ToolResponse
                    or response.wire_id != wire_id
                    or response.call_id != UNMINTED
                    or response.ordinal >= 0
                    or type(output := response.result) is not str
                    or not output
                    or output.isspace()
                    or response.error is not None
                    or response.reason is not None
                    or response.guessed
                    or response.media
                ):
                    break
                if block.native is not None or block.raw is not None:
                    is_plain = False
                block = replace(block, id=name, ordinal=ordinal)
                response = replace(response, call_id=name)
                completion = Completion(name, _SUCCESS, output)
                owners[bare_id] = name
                stems.append(stem)
                calls[name] = Call(
                    name,
                    ordinal,
                    wire_id,
                    block.name,
                    block.arguments,
                    seq,
                    ending,
                    incarnation,
                    imported,
                    _COMPLETE,
                    response,
                    response_seq,
                    completion,
                )
                answered.append(response)
                completions.append(completion)
                outputs.append(output)
                ordinal += 1
                response_seq += step
            elif type(block) is Text:
                if not block.text or block.text.isspace():
                    break
                if outputs or block.native is not None:
                    is_plain = False
            elif type(block) is Thinking:
                is_plain = False
            else:
                break
            blocks.append(block)
        if len(blocks) < len(answer.blocks) or len(outputs) != count or not (is_plain or _is_visible(blocks)):
            for _ in outputs:
                calls.popitem()
                owners.popitem()
                stems.pop()
            return False
        unit = Exchange(seq, tuple(blocks), tuple(completions), origin)
        slot = Slot(_ANSWER, seq, seq, blocks, _PERSON, origin, ending, unit=unit, is_stale=False)
        self._slots.append(slot)
        self._homes += [slot] * count
        self._keep(replace(answer, blocks=unit.blocks), results, answered)
        return True

    def _keep(self, answer: Entry, results: Sequence[Entry], answered: list[ToolResponse]) -> None:
        """Keep the records of an answer and of its results, which are in one entry or each in one of its own."""
        self.records.append(Recorded(entry=answer))
        named = [tuple(answered)] if len(results) == 1 else [(response,) for response in answered]
        for entry, responses in zip(results, named, strict=True):
            self.records.append(Recorded(entry=replace(entry, blocks=responses)))

    def commit(self, log: list[Record], composer: Composer) -> None:
        """Tell everybody."""
        log += self.records
        newest = self._slots[-1].unit
        answer_calls = list(newest.calls) if type(newest) is Exchange else []
        wire_ids = [call.wire_id for call in self._calls.values()]
        self._identity.take_row(self._stems, wire_ids, self._owners, answer_calls)
        self._ledger.take_row(self._calls, len(self.records))
        composer.take_row(self._slots, zip(self._calls, self._homes, strict=True))


def _is_visible(blocks: list[AnswerBlock]) -> bool:
    return any(type(block) is not Thinking for block in blocks)
