from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.routing import Condition, HealthBook, Resting

RESTING = Resting(first=10, longest=60, hopeless=300, probe=100)


@pytest.fixture
def book() -> HealthBook:
    return HealthBook(RESTING)


def test_a_route_that_was_never_heard_of_is_well(book: HealthBook) -> None:
    assert book.admits("a", 0)
    book.enter("a", 0)
    assert book.condition("a") == Condition()


def test_a_failed_route_rests_and_then_lets_one_request_try_it(book: HealthBook) -> None:
    book.failed("a", 100)
    assert not book.admits("a", 109.9)
    assert book.admits("a", 110)
    book.enter("a", 110)
    assert not book.admits("a", 111)
    assert book.admits("b", 111)


def test_a_probe_that_succeeds_makes_the_route_well(book: HealthBook) -> None:
    book.failed("a", 0)
    book.enter("a", 10)
    book.succeeded("a")
    assert book.condition("a") == Condition()


def test_a_probe_that_fails_sends_the_route_to_rest_for_longer(book: HealthBook) -> None:
    book.failed("a", 0)
    book.enter("a", 10)
    book.failed("a", 11)
    assert book.condition("a") == Condition(failures=2, rests_until=31)


def test_a_probe_that_stays_silent_expires_so_that_nothing_gets_stuck(book: HealthBook) -> None:
    book.failed("a", 0)
    book.enter("a", 10)
    assert not book.admits("a", 109)
    assert book.admits("a", 110)


def test_rest_doubles_up_to_the_longest(book: HealthBook) -> None:
    rests: list[float] = []
    for _ in range(5):
        book.failed("a", 0)
        rests.append(book.condition("a").rests_until)
    assert rests == [10, 20, 40, 60, 60]


def test_a_provider_that_asks_for_a_longer_rest_gets_it_within_reason(book: HealthBook) -> None:
    book.failed("a", 0, at_least=45)
    book.failed("b", 0, at_least=5)
    book.failed("c", 0, at_least=86_400)
    assert [book.condition(name).rests_until for name in "abc"] == [45, 10, 300]


def test_what_time_does_not_heal_rests_longest_until_somebody_puts_it_right(book: HealthBook) -> None:
    book.failed("a", 0, hopeless=True)
    assert not book.admits("a", 299)
    book.forget("a")
    assert book.admits("a", 299)


def test_the_first_route_that_is_well_is_picked(book: HealthBook) -> None:
    book.failed("a", 0)
    assert book.pick(["a", "b", "c"], 1) == "b"
    assert book.pick(["a", "b", "c"], 10) == "a"


def test_the_last_candidate_is_never_ejected(book: HealthBook) -> None:
    book.failed("a", 0, hopeless=True)
    book.failed("b", 5)
    book.failed("c", 6)
    assert book.pick(["a", "b", "c"], 7) == "b"
    assert book.pick(["a"], 7) == "a"


@given(
    st.lists(
        st.tuples(st.sampled_from(["fail", "hopeless", "enter", "succeed"]), st.sampled_from("ab"), st.floats(0, 500)),
        max_size=40,
    )
)
def test_whatever_happens_every_route_admits_a_request_again_in_bounded_time(
    history: list[tuple[str, str, float]],
) -> None:
    book = HealthBook(RESTING)
    now = 0.0
    for what, route, passed in history:
        now += passed
        if what == "enter":
            book.enter(route, now)
        elif what == "succeed":
            book.succeeded(route)
        else:
            book.failed(route, now, hopeless=what == "hopeless", at_least=passed)
    assert book.pick(["a", "b"], now) in ("a", "b")
    later = now + max(RESTING.longest, RESTING.hopeless, RESTING.probe)
    assert book.admits("a", later)
    assert book.admits("b", later)
