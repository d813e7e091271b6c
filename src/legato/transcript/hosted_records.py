"""What goes back to a provider of the tools that it ran itself, and what can only be told as text.

In:  the hosted tools of answers as they are placed, and the ids of our own calls.
Out: the same blocks, without their native record where the provider would refuse it.

A provider takes a record once, under an id that no other record and no call has. A tool that waits beside calls of ours
gives its result at the beginning of the next answer; if that answer does not come, the record is half of a pair.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakMethod

from msgspec.structs import replace

from legato.ledger import Ledger
from legato.model import Action, Decision, Fault, HostedTool, Origin, PrefixCause, ToolCall
from legato.model.native import halves, judge_native, record_call, record_ids
from legato.transcript.slots import Slot, SlotKind

_ANSWER = SlotKind.ANSWER


class _Waiting:
    """Tools of a provider's own that wait, by their ids, and the answers that they are in.

    They wait for the results of our own tools that were called beside them, and theirs then begin the next answer
    (https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons).
    """

    def __init__(self, origin: Origin | None) -> None:
        self.origin = origin
        self.slots: list[Slot] = []
        self.ids: set[str] = set()

    def take(self, late: frozenset[str], slot: Slot) -> bool:
        """Whether results in `slot` are those of tools that wait, which are then done."""
        if slot.origin != self.origin or not late <= self.ids or not all(map(_has_calls, self.slots)):
            return False
        self.ids -= late
        return True


class HostedRecords:
    """The records of one conversation that go back to their providers. `touch` is told of slots that change."""

    def __init__(self, ledger: Ledger, touch: Callable[[Slot, PrefixCause], None]) -> None:
        self._ledger = ledger
        self._touch = WeakMethod(touch)  # of whoever holds this: in a circle both would wait for the garbage collector
        self._ids: set[str] = set()
        """the ids of records that go back to their provider"""
        self.calls: dict[str, Slot] = {}
        """the answers with records that share the space of ids with calls, by that id"""
        self._wire_ids: set[str] = set()
        self._looked_through = 0
        """the providers' ids of that many calls, as far as a record asked for them"""
        self.waiting: _Waiting | None = None
        """the tools of a provider's own that the newest answers left waiting"""

    def _tell(self, slot: Slot, cause: PrefixCause) -> None:
        if (touch := self._touch()) is not None:
            touch(slot, cause)

    def take(self, block: HostedTool, slot: Slot) -> HostedTool:
        """`block`, told as text if its provider would refuse it here: for the second time, or as half of a pair."""
        judged = judge_native(block, slot.origin.dialect if slot.origin is not None else "")[0]
        ids, call_id, (waiting, late) = record_ids(judged), record_call(judged), halves(judged)
        if ids & self._ids or self._is_call(call_id):
            slot.note(
                Decision(Action.DEDUPED, "repeated-record", Fault.CANONICAL, f"{block.name} has the id of another")
            )
            return replace(block, native=None)
        if late and not (self.waiting is not None and self.waiting.take(late, slot)):
            detail = f"{block.name} gave this for a use that is not open here"
            slot.note(Decision(Action.DROPPED, "result-without-use", Fault.CANONICAL, detail))
            return replace(block, native=None)
        self._ids |= ids
        if call_id:
            self.calls[call_id] = slot
        if waiting:
            if self.waiting is None or self.waiting.origin != slot.origin:
                self._abandon()
                self.waiting = _Waiting(slot.origin)
            self.waiting.slots.append(slot)
            self.waiting.ids |= waiting
        return block

    def _is_call(self, wire_id: str) -> bool:
        """Whether a call that the ledger knows has this id. Few records ask, so they are looked through only then."""
        if not wire_id:
            return False
        calls = self._ledger.in_order
        self._wire_ids.update([calls[number].wire_id for number in range(self._looked_through, len(calls))])
        self._looked_through = len(calls)
        return wire_id in self._wire_ids

    def claim(self, wire_id: str) -> None:
        """A call has this id: a record that has it too can no longer go back."""
        slot = self.calls.pop(wire_id, None)
        if slot is not None:
            slot.tell({wire_id})
            self._tell(slot, PrefixCause.LATE_CALL)

    def follow(self, newest: Slot) -> None:
        """See whether the `newest` slot goes on with the tools that wait; if it does not, they will never be done."""
        waiting = self.waiting
        if waiting is None or newest is waiting.slots[-1]:
            return  # it may still grow, and the calls beside the tools get their results
        if not waiting.ids:
            self.waiting = None
        elif not (newest.kind is _ANSWER and newest.origin == waiting.origin and _has_calls(newest)):
            self._abandon()

    def _abandon(self) -> None:
        if self.waiting is not None:
            for slot in self.waiting.slots:
                slot.tell(self.waiting.ids)
                self._tell(slot, PrefixCause.ANSWER_ABANDONED)
        self.waiting = None


def _has_calls(answer: Slot) -> bool:
    return any(type(block) is ToolCall for block in answer.blocks)
