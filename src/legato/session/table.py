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


class Happening(StrEnum):
    """What can happen to it."""

    MESSAGE = "message"
    STEERING = "steering"
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
    WITHDRAWN = "the open question was undone"


S, H = State, Happening

TRANSITIONS: dict[tuple[State, Happening], State] = {
    (S.IDLE, H.MESSAGE): S.SENDING,
    (S.IDLE, H.SWITCH): S.IDLE,
    (S.IDLE, H.QUESTION_OPEN): S.PARKED,
    (S.PARKED, H.RESUMED): S.RUNNING,
    (S.PARKED, H.MESSAGE): S.SENDING,
    (S.PARKED, H.SWITCH): S.PARKED,
    (S.PARKED, H.WITHDRAWN): S.IDLE,
    (S.SENDING, H.FIRST_DELTA): S.STREAMING,
    (S.SENDING, H.TRANSIENT_ERROR): S.WAITING,
    (S.SENDING, H.ROUTE_LOST): S.SENDING,
    (S.SENDING, H.FAILURE): S.IDLE,
    (S.SENDING, H.CANCEL): S.IDLE,
    (S.SENDING, H.REASONING_REFUSED): S.SENDING,
    (S.SENDING, H.CONTENT_REFUSED): S.SENDING,
    (S.SENDING, H.TOO_LONG): S.COMPACTING,
    (S.SENDING, H.LIMIT): S.IDLE,
    # An answer may hold nothing to show while it comes.
    (S.SENDING, H.ANSWER): S.IDLE,
    (S.SENDING, H.ANSWER_WITH_CALLS): S.RUNNING,
    (S.SENDING, H.GOES_ON): S.SENDING,
    (S.COMPACTING, H.COMPACTED): S.SENDING,
    (S.COMPACTING, H.FAILURE): S.IDLE,
    (S.COMPACTING, H.CANCEL): S.IDLE,
    (S.WAITING, H.TIMER): S.SENDING,
    (S.WAITING, H.CANCEL): S.IDLE,
    (S.WAITING, H.FAILURE): S.IDLE,
    (S.STREAMING, H.ANSWER): S.IDLE,
    (S.STREAMING, H.ANSWER_WITH_CALLS): S.RUNNING,
    (S.STREAMING, H.GOES_ON): S.SENDING,
    (S.STREAMING, H.FAILURE): S.IDLE,
    (S.STREAMING, H.CANCEL): S.IDLE,
    (S.RUNNING, H.SETTLED): S.SENDING,
    (S.RUNNING, H.FAILURE): S.IDLE,
    (S.RUNNING, H.CANCEL): S.SETTLING,
    (S.SETTLING, H.CANCEL): S.SETTLING,
    (S.SETTLING, H.SETTLED): S.IDLE,
    (S.SETTLING, H.FAILURE): S.IDLE,
}

AT_REST = (State.IDLE, State.PARKED)

_WHILE_BUSY = (Happening.STEERING, Happening.SWITCH)


def next_state(state: State, happening: Happening) -> State:
    """Where `state` goes when that happens; raises `CanonicalError` for what cannot."""
    # Whatever a turn is doing, it can be steered, and a switch can be asked for.
    if happening in _WHILE_BUSY and state not in AT_REST:
        return state
    try:
        return TRANSITIONS[state, happening]
    except KeyError:
        raise CanonicalError(f"a session that is {state} cannot meet: {happening}", layer="session") from None


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

    def happened(self, happening: Happening) -> None:
        """Move on in the table; raises `CanonicalError` for what cannot happen in this state."""
        self.state = next_state(self.state, happening)
