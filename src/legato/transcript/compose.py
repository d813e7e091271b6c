"""From log and ledger to units: the fold that decides where everything is.

In:  records, one after the other, and the ledger that has already taken them.
Out: slots in the order in which a model will see them; each makes its unit when it is whole, or the next one begins.

Placement is decided once, when a record arrives, and depends on earlier records only. Whoever a block was recorded
under, calls belong to an answer, results to their call, and text to whoever said it; the log keeps what was recorded,
and each correction is a decision. Results have no place of their own: they come behind their call, wherever they were
recorded. A view for one window puts summaries in place of the runs that compactions cover for it.
"""

from __future__ import annotations

from typing import cast

from legato.ledger import Call, Ledger
from legato.model import (
    Action,
    Authority,
    CallId,
    Decision,
    Entry,
    Fault,
    HostedTool,
    PrefixCause,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.model.records import (
    Answered,
    Compacted,
    Opened,
    Record,
    Recorded,
    Restored,
    Rewound,
    Started,
)
from legato.transcript.hosted_records import HostedRecords
from legato.transcript.slots import Slot, SlotKind, orphan_call, quotation
from legato.transcript.standing import standing, undone_spans
from legato.transcript.units import AnswerBlock, Said

_HUMAN, _AI, _TOOL = Speaker
_PERSON, _INSTRUCTION = Authority
_SAID, _ANSWER = SlotKind.SAID, SlotKind.ANSWER
_LATE_RESULT = PrefixCause.LATE_RESULT


class Composer:
    """Places what was recorded. `slots` only grows, except after an undo."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.slots: list[Slot] = []
        self.instructions: list[str] = []
        """the leading system messages"""
        self.touched: list[Slot] = []
        """slots that changed after their unit was made, in the order of the news; views read it with a cursor"""
        self.compactions: dict[int, Compacted] = {}
        """the compactions that hold, by sequence number"""
        self.epoch = 0
        """grows when the order of the slots itself changed: undo, compaction, restoration"""
        self.epoch_cause = PrefixCause.UNDO
        self.taken_back = 0
        """the epoch in which something was last taken back (undo, restoration); since then only compactions came"""
        self._stale: list[Slot] = []
        """slots whose units are made when the next slot begins"""
        self._undone: list[range] = []
        """what undos have taken out of the view, as sequence numbers"""
        self._parted: dict[int, Call] = {}
        """while all is placed again, by the identity of a response: who has it because of something that was undone"""
        self._slot_of: dict[CallId, Slot] = {}
        self._hosted = HostedRecords(ledger, self._touch_slot)
        self._answers: dict[str, Slot] = {}

    def apply(self, seq: int, record: Record, log: list[Record]) -> None:
        """Take a record that the ledger has taken. `log` ends with it."""
        match record:
            case Recorded():
                self.place(seq, record.entry)
            case Started() | Answered():
                self._touch(record.call, PrefixCause.LATE_RESULT)
            case Opened():
                for call in self.ledger.pending.values():
                    if call.started is not None:
                        self._touch(call.id, PrefixCause.LATE_RESULT)
            case Compacted():
                self.compactions[seq] = record
                self._reorder(PrefixCause.COMPACTION)
            case Restored():
                self.compactions.pop(record.compaction, None)
                self._reorder(PrefixCause.COMPACTION)
                self.taken_back = self.epoch
            case Rewound():
                self._rewind(log)
            case _:
                pass  # turns, steps and routes place nothing

    # --- placing ------------------------------------------------------------------------------------------------------

    def place(self, seq: int, entry: Entry) -> None:
        """Place an entry that the ledger has taken: most records are one."""
        speaker = entry.speaker
        if speaker is _TOOL:
            is_placed = self._place_awaited(entry)
        elif speaker is _AI:
            is_placed = entry.answer is None and self._place_simple_answer(seq, entry)
        else:
            is_placed = self._place_simple_words(seq, entry)
        if not is_placed:
            self._place_blocks(seq, entry)
        if self._hosted.waiting is not None:
            self._hosted.follow(self.slots[-1])

    def _place_blocks(self, seq: int, entry: Entry) -> None:
        """Place each block by what it is, whoever the entry is from."""
        speaker = entry.speaker
        said: Slot | None = None
        answer: Slot | None = None
        orphans: Slot | None = None
        after_result = False
        for block in entry.blocks:
            if isinstance(block, ToolResponse):
                orphans = self._place_response(seq, speaker, block, orphans)
                after_result = True
                said = None
            elif speaker is _AI or type(block) is ToolCall or type(block) is Thinking or type(block) is HostedTool:
                if answer is None or after_result or said is not None:  # it was said after what comes before it
                    answer = self._answer_slot(seq, entry, continues=answer is None)
                    after_result = False
                said = None
                self._add_to_answer(block, speaker, answer)
            else:
                if said is None:
                    said = self._append(Slot(_SAID, seq, seq, (), entry.authority))
                    if speaker is _TOOL:
                        said.note(Decision(Action.REATTRIBUTED, "text-beside-results", Fault.CANONICAL))
                said.add(block)

    def _add_to_answer(self, block: AnswerBlock, speaker: Speaker, answer: Slot) -> None:
        if type(block) is ToolCall:
            if block.id in self._slot_of:
                answer.note(Decision(Action.DEDUPED, "replayed-call", Fault.CANONICAL, calls=(block.id,)))
                return
            self._slot_of[block.id] = answer
            self._hosted.claim(block.wire_id)
            if speaker is not _AI or block.adopts is not None:
                self._note_odd_call(block, speaker, answer)
        elif type(block) is HostedTool:
            block = self._hosted.take(block, answer)
        answer.add(block)

    def _place_awaited(self, entry: Entry) -> bool:
        """Place an entry of nothing but results for the newest answer, which needs nothing to know of them."""
        newest = self.slots[-1] if self.slots else None
        if newest is None or newest.kind is not _ANSWER or not newest.is_stale or self._parted:
            return False
        slot_of = self._slot_of
        for block in entry.blocks:
            if type(block) is not ToolResponse or slot_of.get(block.call_id) is not newest:
                return False
            if block.displaces is not None:
                return False
        if not self.ledger.pending and not newest.revision:
            self._make_units()  # the answer is whole; one that changed again is made when it is asked for
        return True

    def _place_simple_words(self, seq: int, entry: Entry) -> bool:
        """Place one text of a person, or an instruction that the conversation begins with; false for anything else."""
        blocks, authority = entry.blocks, entry.authority
        if authority is _INSTRUCTION and not self.slots and all(type(block) is Text for block in blocks):
            self.instructions.append(entry.text)
            return True
        first = blocks[0]
        if len(blocks) != 1 or type(first) is not Text:
            return False
        if not first.text or first.text.isspace():
            return False
        if self._stale:
            self._make_units()
        words = (first,)
        self.slots.append(Slot(_SAID, seq, seq, words, authority, unit=Said(seq, words, authority), is_stale=False))
        return True

    def _place_simple_answer(self, seq: int, entry: Entry) -> bool:
        """Place an answer whose calls are all new and that holds no results; false, with nothing done, for another."""
        blocks = cast("tuple[AnswerBlock, ...]", entry.blocks)  # all but results, as is seen below
        slot = Slot(_ANSWER, seq, seq, blocks, _PERSON, entry.origin, entry.ending)
        slot_of, record_calls = self._slot_of, self._hosted.calls
        for block in entry.blocks:
            if type(block) is ToolCall:
                call_id = block.id
                if call_id in slot_of or block.adopts is not None or (record_calls and block.wire_id in record_calls):
                    break
                slot_of[call_id] = slot
            elif type(block) is ToolResponse or (type(block) is HostedTool and block.native is not None):
                break
        else:
            self._append(slot)
            return True
        for block in entry.blocks:
            if type(block) is ToolCall and slot_of.get(block.id) is slot:
                del slot_of[block.id]
        return False

    def _note_odd_call(self, call: ToolCall, speaker: Speaker, slot: Slot) -> None:
        """Note what was decided about a call that was not the model's word, or came after its result."""
        if speaker is not _AI:
            slot.note(Decision(Action.REATTRIBUTED, f"call-under-{speaker}", Fault.CANONICAL, calls=(call.id,)))
        if call.adopts is not None:
            response = self.ledger.calls[call.id].response
            if response is not None and response.call_id == call.adopts:  # else it was given back since
                slot.move(call.id, "result-before-call")
            self._touch(call.adopts, PrefixCause.LATE_CALL)

    def _answer_slot(self, seq: int, entry: Entry, *, continues: bool) -> Slot:
        """The slot of this answer: a new one, or the one that an earlier entry with the same key began."""
        key = entry.answer
        slot = self._answers.get(key) if key is not None and continues else None
        if slot is None:
            slot = self._append(Slot(_ANSWER, seq, seq, (), _PERSON, entry.origin, entry.ending, key))
            if key is not None:
                self._answers[key] = slot
            return slot
        slot.origin = slot.origin or entry.origin
        slot.ending = entry.ending or slot.ending
        if self.slots[-1] is not slot:
            slot.note(Decision(Action.MERGED, "answer-continued", Fault.CANONICAL))
        self._touch_slot(slot, PrefixCause.ANSWER_CONTINUED)
        return slot

    def _place_response(self, seq: int, speaker: Speaker, response: ToolResponse, orphans: Slot | None) -> Slot | None:
        if id(response) in self._parted:
            return self._place_parted(seq, self._parted[id(response)])
        call_id = self.ledger.adopted.get(response.call_id, response.call_id)
        slot = self._slot_of.get(call_id)
        if response.displaces is not None and slot is not None and slot.moved is not None:
            slot.moved.pop(call_id, None)
        if slot is None:
            orphan = self.ledger.orphans.get(call_id)
            if orphan is None:
                return orphans  # its call was undone, or comes later and has adopted it
            # Those in a row are together; where something else came between them, the order stays as it was.
            if orphans is None or orphans is not self.slots[-1] or _has_names(orphans) != bool(response.tool_name):
                orphans = self._append(Slot(SlotKind.ORPHANS, seq, seq, ()))
            orphans.add(orphan_call(orphan))
            self._slot_of[call_id] = orphans
            self._hosted.claim(orphan.wire_id)
            slot = orphans
        elif self.slots[-1] is not slot and slot.kind is _ANSWER:
            slot.move(call_id, "late-result")
        if speaker is not _TOOL:
            slot.note(Decision(Action.REATTRIBUTED, f"result-under-{speaker}", Fault.CANONICAL, calls=(call_id,)))
        if not slot.is_stale:
            self._touch_slot(slot, _LATE_RESULT)
        if response.displaces is not None:
            self._place_displaced(seq, response.displaces)
        return orphans

    def _place_parted(self, seq: int, holder: Call) -> Slot | None:
        """A response stands, and what gave it to its holder was undone: it is quoted, or alone under its own name."""
        if holder.id in self.ledger.orphans:
            orphans = self._append(Slot(SlotKind.ORPHANS, seq, seq, (orphan_call(holder),)))
            self._slot_of[holder.id] = orphans
            return orphans
        if holder.completion is not None:
            said = self._append(Slot(_SAID, seq, seq, tuple(quotation(holder.completion))))
            said.note(Decision(Action.QUOTED, "result-without-call", Fault.CANONICAL, calls=(holder.id,)))
        return None

    def _place_displaced(self, seq: int, call_id: CallId) -> None:
        """A result gave way to the one that is placed here: it is at another call, or where it once was alone.

        If it never was alone, it is from here on.
        """
        slot = self._slot_of.get(call_id)
        orphan = self.ledger.orphans.get(call_id)
        if slot is not None:
            self._touch_slot(slot, _LATE_RESULT)
        elif orphan is not None and not self._is_undone(orphan.seq):
            self._slot_of[call_id] = self._append(Slot(SlotKind.ORPHANS, seq, seq, (orphan_call(orphan),)))

    def _append(self, slot: Slot) -> Slot:
        """`slot` at the end. Those before it are likely whole now."""
        if self._stale:
            self._make_units()
        if self.slots and self.slots[-1].first == slot.first:
            slot.part = self.slots[-1].part + 1
        self._stale.append(slot)
        self.slots.append(slot)
        return slot

    def _make_units(self) -> None:
        """Make the units of what was placed or touched, while it is at hand."""
        for slot in self._stale:
            slot.make(self.ledger)
        self._stale.clear()

    # --- news about what is placed ------------------------------------------------------------------------------------

    def _touch(self, call_id: CallId, cause: PrefixCause) -> None:
        slot = self._slot_of.get(call_id)
        if slot is not None:
            self._touch_slot(slot, cause)

    def _touch_slot(self, slot: Slot, cause: PrefixCause) -> None:
        if slot.touch(cause):
            self.touched.append(slot)
            self._stale.append(slot)

    def _reorder(self, cause: PrefixCause) -> None:
        self.epoch += 1
        self.epoch_cause = cause

    def _rewind(self, log: list[Record]) -> None:
        """Place everything again that is not undone; slots that come out the same stay the same objects."""
        before = {(slot.kind, slot.first, slot.part): slot for slot in self.slots}
        self.slots, self.instructions, self._slot_of, self._answers = [], [], {}, {}
        self._hosted = HostedRecords(self.ledger, self._touch_slot)
        self._undone = undone_spans(log)
        self._parted = {
            id(call.response): call
            for call in self.ledger.calls.values()
            if call.response is not None and not self._is_undone(call.response_seq) and self._is_parted(call)
        }
        for seq, record in standing(log):
            if type(record) is Recorded:
                self.place(seq, record.entry)
        self._parted = {}
        for index, slot in enumerate(self.slots):
            old = before.get((slot.kind, slot.first, slot.part))
            if old is not None and old.is_same_as(slot):
                self.slots[index] = old
                for block in old.blocks:
                    if type(block) is ToolCall:
                        self._slot_of[block.id] = old
                if old.answer is not None:
                    self._answers[old.answer] = old
        self.compactions = {}
        for seq, record in standing(log):
            if type(record) is Compacted:
                self.compactions[seq] = record
            elif type(record) is Restored:
                self.compactions.pop(record.compaction, None)
        self._reorder(PrefixCause.UNDO)
        self.taken_back = self.epoch

    def _is_parted(self, call: Call) -> bool:
        """Whether `call` has a response because of something that was undone.

        An undone call took it over from where it was recorded, or an undone result drove it from there.
        """
        if call.id in self.ledger.orphans:
            return call.response is not None and call.response.call_id != call.id
        return self._is_undone(call.seq) and call.response_seq < call.seq

    def _is_undone(self, seq: int) -> bool:
        return any(seq in span for span in self._undone)


def _has_names(orphans: Slot) -> bool:
    """Whether the tools of the results are known; all of them are, or none is."""
    first = orphans.blocks[0]
    return type(first) is ToolCall and bool(first.name)
