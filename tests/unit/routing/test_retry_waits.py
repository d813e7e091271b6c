from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import (
    BadAnswer,
    BadRequest,
    ContextTooLong,
    Overloaded,
    ProtocolRefused,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from legato.routing import Patience, RetryBudget, is_transient
from legato.routing.retry import wait_before_retry

PATIENCE = Patience(attempts=4, slow_attempts=2, first_wait=1, most_backoff=3, longest_wait=30)


@pytest.mark.parametrize(
    ("attempt", "chance", "expected"),
    [(1, 1.0, 1.0), (1, 0.0, 0.0), (2, 1.0, 2.0), (2, 0.5, 1.0), (3, 1.0, 3.0), (4, 1.0, None), (9, 0.1, None)],
)
def test_waits_grow_with_full_jitter_until_attempts_run_out(
    attempt: int, chance: float, expected: float | None
) -> None:
    assert wait_before_retry(Unreachable("x"), attempt, PATIENCE, chance=chance) == expected


@pytest.mark.parametrize("error", [TimedOut("x"), BadAnswer("x")])
def test_what_costs_a_long_wait_each_time_is_tried_less_often(error: ProviderError) -> None:
    assert wait_before_retry(error, 1, PATIENCE, chance=1.0) == 1.0
    assert wait_before_retry(error, 2, PATIENCE, chance=1.0) is None


@pytest.mark.parametrize("kind", [RateLimited, Overloaded])
def test_a_wait_that_was_asked_for_is_honoured_up_to_the_limit_of_patience(
    kind: type[RateLimited] | type[Overloaded],
) -> None:
    assert wait_before_retry(kind("x", retry_after=20.0), 1, PATIENCE, chance=0.0) == 20.0
    assert wait_before_retry(kind("x", retry_after=20.0), 1, PATIENCE, chance=0.5) == 20.5
    assert wait_before_retry(kind("x", retry_after=30.1), 1, PATIENCE, chance=0.0) is None
    assert wait_before_retry(kind("x"), 1, PATIENCE, chance=1.0) == 1.0


@given(st.integers(1, 200), st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1e6)))
def test_no_wait_is_negative_shorter_than_asked_or_beyond_patience(
    attempt: int, chance: float, asked: float | None
) -> None:
    patience = Patience(attempts=1000)
    wait = wait_before_retry(RateLimited("x", retry_after=asked), attempt, patience, chance=chance)
    if asked is not None and asked > patience.longest_wait:
        assert wait is None
    else:
        assert wait is not None
        assert (asked or 0.0) <= wait <= max(patience.most_backoff, patience.longest_wait + patience.first_wait)


def test_what_passes_by_itself_is_a_closed_set() -> None:
    kinds = [
        ProtocolRefused, BadRequest, Unauthorized, QuotaExhausted, RateLimited, Overloaded, Unreachable, TimedOut,
        BadAnswer, ContextTooLong,
    ]  # fmt: skip
    assert [kind for kind in kinds if is_transient(kind("x"))] == [
        RateLimited, Overloaded, Unreachable, TimedOut, BadAnswer,
    ]  # fmt: skip


@given(st.lists(st.booleans(), max_size=400))
def test_retries_never_exceed_the_allowance_and_a_fraction_of_the_requests(wants_retry: list[bool]) -> None:
    budget = RetryBudget(capacity=5, per_request=0.2)
    retries = 0
    for requests, wanted in enumerate(wants_retry, start=1):
        budget.deposit()
        while wanted and budget.withdraw():
            retries += 1
        assert retries <= 5 + 0.2 * requests + 1e-9
        assert 0 <= budget.tokens <= 5


def test_a_spent_budget_fills_again_with_requests() -> None:
    budget = RetryBudget(capacity=1, per_request=0.5)
    assert [budget.withdraw(), budget.withdraw()] == [True, False]
    budget.deposit()
    assert not budget.withdraw()
    budget.deposit()
    assert budget.withdraw()
