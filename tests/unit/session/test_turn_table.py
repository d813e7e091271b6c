"""The turn as a table: what it holds is what can happen, and nothing else can."""

import pytest

from legato.errors import CanonicalError
from legato.session.table import AT_REST, TRANSITIONS, Happening, State, next_state

S, H = State, Happening


@pytest.mark.parametrize(
    ("state", "happening", "following"),
    [
        (S.IDLE, H.MESSAGE, S.SENDING),
        (S.IDLE, H.SWITCH, S.IDLE),
        (S.SENDING, H.FIRST_DELTA, S.STREAMING),
        (S.SENDING, H.TRANSIENT_ERROR, S.WAITING),
        (S.WAITING, H.TIMER, S.SENDING),
        (S.WAITING, H.CANCEL, S.IDLE),
        (S.SENDING, H.ROUTE_LOST, S.SENDING),
        (S.SENDING, H.FAILURE, S.IDLE),
        (S.SENDING, H.REASONING_REFUSED, S.SENDING),
        (S.SENDING, H.CONTENT_REFUSED, S.SENDING),
        (S.SENDING, H.TOO_LONG, S.COMPACTING),
        (S.COMPACTING, H.COMPACTED, S.SENDING),
        (S.STREAMING, H.ANSWER, S.IDLE),
        (S.STREAMING, H.GOES_ON, S.SENDING),
        (S.STREAMING, H.ANSWER_WITH_CALLS, S.RUNNING),
        (S.STREAMING, H.FAILURE, S.IDLE),
        (S.STREAMING, H.CANCEL, S.IDLE),
        (S.RUNNING, H.SETTLED, S.SENDING),
        (S.RUNNING, H.CANCEL, S.SETTLING),
        (S.SETTLING, H.CANCEL, S.SETTLING),
        (S.SETTLING, H.SETTLED, S.IDLE),
        (S.SENDING, H.LIMIT, S.IDLE),
        (S.IDLE, H.QUESTION_OPEN, S.PARKED),
        (S.PARKED, H.RESUMED, S.RUNNING),
        (S.PARKED, H.MESSAGE, S.SENDING),
        (S.PARKED, H.WITHDRAWN, S.IDLE),
    ],
)
def test_each_happening_leads_where_the_design_says(state: State, happening: Happening, following: State) -> None:
    assert next_state(state, happening) is following


@pytest.mark.req("REQ-915-050")
@pytest.mark.parametrize("state", State)
def test_a_switch_changes_no_state(state: State) -> None:
    assert next_state(state, H.SWITCH) is state


@pytest.mark.parametrize("state", [state for state in State if state not in AT_REST])
def test_a_turn_that_is_under_way_can_be_steered_and_can_fail(state: State) -> None:
    assert next_state(state, H.STEERING) is state
    assert next_state(state, H.FAILURE) is S.IDLE


@pytest.mark.parametrize("state", AT_REST)
@pytest.mark.parametrize("happening", [H.STEERING, H.CANCEL, H.FAILURE, H.FIRST_DELTA, H.SETTLED])
def test_what_needs_a_turn_cannot_happen_at_rest(state: State, happening: Happening) -> None:
    with pytest.raises(CanonicalError, match="cannot meet") as caught:
        next_state(state, happening)
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
