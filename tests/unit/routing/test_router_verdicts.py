from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import (
    AllRoutesFailed,
    BadAnswer,
    BadRequest,
    ContextTooLong,
    MediaRefused,
    OptionRefused,
    Overloaded,
    OwnReasoningRefused,
    PolicyRefused,
    ProtocolRefused,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unauthorized,
    UnknownModel,
    Unreachable,
    WrongEndpoint,
)
from legato.model.records import TurnCause
from legato.routing import (
    Compact,
    HealthBook,
    NextRoute,
    Patience,
    Policy,
    Profile,
    ReplaceContent,
    Resting,
    Retry,
    RetryBudget,
    Route,
    Router,
    Stop,
    StripReasoning,
    only,
)

A, B, C = Route("p/a"), Route("q/b"), Route("r/c")
CONTINUATION = TurnCause.CONTINUATION


class Time:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_router(
    policy: Policy = Policy.FAILOVER,
    *,
    routes: tuple[Route, ...] = (A, B, C),
    time: Time | None = None,
    sticky_turns: int = 1,
    health: HealthBook | None = None,
    budget: RetryBudget | None = None,
    last: str | None = None,
) -> Router:
    return Router(
        Profile("test", routes, policy, sticky_turns),
        clock=time or Time(),
        chance=lambda: 0.5,
        health=health or HealthBook(Resting(first=10, longest=60, hopeless=300, probe=100)),
        budget=budget,
        patience=Patience(attempts=3, slow_attempts=2, first_wait=1, most_backoff=8, longest_wait=30),
        last=last,
    )


def refused(**facts: object) -> ProtocolRefused:
    return ProtocolRefused("no", **facts)


TRANSIENT = [RateLimited("x"), Overloaded("x"), Unreachable("x"), TimedOut("x"), BadAnswer("x")]
OF_THE_ROUTE = [
    Unauthorized("x"),
    QuotaExhausted("x"),
    UnknownModel("x"),
    WrongEndpoint("x"),
]
OF_THE_REQUEST = [
    refused(rule="unanswered-call"),
    refused(rule="unknown"),
    PolicyRefused("x"),
    OptionRefused("x"),
    BadRequest("x"),
]


def name(value: object) -> str:
    return type(value).__name__


# --- verdicts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [*TRANSIENT, *OF_THE_ROUTE, *OF_THE_REQUEST, ContextTooLong("x")], ids=name)
def test_after_visible_output_nothing_is_tried_again(error: ProviderError) -> None:
    router = make_router()
    router.choose(1)
    assert router.judge(error, visible=True, attempt=1) == Stop("part of the answer was already visible", error)


@pytest.mark.parametrize("error", OF_THE_ROUTE, ids=name)
def test_a_route_whose_key_balance_or_model_is_wrong_is_left_at_once(error: ProviderError) -> None:
    router = make_router()
    router.choose(1)
    verdict = router.judge(error, visible=False, attempt=1)
    assert verdict == NextRoute(B, f"p/a: {error.brief}; asking again would not help")


@pytest.mark.parametrize("error", TRANSIENT, ids=name)
def test_what_may_pass_is_retried_and_then_left(error: ProviderError) -> None:
    router = make_router()
    router.choose(1)
    assert router.judge(error, visible=False, attempt=1) == Retry(0.5, f"{error.brief} (attempt 1)")
    assert router.judge(error, visible=False, attempt=3) == NextRoute(
        B, f"p/a: {error.brief}; no more attempts, or a wait beyond patience"
    )


def test_a_wait_within_patience_is_kept_and_one_beyond_it_leaves_the_route_resting_so_long() -> None:
    health = HealthBook(Resting(first=10, longest=60, hopeless=300))
    router = make_router(health=health)
    router.choose(1)
    assert router.judge(RateLimited("x", retry_after=30.0), visible=False, attempt=1) == Retry(
        30.5, "too many requests (attempt 1)"
    )
    assert isinstance(router.judge(RateLimited("x", retry_after=120.0), visible=False, attempt=1), NextRoute)
    assert health.condition("p/a").rests_until == 1120.0


@pytest.mark.parametrize("error", OF_THE_REQUEST, ids=name)
def test_a_refusal_of_the_request_itself_never_walks_the_chain(error: ProviderError) -> None:
    health = HealthBook()
    router = make_router(health=health)
    router.choose(1)
    verdict = router.judge(error, visible=False, attempt=1)
    assert isinstance(verdict, Stop)
    assert verdict.error is error
    assert error.facts["retryable"] is False
    assert health.admits("p/a", 1000)  # it read the request and answered: the route is well


def test_own_reasoning_refused_is_stripped_once_for_a_route() -> None:
    router = make_router()
    router.choose(1)
    assert router.judge(OwnReasoningRefused("no"), visible=False, attempt=1) == StripReasoning()
    again = OwnReasoningRefused("no")
    assert router.judge(again, visible=False, attempt=2) == Stop("the provider refused the shape of the request", again)


def test_each_route_may_have_its_reasoning_stripped() -> None:
    router = make_router()
    router.choose(1)
    assert router.judge(OwnReasoningRefused("no"), visible=False, attempt=1) == StripReasoning()
    router.judge(Unauthorized("x"), visible=False, attempt=2)
    assert router.choose(2, cause=CONTINUATION) == B
    assert router.judge(OwnReasoningRefused("no"), visible=False, attempt=1) == StripReasoning()


def test_content_that_cannot_be_read_is_replaced_once_until_an_answer_comes() -> None:
    router = make_router()
    router.choose(1)
    error = MediaRefused("x")
    assert router.judge(error, visible=False, attempt=1) == ReplaceContent()
    assert router.judge(error, visible=False, attempt=2) == Stop("the provider refused what was asked for", error)
    router.succeeded()
    assert router.judge(error, visible=False, attempt=1) == ReplaceContent()
    assert isinstance(router.judge(error, visible=True, attempt=1), Stop)


def test_too_long_asks_for_compaction_once_until_an_answer_comes() -> None:
    router = make_router()
    router.choose(1)
    assert router.judge(ContextTooLong("x"), visible=False, attempt=1) == Compact()
    error = ContextTooLong("x")
    assert router.judge(error, visible=False, attempt=1) == Stop(
        "the conversation does not fit, even after it was compacted", error
    )
    router.succeeded()
    assert router.judge(ContextTooLong("x"), visible=False, attempt=1) == Compact()


def test_a_new_turn_may_compact_again() -> None:
    router = make_router()
    router.choose(1)
    assert router.judge(ContextTooLong("x"), visible=False, attempt=1) == Compact()
    router.choose(2)
    assert router.judge(ContextTooLong("x"), visible=False, attempt=1) == Compact()


def test_a_spent_budget_leaves_the_route_in_place_of_a_retry() -> None:
    router = make_router(budget=RetryBudget(capacity=1, per_request=0.2))
    router.choose(1)
    router.sending()
    assert isinstance(router.judge(Overloaded("x"), visible=False, attempt=1), Retry)
    router.sending(attempt=2)
    assert router.judge(Overloaded("x"), visible=False, attempt=2) == NextRoute(
        B, "p/a: overloaded or failing; the retry budget is spent"
    )


def test_the_budget_is_shared_by_all_routers_and_paid_into_by_first_attempts() -> None:
    budget = RetryBudget(capacity=1, per_request=0.25)
    one, two = make_router(budget=budget), make_router(budget=budget)
    one.choose(1)
    two.choose(1)
    assert isinstance(one.judge(Overloaded("x"), visible=False, attempt=1), Retry)
    assert isinstance(two.judge(Overloaded("x"), visible=False, attempt=1), NextRoute)
    two.sending(attempt=2)
    assert budget.tokens == 0.0
    two.sending()
    assert budget.tokens == 0.25


def test_before_the_first_turn_there_is_nothing_to_judge() -> None:
    router = make_router()
    error = Overloaded("x")
    router.sending()
    router.succeeded()
    assert router.route is None
    assert router.judge(error, visible=False, attempt=1) == Stop("nothing was sent on a route", error)


def test_a_message_begins_anew_although_a_route_was_to_continue() -> None:
    """So it is when the turn was cancelled before the continuation began."""
    time = Time()
    router = make_router(time=time)
    router.choose(1)
    lost = router.judge(Overloaded("x"), visible=False, attempt=99)
    assert isinstance(lost, NextRoute)
    assert lost.route == B
    time.now += 1_000  # the first route has rested
    assert router.choose(2) == A
    assert [type(router.judge(Overloaded("y"), visible=False, attempt=99)), router.choose(3, cause=CONTINUATION)] == [
        NextRoute,
        B,
    ]


# --- the end of the chain -----------------------------------------------------------------------------------------------


def fail_through(router: Router, errors: list[ProviderError]) -> list[object]:
    """Send one message, failing with each error in turn for good; gives the verdicts."""
    verdicts: list[object] = []
    router.choose(1)
    for turn, error in enumerate(errors, start=2):
        verdict = router.judge(error, visible=False, attempt=99)
        verdicts.append(verdict)
        if isinstance(verdict, NextRoute):
            assert router.choose(turn, cause=CONTINUATION) == verdict.route
    return verdicts


@pytest.mark.parametrize(
    ("errors", "retryable"),
    [
        ([Unauthorized("x"), Overloaded("y"), QuotaExhausted("z")], True),
        ([TimedOut("x"), Overloaded("y"), RateLimited("z")], True),
        ([Unauthorized("x"), QuotaExhausted("y"), UnknownModel("z")], False),
    ],
)
def test_when_every_route_failed_all_causes_are_reported(errors: list[ProviderError], retryable: bool) -> None:
    verdicts = fail_through(make_router(), errors)
    assert [type(verdict) for verdict in verdicts] == [NextRoute, NextRoute, Stop]
    last = verdicts[-1]
    assert isinstance(last, Stop)
    assert isinstance(last.error, AllRoutesFailed)
    assert last.error.causes == list(zip(["p/a", "q/b", "r/c"], errors, strict=True))
    assert last.error.facts == {"retryable": retryable}
    told = "; ".join(f"{route}: {error.brief}" for route, error in last.error.causes)
    advice = "try again later" if retryable else "each of them needs somebody to act"
    assert last.error.message == f"every route failed ({told}); {advice}"


def test_after_every_route_failed_the_next_message_begins_anew() -> None:
    time = Time()
    router = make_router(time=time)
    fail_through(router, [Overloaded("x"), Overloaded("y"), Overloaded("z")])
    time.now += 1
    assert router.choose(9) == A
    assert isinstance(router.judge(Overloaded("x"), visible=False, attempt=99), NextRoute)


def test_a_single_route_that_fails_gives_its_own_error_and_is_asked_again() -> None:
    router = make_router(routes=(A,))
    error = Overloaded("x")
    assert fail_through(router, [error]) == [
        Stop("p/a: overloaded or failing; no more attempts, or a wait beyond patience", error)
    ]
    assert error.facts["retryable"] is True
    assert router.choose(2) == A


def test_an_aggregate_is_not_judged_again() -> None:
    router = make_router()
    router.choose(1)
    error = AllRoutesFailed("x", causes=[], retryable=True)
    verdict = router.judge(error, visible=False, attempt=1)
    assert isinstance(verdict, Stop)
    assert verdict.error.facts == {"retryable": True}


# --- choosing -----------------------------------------------------------------------------------------------------------


def test_manual_stays_where_it_is_and_never_fails_over() -> None:
    router = make_router(Policy.MANUAL)
    assert [router.choose(turn) for turn in (1, 2, 3)] == [A, A, A]
    error = Unauthorized("x")
    assert router.judge(error, visible=False, attempt=1) == Stop(
        "p/a: the key is missing or refused; asking again would not help", error
    )
    assert router.choose(4) == A


def test_round_robin_moves_on_between_turns_and_never_within_one() -> None:
    router = make_router(Policy.ROUND_ROBIN)
    chosen = [(router.choose(turn), router.choose(turn), router.choose(turn)) for turn in (1, 2, 3, 4)]
    assert chosen == [(A, A, A), (B, B, B), (C, C, C), (A, A, A)]


def test_round_robin_may_stay_for_some_turns() -> None:
    router = make_router(Policy.ROUND_ROBIN, sticky_turns=2)
    assert [router.choose(turn) for turn in range(1, 8)] == [A, A, B, B, C, C, A]


def test_a_sticky_route_that_fell_ill_is_not_kept() -> None:
    router = make_router(Policy.ROUND_ROBIN, sticky_turns=5)
    assert router.choose(1) == A
    router.judge(Overloaded("x"), visible=True, attempt=1)
    assert router.choose(2) == B


def test_round_robin_skips_routes_at_rest_and_comes_back_to_them() -> None:
    time, health = Time(), HealthBook(Resting(first=10))
    router = make_router(Policy.ROUND_ROBIN, time=time, health=health)
    health.failed("q/b", time.now)
    assert [router.choose(turn) for turn in (1, 2, 3)] == [A, C, A]
    time.now += 10
    assert router.choose(4) == B


def test_round_robin_fails_over_to_the_next_in_its_rotation() -> None:
    router = make_router(Policy.ROUND_ROBIN)
    router.choose(1)
    assert router.choose(2) == B
    verdict = router.judge(Unauthorized("x"), visible=False, attempt=1)
    assert isinstance(verdict, NextRoute)
    assert verdict.route == C
    assert router.choose(3, cause=CONTINUATION) == C
    assert router.choose(4) == A


def test_a_rotation_goes_on_where_an_earlier_process_left_it() -> None:
    assert make_router(Policy.ROUND_ROBIN, last="q/b").choose(7) == C
    assert make_router(Policy.ROUND_ROBIN, last="gone/x").choose(7) == A


def test_failover_returns_to_the_first_route_when_its_rest_is_over() -> None:
    time = Time()
    router = make_router(time=time)
    assert router.choose(1) == A
    router.judge(Overloaded("x"), visible=False, attempt=99)
    assert router.choose(2, cause=CONTINUATION) == B
    router.succeeded()
    assert router.choose(3) == B
    time.now += 10
    assert router.choose(4) == A


def test_failover_may_stay_on_the_substitute_for_some_turns_to_keep_its_cache() -> None:
    time = Time()
    router = make_router(time=time, sticky_turns=3)
    router.choose(1)
    router.judge(Overloaded("x"), visible=False, attempt=99)
    router.choose(2, cause=CONTINUATION)
    router.succeeded()
    time.now += 500
    assert [router.choose(turn) for turn in (3, 4, 5)] == [B, B, A]


def test_two_sessions_send_one_probe() -> None:
    time, health = Time(), HealthBook(Resting(first=10, probe=100))
    one, two = make_router(time=time, health=health), make_router(time=time, health=health)
    health.failed("p/a", time.now)
    time.now += 10
    assert (one.choose(1), two.choose(1)) == (A, B)
    time.now += 60
    one.sending(attempt=2)  # the probe is still at work
    time.now += 60
    assert two.choose(2) == B
    one.succeeded()
    assert two.choose(3) == A


def test_a_probe_of_a_session_that_vanished_does_not_block_the_others() -> None:
    time, health = Time(), HealthBook(Resting(first=10, probe=100))
    health.failed("p/a", time.now)
    time.now += 10
    assert make_router(time=time, health=health).choose(1) == A
    two = make_router(time=time, health=health)
    assert two.choose(1) == B
    time.now += 100
    assert two.choose(2) == A


# --- switching by hand --------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-002", "REQ-915-050")
def test_a_selection_waits_for_the_next_turn_and_the_last_one_wins() -> None:
    router = make_router()
    assert router.choose(1) == A
    router.select(only(B))
    router.select(only(C))
    assert (router.choose(1), router.route, router.pending) == (A, A, only(C))
    assert router.choose(2) == C
    assert (router.profile, router.pending) == (only(C), None)
    assert router.choose(3) == C


def test_a_selection_binds_a_continuation_too() -> None:
    router = make_router()
    router.choose(1)
    router.select(only(C))
    verdict = router.judge(Unauthorized("x"), visible=False, attempt=1)
    assert verdict == NextRoute(C, "p/a: the key is missing or refused; asking again would not help")
    assert router.choose(2, cause=CONTINUATION) == C


def test_a_selection_after_the_verdict_wins_over_the_chain() -> None:
    router = make_router()
    router.choose(1)
    router.judge(Unauthorized("x"), visible=False, attempt=1)
    router.select(only(C))
    assert router.choose(2, cause=CONTINUATION) == C


def test_a_selection_saves_a_turn_whose_chain_is_exhausted() -> None:
    router = make_router(Policy.MANUAL)
    router.choose(1)
    router.select(only(B))
    assert isinstance(router.judge(Unauthorized("x"), visible=False, attempt=1), NextRoute)
    assert router.choose(2, cause=CONTINUATION) == B
    verdict = router.judge(Unauthorized("y"), visible=False, attempt=1)
    assert isinstance(verdict, Stop)
    assert isinstance(verdict.error, AllRoutesFailed)
    assert [route for route, _ in verdict.error.causes] == ["p/a", "q/b"]


def test_choosing_by_hand_forgets_what_was_known_against_the_route() -> None:
    health = HealthBook()
    health.failed("q/b", 1000, hopeless=True)
    router = make_router(health=health)
    router.choose(1)
    router.select(Profile("mine", (B, C), Policy.FAILOVER))
    assert router.choose(2) == B


def test_a_new_rotation_begins_at_its_first_route() -> None:
    router = make_router(Policy.FAILOVER)
    router.choose(1)
    router.select(Profile("around", (A, B), Policy.ROUND_ROBIN))
    assert [router.choose(turn) for turn in (2, 3, 4)] == [A, B, A]


def test_a_message_after_a_lost_route_begins_anew() -> None:
    router = make_router()
    router.choose(1)
    router.judge(OwnReasoningRefused("no"), visible=False, attempt=1)
    router.judge(Unauthorized("x"), visible=False, attempt=1)
    assert router.choose(2) == B  # the first is at rest
    assert isinstance(router.judge(Unauthorized("y"), visible=False, attempt=1), NextRoute)
    assert router.choose(3, cause=CONTINUATION) == C


def test_a_continuation_without_a_lost_route_is_chosen_like_any_turn() -> None:
    assert make_router(Policy.ROUND_ROBIN, last="p/a").choose(5, cause=CONTINUATION) == B


# --- whole campaigns in virtual time ------------------------------------------------------------------------------------

FAULTS: list[ProviderError | None] = [
    None, None, None, RateLimited("x", retry_after=2.0), RateLimited("x", retry_after=500.0), Overloaded("x"),
    Unreachable("x"), TimedOut("x"), BadAnswer("x"), Unauthorized("x"), QuotaExhausted("x"),
    UnknownModel("x"),
]  # fmt: skip


@given(
    st.sampled_from(Policy),
    st.integers(1, 3),
    st.lists(st.sampled_from(range(len(FAULTS))), min_size=1, max_size=120),
)
def test_every_message_ends_and_retries_stay_within_budget(policy: Policy, sticky: int, faults: list[int]) -> None:
    time, budget = Time(), RetryBudget(capacity=4, per_request=0.2)
    router = make_router(policy, time=time, sticky_turns=sticky, budget=budget)
    script = iter(faults)
    turn = requests = retries = 0
    for fault in script:
        turn += 1
        router.choose(turn)
        tried = {router.route.name if router.route else ""}
        attempt, requests = 1, requests + 1
        router.sending()
        error = FAULTS[fault]
        for _ in range(100):
            if error is None:
                router.succeeded()
                break
            verdict = router.judge(error, visible=False, attempt=attempt)
            if isinstance(verdict, Retry):
                assert verdict.after <= 31
                time.now += verdict.after
                attempt, retries = attempt + 1, retries + 1
                router.sending(attempt=attempt)
            elif isinstance(verdict, NextRoute):
                turn += 1
                assert router.choose(turn, cause=CONTINUATION) == verdict.route
                assert verdict.route.name not in tried
                tried.add(verdict.route.name)
                attempt, requests = 1, requests + 1
                router.sending()
            else:
                assert isinstance(verdict, Stop)
                break
            error = FAULTS[next(script, 0)]
        else:
            pytest.fail("a message that never ends")
        time.now += 1
    assert retries <= 4 + 0.2 * requests + 1e-9
