"""How turns go, as lines of the logger `legato`.

Only what happens to a turn is logged, never what is said in it: no text, no arguments, no results. Requests and
refusals are logged where they happen, with all that was decided.
"""

from __future__ import annotations

import msgspec

from legato.request.observation import is_heard
from legato.session import events

_LOGGED = (
    events.TurnStarted,
    events.StepStarted,
    events.StepFinished,
    events.Waiting,
    events.RouteLost,
    events.SwitchDeferred,
    events.HistoryCompacted,
    events.Notice,
    events.TurnFinished,
)


def log_fact(name: str, *, session: str, **facts: str | int | bool) -> None:
    """One line for something that happens to a session outside of its turns."""
    if is_heard():
        from legato.diagnostics import emit  # slow to load, and most programs do not log

        emit(name, {"session": session, **facts} if session else facts)


def log_event(event: events.Event, *, session: str) -> None:
    """One line for `event`, if logging is on and it is of a kind that is logged."""
    if isinstance(event, _LOGGED) and is_heard():
        facts = msgspec.to_builtins(event)
        log_fact(facts.pop("event"), session=session, **facts)
