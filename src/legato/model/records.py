"""What the log holds: an append-only sequence of records, never repaired, never rewritten.

For one call: `StepBegan < Recorded(ai) < Asked < Answered < Started < Recorded(tool)`; across calls any order. A
record's sequence number is its place in the log. `at` is seconds since the epoch where there was a clock; nothing
pure reads it.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from legato.model.blocks import CallId
from legato.model.closures import ClosureReason
from legato.model.entries import Entry, Origin, Usage
from legato.model.enums import FastStrEnum
from legato.model.jsonvalue import JsonObject

__all__ = [
    "Answered",
    "Asked",
    "Compacted",
    "CompactionKind",
    "ContentRefused",
    "Imported",
    "Opened",
    "ReasoningRefused",
    "Recorded",
    "Restored",
    "Rewound",
    "RouteSelected",
    "Scope",
    "Started",
    "StepBegan",
    "StepEnded",
    "TurnBegan",
    "TurnCause",
    "TurnEnded",
    "TurnOutcome",
    "Verdict",
]


class _Record(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="record", gc=False
):
    at: float | None = None


class Opened(_Record, frozen=True, tag="opened"):
    """A writer took the session. A fork is a new log with a copied prefix and its parent named."""

    incarnation: int
    parent: str | None = None


class Imported(_Record, frozen=True, tag="imported"):
    """The next `entries` entries come from a file."""

    format: str
    digest: str
    entries: int


class Recorded(_Record, frozen=True, tag="recorded"):
    """Something was said or done; the minted call ids and ordinals are inside."""

    entry: Entry


class RouteSelected(_Record, frozen=True, tag="route-selected"):
    """The route was switched; the last switch wins and binds the next turn."""

    route: str


class TurnCause(FastStrEnum):
    """Why a turn began."""

    MESSAGE = "message"
    CONTINUATION = "continuation"


class TurnBegan(_Record, frozen=True, tag="turn-began"):
    """A turn is bound to one route from here to its end."""

    turn: int
    route: str
    cause: TurnCause = TurnCause.MESSAGE


class TurnOutcome(FastStrEnum):
    """How a turn ended."""

    DONE = "done"
    INCOMPLETE = "incomplete"
    """there is an answer, but not the whole of it: it was cut at the limit of output tokens, or broken off"""
    REFUSED = "refused"
    """the model, or its provider's filter, declined to answer"""
    FAILED = "failed"
    CANCELLED = "cancelled"
    LIMIT = "limit"


class TurnEnded(_Record, frozen=True, tag="turn-ended"):
    """The turn is over; every call of it is completed or closed."""

    turn: int
    outcome: TurnOutcome
    detail: str = ""


class StepBegan(_Record, frozen=True, tag="step-began"):
    """A request is about to leave. It freezes which calls were closed in it, and why."""

    step: int
    target: str
    attempt: int = 1
    digest: str = ""
    closures: dict[CallId, ClosureReason] = {}


class StepEnded(_Record, frozen=True, tag="step-ended"):
    """The answer and its batch of tools are complete."""

    step: int
    usage: Usage | None = None
    served: str = ""


class Asked(_Record, frozen=True, tag="asked"):
    """The user was shown a call and asked whether it may run; `digest` names what was shown."""

    call: CallId
    digest: str


class Verdict(FastStrEnum):
    """What was answered when a call needed approval."""

    ALLOWED = "allowed"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed-out"


class Scope(FastStrEnum):
    """How far an approval reaches."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"


class Answered(_Record, frozen=True, tag="answered"):
    """The verdict; `arguments` are those that run, where the user edited them."""

    call: CallId
    verdict: Verdict
    scope: Scope = Scope.ONCE
    reason: str | None = None
    arguments: JsonObject | None = None


class Started(_Record, frozen=True, tag="started"):
    """The tool is about to run; durable before it does."""

    call: CallId
    digest: str = ""


class CompactionKind(FastStrEnum):
    """What a compaction leaves of what it touches."""

    CLIP = "clip"
    """the beginning and the end of one output"""
    STUB = "stub"
    """a line about one output"""
    COVER = "cover"
    """a summary of a run of whole units"""


class Compacted(_Record, frozen=True, tag="compacted"):
    """What a later render may leave out, for every target whose window is not larger than `window`.

    A clip or a stub names its `call`. A cover names the units whose first records are `first` to `last`; if a model was
    asked for its text, `by` is that route, and `usage` what it used.
    """

    kind: CompactionKind
    text: str
    window: int
    call: CallId | None = None
    first: int = -1
    last: int = -1
    digest: str = ""
    by: str = ""
    usage: Usage | None = None


class Restored(_Record, frozen=True, tag="restored"):
    """The compaction at sequence number `compaction` no longer holds."""

    compaction: int


class Rewound(_Record, frozen=True, tag="rewound"):
    """Undo: what was said from sequence number `to` up to here is out of the view."""

    to: int


class ReasoningRefused(_Record, frozen=True, tag="reasoning-refused"):
    """A provider refused its own reasoning back; from here on it is stripped for that origin."""

    origin: Origin


class ContentRefused(_Record, frozen=True, tag="content-refused"):
    """A provider could not read what the results of these calls hold, such as an image; from here on it gets a note
    in its place. Other providers still get the content.
    """

    provider: str
    calls: tuple[CallId, ...]


Record: TypeAlias = (
    Opened
    | Imported
    | Recorded
    | RouteSelected
    | TurnBegan
    | TurnEnded
    | StepBegan
    | StepEnded
    | Asked
    | Answered
    | Started
    | Compacted
    | Restored
    | Rewound
    | ReasoningRefused
    | ContentRefused
)
