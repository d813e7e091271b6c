"""What a turn shows while it runs.

Every face (terminal, one-shot, subagent) sees the same events in the same order; the stream-json output is their JSON.
They are plain data: nothing in them can change the turn.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from legato.model import CallId, Ending, JsonObject, ToolCall, ToolResponse, Usage
from legato.model.records import TurnOutcome

__all__ = [
    "Calling",
    "CallsMade",
    "HistoryCompacted",
    "Notice",
    "Refused",
    "Reported",
    "RouteLost",
    "StepFinished",
    "StepStarted",
    "SwitchDeferred",
    "TextShown",
    "Thought",
    "ToolBegan",
    "ToolEnded",
    "ToolProgress",
    "TurnFinished",
    "TurnStarted",
    "Waiting",
]


class _Event(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    pass


class TurnStarted(_Event, frozen=True, tag="turn-started"):
    """A turn began on `route`; `continues` says that an earlier route was lost."""

    turn: int
    route: str
    continues: bool = False


class StepStarted(_Event, frozen=True, tag="step-started"):
    """A request leaves. `closed` are the calls that were closed in it, by reason; `prefix` why the cache is cold."""

    step: int
    route: str
    attempt: int = 1
    closed: dict[CallId, str] = {}
    prefix: str = ""


class Reported(_Event, frozen=True, tag="report"):
    """What was decided for the request of this step; shown by a session that was asked for reports."""

    step: int
    route: str
    attempt: int = 1
    digest: str = ""
    report: JsonObject = {}


class Refused(_Event, frozen=True, tag="refused"):
    """A request failed: the provider, or the way to it, said no, or our own rules stopped it before it left.

    `fault` is the layer of Legato that is at fault and `why` the reason, both empty where none is; `cause` the rule
    that was broken, `calls` those that it may concern. Where it is our fault, `report` is what was decided for the
    request.
    """

    step: int
    route: str
    error: str
    message: str
    attempt: int = 1
    fault: str = ""
    cause: str = ""
    why: str = ""
    calls: tuple[CallId, ...] = ()
    rules: tuple[str, ...] = ()
    report: JsonObject = {}


class TextShown(_Event, frozen=True, tag="text"):
    """More of the answer."""

    text: str


class Thought(_Event, frozen=True, tag="thinking"):
    """More of what the model thinks."""

    text: str


class Calling(_Event, frozen=True, tag="calling"):
    """The model is writing a call."""

    index: int
    name: str = ""
    arguments: str = ""


class CallsMade(_Event, frozen=True, tag="calls"):
    """The answer is complete and asks for these tools."""

    calls: tuple[ToolCall, ...]


class ToolBegan(_Event, frozen=True, tag="tool-began"):
    """A tool starts to run; `arguments` are those it runs with, the user's where the user edited them."""

    call: CallId
    name: str
    arguments: JsonObject


class ToolProgress(_Event, frozen=True, tag="tool-progress"):
    """Output of a tool that still runs."""

    call: CallId
    text: str


class ToolEnded(_Event, frozen=True, tag="tool-ended"):
    """A call ended; these come in call order."""

    call: CallId
    name: str
    response: ToolResponse


class Waiting(_Event, frozen=True, tag="waiting"):
    """A request failed and will be tried again on `route`, after so many seconds.

    `attempt` is the one that failed. `left` are the seconds for which it goes on being tried, where no other route is
    left and time is the limit; None where attempts are counted.
    """

    seconds: float
    reason: str
    route: str = ""
    attempt: int = 1
    left: float | None = None


class RouteLost(_Event, frozen=True, tag="route-lost"):
    """A route failed for good; the conversation goes on with the next one."""

    route: str
    reason: str
    following: str


class SwitchDeferred(_Event, frozen=True, tag="switch-deferred"):
    """A switch was asked for during a turn; it binds the next one."""

    route: str


class HistoryCompacted(_Event, frozen=True, tag="compacted"):
    """Older parts of the conversation were shortened for the model."""

    before: int
    after: int
    detail: str
    first_unit: int = -1


class Notice(_Event, frozen=True, tag="notice"):
    """Something worth knowing that is no part of the conversation."""

    text: str


class StepFinished(_Event, frozen=True, tag="step-ended"):
    """The answer and its tools are complete; `ending` is how the answer ended."""

    step: int
    usage: Usage | None = None
    served: str = ""
    cost: float | None = 0.0
    """dollars; None where a price is not known"""
    ending: Ending | None = None


class TurnFinished(_Event, frozen=True, tag="turn-ended"):
    """The turn is over; `ending` is how its last answer ended."""

    turn: int
    outcome: TurnOutcome
    detail: str = ""
    ending: Ending | None = None
    usage: Usage = Usage()
    cost: float | None = 0.0
    """dollars; None where a price is not known"""


Event: TypeAlias = (
    TurnStarted
    | StepStarted
    | Reported
    | Refused
    | TextShown
    | Thought
    | Calling
    | CallsMade
    | ToolBegan
    | ToolProgress
    | ToolEnded
    | Waiting
    | RouteLost
    | SwitchDeferred
    | HistoryCompacted
    | Notice
    | StepFinished
    | TurnFinished
)
