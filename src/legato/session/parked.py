"""Calls that a former process left behind while it waited for approval.

In:  a conversation.
Out: the calls of the answer whose question is still open, in call order.

They are neither closed nor run: the question is asked again, or a message comes instead and they are skipped for it.
Questions are asked one at a time, so the calls of the same answer that had not been asked about yet, and those that
were allowed and had not begun, wait with the one that was.
"""

from __future__ import annotations

from legato.ledger import Call
from legato.model import ToolCall
from legato.model.records import Verdict
from legato.transcript import Conversation


def parked_calls(talk: Conversation) -> tuple[ToolCall, ...]:
    """The calls that wait for an answer to a question, and their siblings that wait with them."""
    calls = talk.ledger.calls
    pending = talk.ledger.pending.values()
    questions = {call.seq for call in pending if call.asked and call.answered is None and _waits(call)}
    if not questions:
        return ()
    return tuple(
        call
        for seq, entry in talk.standing_entries()
        if seq in questions
        for call in entry.calls
        if _waits(calls[call.id])
    )


def _waits(call: Call) -> bool:
    """Whether `call` may still be run: it was not denied, it never began, and no model was told that it ended."""
    may_run = call.answered is None or call.answered.verdict is Verdict.ALLOWED
    return may_run and call.started is None and call.frozen is None and not call.is_settled
