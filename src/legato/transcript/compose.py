"""From log and ledger to units: the fold that decides where everything stands.

In:  records, one after the other, and the ledger that has already taken them.
Out: slots in the order in which a model will see them; each makes its unit when the next one begins.

Placement is decided once, when a record arrives, and depends on earlier records only. Whoever a block was recorded
under, calls belong to an answer, results to their call, and text to whoever said it; the log keeps what was recorded,
and each correction is a decision. Results have no place of their own: they stand behind their call, wherever they were
recorded. A view for one window puts summaries in place of the runs that compactions cover for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from legato.ledger import Ledger
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
from legato.transcript.slots import Slot, SlotKind, orphan_call
from legato.transcript.units import AnswerBlock

_HUMAN, _AI, _TOOL = Speaker
_INSTRUCTION = Authority.INSTRUCTION
_ANSWER = SlotKind.ANSWER
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
        self._slot_of: dict[CallId, Slot] = {}
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
        if entry.authority is _INSTRUCTION and entry.speaker is _HUMAN and self._leads(entry):
            self.instructions.append(entry.text)
            return
        said: Slot | None = None
        answer: Slot | None = None
        orphans: Slot | None = None
        after_result = False
        for block in entry.blocks:
            if isinstance(block, ToolResponse):
                orphans = self._place_response(seq, entry, block, orphans)
                after_result = True
                said = None
            elif (
                entry.speaker is _AI or type(block) is ToolCall or type(block) is Thinking or type(block) is HostedTool
            ):
                if answer is None or after_result:
                    answer = self._answer_slot(seq, entry, continues=answer is None)
                    after_result = False
                self._place_answer_block(entry, block, answer)
                said = None
            else:
                if said is None:
                    said = self._append(SlotKind.SAID, seq)
                    said.authority = entry.authority
                    if entry.speaker is _TOOL:
                        said.notes.append(Decision(Action.REATTRIBUTED, "text-beside-results", Fault.CANONICAL))
                said.blocks.append(block)

    def _leads(self, entry: Entry) -> bool:
        return not self.slots and all(type(block) is Text for block in entry.blocks)

    def _place_answer_block(self, entry: Entry, block: AnswerBlock, slot: Slot) -> None:
        if type(block) is ToolCall:
            if block.id in self._slot_of:
                slot.notes.append(Decision(Action.DEDUPED, "replayed-call", Fault.CANONICAL, calls=(block.id,)))
                return
            self._slot_of[block.id] = slot
            if entry.speaker is not _AI:
                reason = f"call-under-{entry.speaker}"
                slot.notes.append(Decision(Action.REATTRIBUTED, reason, Fault.CANONICAL, calls=(block.id,)))
            if block.adopts is not None:
                slot.moved[block.id] = "result-before-call"
                self._touch(block.adopts, PrefixCause.LATE_CALL)
        slot.blocks.append(block)

    def _answer_slot(self, seq: int, entry: Entry, *, continues: bool) -> Slot:
        """The slot of this answer: a new one, or the one that an earlier entry with the same key began."""
        slot = self._answers.get(entry.answer) if entry.answer is not None and continues else None
        if slot is None:
            slot = self._append(_ANSWER, seq)
            slot.origin, slot.ending, slot.answer = entry.origin, entry.ending, entry.answer
            if entry.answer is not None:
                self._answers[entry.answer] = slot
            return slot
        slot.origin = slot.origin or entry.origin
        slot.ending = entry.ending or slot.ending
        if self.slots[-1] is not slot:
            slot.notes.append(Decision(Action.MERGED, "answer-continued", Fault.CANONICAL))
        self._touch_slot(slot, PrefixCause.ANSWER_CONTINUED)
        return slot

    def _place_response(self, seq: int, entry: Entry, response: ToolResponse, orphans: Slot | None) -> Slot | None:
        call_id = self.ledger.adopted.get(response.call_id, response.call_id)
        slot = self._slot_of.get(call_id)
        if slot is None:
            if call_id not in self.ledger.orphans:
                return orphans  # its call was undone, or comes later and has adopted it
            if orphans is None or _has_names(orphans) != bool(response.tool_name):
                orphans = self._append(SlotKind.ORPHANS, seq)
            orphans.blocks.append(orphan_call(response))
            self._slot_of[call_id] = orphans
            slot = orphans
        elif self.slots[-1] is not slot and slot.kind is _ANSWER:
            slot.moved.setdefault(call_id, "late-result")
        if entry.speaker is not _TOOL:
            reason = f"result-under-{entry.speaker}"
            slot.notes.append(Decision(Action.REATTRIBUTED, reason, Fault.CANONICAL, calls=(call_id,)))
        self._touch_slot(slot, _LATE_RESULT)
        return orphans

    def _append(self, kind: SlotKind, seq: int) -> Slot:
        """A new slot at the end. The one before it is likely whole now, so its unit is made while it is at hand."""
        if self.slots:
            self.slots[-1].make(self.ledger)
        slot = Slot(kind, seq, seq)
        self.slots.append(slot)
        return slot

    # --- news about what is placed ------------------------------------------------------------------------------------

    def _touch(self, call_id: CallId, cause: PrefixCause) -> None:
        slot = self._slot_of.get(call_id)
        if slot is not None:
            self._touch_slot(slot, cause)

    def _touch_slot(self, slot: Slot, cause: PrefixCause) -> None:
        if slot.touch(cause):
            self.touched.append(slot)

    def _reorder(self, cause: PrefixCause) -> None:
        self.epoch += 1
        self.epoch_cause = cause

    def _rewind(self, log: list[Record]) -> None:
        """Place everything again that is not undone; slots that come out the same stay the same objects."""
        before = {(slot.kind, slot.first): slot for slot in self.slots}
        self.slots, self.instructions, self._slot_of, self._answers = [], [], {}, {}
        for seq, record in standing(log):
            if type(record) is Recorded:
                self.place(seq, record.entry)
        for index, slot in enumerate(self.slots):
            old = before.get((slot.kind, slot.first))
            if old is not None and old.blocks == slot.blocks and old.moved == slot.moved and old.ending == slot.ending:
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


def standing(log: list[Record]) -> Iterator[tuple[int, Record]]:
    """The records that no undo has taken out of the view, with their sequence numbers."""
    undone: list[range] = []
    for seq in range(len(log) - 1, -1, -1):
        record = log[seq]
        # An undo that was itself undone no longer counts.
        if type(record) is Rewound and not any(seq in span for span in undone):
            undone.append(range(max(record.to, 0), seq + 1))
    for seq, record in enumerate(log):
        if not any(seq in span for span in undone):
            yield seq, record


def _has_names(orphans: Slot) -> bool:
    return any(type(block) is ToolCall and block.name for block in orphans.blocks)
