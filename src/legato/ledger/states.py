"""What a tool call may become, and when.

    PENDING ──finished──▶ COMPLETE        ERROR ────finished──▶ COMPLETE
       │ ────failed─────▶ ERROR           CANCELLED ─finished─▶ COMPLETE
       └ ──cancelled────▶ CANCELLED       CANCELLED ─failed───▶ ERROR

Better news replaces worse: a success before an error before a cancellation. Worse news, or the same again, changes
nothing: hearing it twice is normal (a retried write, a replayed log). A closure that a renderer once wrote into a
transcript is no news at all: the call stays pending, so that its real result still wins.
"""

from __future__ import annotations

from legato.model import ToolResponse
from legato.model.enums import FastStrEnum


class CallState(FastStrEnum):
    """What is true of a call."""

    PENDING = "pending"
    COMPLETE = "complete"
    ERROR = "error"
    CANCELLED = "cancelled"


class CallNews(FastStrEnum):
    """What a response tells about its call."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    CLOSED = "closed"


_FINISHED, _FAILED, _CANCELLED, _CLOSED = CallNews

TRANSITIONS: dict[tuple[CallState, CallNews], CallState] = {
    (CallState.PENDING, CallNews.FINISHED): CallState.COMPLETE,
    (CallState.PENDING, CallNews.FAILED): CallState.ERROR,
    (CallState.PENDING, CallNews.CANCELLED): CallState.CANCELLED,
    (CallState.ERROR, CallNews.FINISHED): CallState.COMPLETE,
    (CallState.CANCELLED, CallNews.FINISHED): CallState.COMPLETE,
    (CallState.CANCELLED, CallNews.FAILED): CallState.ERROR,
}

RANK: dict[CallNews, int] = {
    CallNews.FINISHED: 0,
    CallNews.FAILED: 1,
    CallNews.CANCELLED: 2,
    CallNews.CLOSED: 3,
}
"""Which of several responses to one call counts: the lowest; among equals, the one recorded first."""


def next_state(state: CallState, news: CallNews) -> CallState:
    """Where `state` goes on `news`: to something better, or nowhere."""
    return TRANSITIONS.get((state, news), state)


def infer(response: ToolResponse) -> CallNews | None:
    """What `response` tells; None if it tells nothing and the call stays as it is.

    An error counts first, then what says that no result exists, then a mark of completeness, then a result.
    """
    if response.error is not None:
        return _FAILED
    if response.reason is not None:
        return _CLOSED if response.synthetic else _CANCELLED
    if response.is_complete or response.result is not None or response.media:
        return _FINISHED
    return None
