"""What was done to a conversation on its way to a provider, as data.

There is no decision for what was already right. A decision names the calls it concerns, a reason from a closed set and
where the fault lay: in the canonical state (the log was damaged), in rendering (this view had to complete or move
something) or in projection (the target writes it differently).
"""

from __future__ import annotations

from msgspec import Struct

from legato.model.blocks import CallId
from legato.model.enums import FastStrEnum


class Fault(FastStrEnum):
    """Where the cause of a decision lies."""

    CANONICAL = "canonical-state"
    RENDERING = "rendering"
    PROJECTION = "projection"


class Action(FastStrEnum):
    """What was done."""

    CLOSED = "closed"
    MOVED = "moved"
    MERGED = "merged"
    DROPPED = "dropped"
    DEDUPED = "deduped"
    QUOTED = "quoted"
    RECONSTRUCTED = "reconstructed"
    REATTRIBUTED = "reattributed"
    MATCHED = "matched"
    RENAMED = "renamed"
    INSERTED = "inserted"
    CONVERTED = "converted"
    ADJUSTED = "adjusted"
    COMPACTED = "compacted"


class Decision(Struct, frozen=True, omit_defaults=True, gc=False):
    """One thing that was done: the action, a stable reason code, the calls, and a sentence for people."""

    action: Action
    reason: str
    fault: Fault
    detail: str = ""
    calls: tuple[CallId, ...] = ()


class PrefixCause(FastStrEnum):
    """Why a later render does not extend an earlier one. The set is closed."""

    LATE_RESULT = "late-result"
    LATE_CALL = "late-call"
    ANSWER_CONTINUED = "answer-continued"
    ANSWER_ABANDONED = "answer-abandoned"
    """the conversation went on before a tool of the provider's own, which had been seen waiting, was done"""
    COMPACTION = "compaction"
    UNDO = "undo"
    THINKING_POLICY = "thinking-policy"
    REASONING_REFUSED = "reasoning-refused"
    CONTENT_REFUSED = "content-refused"
    ENVELOPE = "envelope"
