"""The pictures, documents and recordings of a conversation, whose bytes say nothing about their tokens.

A log only grows, so what was looked at once is not looked at again: a session asks at every step.
"""

from __future__ import annotations

from legato.model import Media, ToolResponse
from legato.model.records import Recorded
from legato.transcript import Conversation


class _Seen:
    """What was found in the records of one conversation, and how many were looked at."""

    def __init__(self) -> None:
        self.records = 0
        self.media: list[Media] = []


def media_of(talk: Conversation) -> list[Media]:
    """Everything that was attached to `talk`, also what was undone since."""
    seen = talk.cached(_Seen, _Seen)
    for record in talk.log[seen.records :]:
        if isinstance(record, Recorded):
            for block in record.entry.blocks:
                if isinstance(block, Media):
                    seen.media.append(block)
                elif isinstance(block, ToolResponse):
                    seen.media += block.media
    seen.records = len(talk.log)
    return seen.media
