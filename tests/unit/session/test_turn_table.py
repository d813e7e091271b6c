"""The turn as a table: what it holds is what can happen, and nothing else can."""

import pytest

from legato.errors import CanonicalError
from legato.session.table import AT_REST, TRANSITIONS, SessionEvent, State, next_state

S, E = State, SessionEvent


@pytest.mark.parametrize(
    ("state", "event", "following"),
    [
        (S.IDLE, E.MESSAGE, S.SENDING),
        (S.IDLE, E.SWITCH, S.IDLE),
        (S.SENDING, E.FIRST_DELTA, S.STREAMING),
        (S.SENDING, E.TRANSIENT_ERROR, S.WAITING),
        (S.WAITING, E.TIMER, S.SENDING),
        (S.WAITING, E.CANCEL, S.IDLE),
        (S.SENDING, E.ROUTE_LOST, S.SENDING),
        (S.SENDING, E.FAILURE, S.IDLE),
        (S.SENDING, E.REASONING_REFUSED, S.SENDING),
        (S.SENDING, E.CONTENT_REFUSED, S.SENDING),
        (S.SENDING, E.TOO_LONG, S.COMPACTING),
        (S.COMPACTING, E.COMPACTED, S.SENDING),
        (S.STREAMING, E.ANSWER, S.IDLE),
        (S.STREAMING, E.GOES_ON, S.SENDING),
        (S.STREAMING, E.ANSWER_WITH_CALLS, S.RUNNING),
        (S.STREAMING, E.FAILURE, S.IDLE),
        (S.STREAMING, E.CANCEL, S.IDLE),
        (S.RUNNING, E.SETTLED, S.SENDING),
        (S.RUNNING, E.CANCEL, S.SETTLING),
        (S.SETTLING, E.CANCEL, S.SETTLING),
        (S.SETTLING, E.SETTLED, S.IDLE),
        (S.SENDING, E.LIMIT, S.IDLE),
        (S.IDLE, E.QUESTION_OPEN, S.PARKED),
        (S.PARKED, E.RESUMED, S.RUNNING),
        (S.PARKED, E.MESSAGE, S.SENDING),
        (S.PARKED, E.WITHDRAWN, S.IDLE),
    ],
)
def test_each_event_leads_where_the_design_says(state: State, event: SessionEvent, following: State) -> None:
    assert next_state(state, event) is following


@pytest.mark.req("REQ-915-050")
@pytest.mark.parametrize("state", State)
def test_a_switch_changes_no_state(state: State) -> None:
    assert next_state(state, E.SWITCH) is state


@pytest.mark.parametrize("state", [state for state in State if state not in AT_REST])
def test_a_turn_that_is_under_way_takes_messages_and_can_fail(state: State) -> None:
    assert next_state(state, E.INTERJECTION) is state
    assert next_state(state, E.FAILURE) is S.IDLE


@pytest.mark.parametrize("state", AT_REST)
@pytest.mark.parametrize("event", [E.INTERJECTION, E.CANCEL, E.FAILURE, E.FIRST_DELTA, E.SETTLED])
def test_what_needs_a_turn_cannot_happen_at_rest(state: State, event: SessionEvent) -> None:
    with pytest.raises(CanonicalError, match="cannot meet") as caught:
        next_state(state, event)
    assert caught.value.facts["layer"] == "session"


@pytest.mark.parametrize("state", State)
def test_from_every_state_there_is_a_way_back_to_rest(state: State) -> None:
    reached, frontier = {state}, [state]
    while frontier:
        here = frontier.pop()
        for (source, _), following in TRANSITIONS.items():
            if source is here and following not in reached:
                reached.add(following)
                frontier.append(following)
    assert S.IDLE in reached
