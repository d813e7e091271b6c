"""Which results hold media that a route has not taken yet.

A provider that cannot read an image seldom says which one. What was in a request that it answered is not the cause, so
the cause is among what came since.
"""

from __future__ import annotations

from legato.model import CallId, ToolResponse
from legato.model.records import Recorded, StepBegan, StepEnded
from legato.transcript import Conversation


def unproven_media(talk: Conversation, route: str) -> tuple[CallId, ...]:
    """The calls whose results hold media and came after the last request that `route` answered, in order."""
    log = talk.log
    first = answered = 0
    for number, record in enumerate(log):
        if isinstance(record, StepBegan):
            first = number if record.target == route else -1
        elif isinstance(record, StepEnded) and first >= 0:
            answered = first
    return tuple(
        dict.fromkeys(
            block.call_id
            for record in log[answered:]
            if isinstance(record, Recorded)
            for block in record.entry.blocks
            if isinstance(block, ToolResponse) and block.media
        )
    )
