"""What a session may do, and when: the turn as a table.

    idle ──message──▶ sending ──first delta──▶ streaming ──answer──────────▶ idle
              ▲          │ ▲                       │
              │   error  ▼ │ timer                 └──answer with calls──▶ running ──settled──▶ sending
              │        waiting                                                │
              └──────────┴────────────── cancel ──────────────────────────▶ settling ──▶ idle

A switch changes no state: it binds the next turn. A message while a turn runs changes no state either: it enters with
the next step, never between a call and its result. What the table does not hold cannot happen.
"""

from __future__ import annotations

from enum import StrEnum

from legato.errors import CanonicalError


class State(StrEnum):
    """What a session is doing."""

    IDLE = "idle"
    SENDING = "sending"
    WAITING = "waiting"
    STREAMING = "streaming"
    RUNNING = "running"
    SETTLING = "settling"
    COMPACTING = "compacting"
    PARKED = "parked"


class SessionEvent(StrEnum):
    """What can happen to a session."""

    MESSAGE = "message"
    INTERJECTION = "interjection"
    SWITCH = "switch"
    FIRST_DELTA = "first delta"
    TRANSIENT_ERROR = "transient error"
    TIMER = "timer"
    CANCEL = "cancel"
    ROUTE_LOST = "route lost"
    FAILURE = "failure"
    REASONING_REFUSED = "own reasoning refused"
    CONTENT_REFUSED = "content of a result refused"
    TOO_LONG = "too long"
    COMPACTED = "compacted"
    ANSWER = "answer"
    ANSWER_WITH_CALLS = "answer with calls"
    GOES_ON = "answer, and more is to be said"
    SETTLED = "all settled"
    LIMIT = "limit"
    QUESTION_OPEN = "reopened with a question open"
    RESUMED = "the open question is asked again"
    RETRY = "an answer is asked for again"
    WITHDRAWN = "the open question was undone"


S, E = State, SessionEvent

TRANSITIONS: dict[tuple[State, SessionEvent], State] = {
    (S.IDLE, E.MESSAGE): S.SENDING,
    (S.IDLE, E.RETRY): S.SENDING,
    (S.IDLE, E.SWITCH): S.IDLE,
    (S.IDLE, E.QUESTION_OPEN): S.PARKED,
    (S.PARKED, E.RESUMED): S.RUNNING,
    (S.PARKED, E.MESSAGE): S.SENDING,
    (S.PARKED, E.SWITCH): S.PARKED,
    (S.PARKED, E.WITHDRAWN): S.IDLE,
    (S.SENDING, E.FIRST_DELTA): S.STREAMING,
    (S.SENDING, E.TRANSIENT_ERROR): S.WAITING,
    (S.SENDING, E.ROUTE_LOST): S.SENDING,
    (S.SENDING, E.FAILURE): S.IDLE,
    (S.SENDING, E.CANCEL): S.IDLE,
    (S.SENDING, E.REASONING_REFUSED): S.SENDING,
    (S.SENDING, E.CONTENT_REFUSED): S.SENDING,
    (S.SENDING, E.TOO_LONG): S.COMPACTING,
    (S.SENDING, E.LIMIT): S.IDLE,
    # An answer may hold nothing to show while it comes.
    (S.SENDING, E.ANSWER): S.IDLE,
    (S.SENDING, E.ANSWER_WITH_CALLS): S.RUNNING,
    (S.SENDING, E.GOES_ON): S.SENDING,
    (S.COMPACTING, E.COMPACTED): S.SENDING,
    (S.COMPACTING, E.FAILURE): S.IDLE,
    (S.COMPACTING, E.CANCEL): S.IDLE,
    (S.WAITING, E.TIMER): S.SENDING,
    (S.WAITING, E.CANCEL): S.IDLE,
    (S.WAITING, E.FAILURE): S.IDLE,
    (S.STREAMING, E.ANSWER): S.IDLE,
    (S.STREAMING, E.ANSWER_WITH_CALLS): S.RUNNING,
    (S.STREAMING, E.GOES_ON): S.SENDING,
    (S.STREAMING, E.FAILURE): S.IDLE,
    (S.STREAMING, E.CANCEL): S.IDLE,
    (S.RUNNING, E.SETTLED): S.SENDING,
    (S.RUNNING, E.FAILURE): S.IDLE,
    (S.RUNNING, E.CANCEL): S.SETTLING,
    (S.SETTLING, E.CANCEL): S.SETTLING,
    (S.SETTLING, E.SETTLED): S.IDLE,
    (S.SETTLING, E.FAILURE): S.IDLE,
}

AT_REST = (State.IDLE, State.PARKED)

_AT_ANY_STEP = (SessionEvent.INTERJECTION, SessionEvent.SWITCH)


def next_state(state: State, event: SessionEvent) -> State:
    """The state that follows `state` on `event`; raises `CanonicalError` if nothing does."""
    # Whatever a turn is doing, a message can come in, and a switch can be asked for.
    if event in _AT_ANY_STEP and state not in AT_REST:
        return state
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise CanonicalError(f"a session that is {state} cannot meet: {event}", layer="session") from None


class StateMachine:
    """Where one session is in the table. The session, its turns and their steps share it."""

    def __init__(self) -> None:
        self.state = State.IDLE

    @property
    def is_at_rest(self) -> bool:
        """Whether no turn is under way."""
        return self.state in AT_REST

    @property
    def is_running_tools(self) -> bool:
        """Whether a batch of tools is running, or being settled after a cancellation."""
        return self.state in (State.RUNNING, State.SETTLING)

    def advance(self, event: SessionEvent) -> None:
        """Move on in the table; raises `CanonicalError` for what cannot happen in this state."""
        self.state = next_state(self.state, event)
