"""What was said and never answered, because its turn failed or was cancelled: it can be asked for again.

The message is in the log already. Sent a second time it would be there twice, and the model would read it twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Block, Speaker
from legato.model.records import TurnEnded, TurnOutcome
from legato.transcript import Conversation


def is_unanswered(talk: Conversation) -> bool:
    """Whether the conversation ends with something that an answer could follow: a message, or the result of a tool."""
    entries = talk.entries
    return bool(entries) and entries[-1].speaker is not Speaker.AI


def repeats_failed(talk: Conversation, blocks: Sequence[Block]) -> bool:
    """Whether `blocks` are the very message with which the last turn failed before anything was answered."""
    ended = next((record for record in reversed(talk.log) if isinstance(record, TurnEnded)), None)
    if ended is None or ended.outcome is not TurnOutcome.FAILED or not is_unanswered(talk):
        return False
    last = talk.entries[-1]
    return last.speaker is Speaker.HUMAN and tuple(last.blocks) == tuple(blocks)
