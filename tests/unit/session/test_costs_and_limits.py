"""What it cost, and how far a message may go."""

import pytest

from legato.errors import ConfigError
from legato.model import Capabilities, Usage
from legato.model.records import Compacted, CompactionKind, StepBegan, StepEnded
from legato.request.prices import add, cost
from legato.request.tokens import BYTES_PER_TOKEN, Estimator
from legato.session import Limits, Spending
from legato.session.costs import Spent

PRICES = Capabilities(price_input=3.0, price_output=15.0, price_cache_read=0.3, price_cache_write=3.75)


def test_dollars_follow_from_what_was_fresh_read_written_and_put_out() -> None:
    usage = Usage(input=1_000_000, output=100_000, cache_read=600_000, cache_write=100_000)
    assert cost(usage, PRICES) == pytest.approx(0.3 * 3.0 + 0.6 * 0.3 + 0.1 * 3.75 + 0.1 * 15.0)


def test_a_cache_without_a_price_costs_what_fresh_input_costs() -> None:
    usage = Usage(input=1_000, cache_read=600, cache_write=200)
    assert cost(usage, Capabilities(price_input=2.0)) == pytest.approx(1_000 * 2.0 / 1_000_000)


def test_a_cache_that_costs_nothing_is_no_cache_without_a_price() -> None:
    prices = Capabilities(price_input=2.0, price_cache_read=0.0, price_cache_write=0.0)
    assert cost(Usage(input=1_000, cache_read=600, cache_write=200), prices) == pytest.approx(200 * 2.0 / 1_000_000)


@pytest.mark.parametrize(
    ("usage", "prices", "dollars"),
    [
        (Usage(input=10, output=5), Capabilities(), None),
        (Usage(input=10, output=5), Capabilities(price_input=1.0), None),
        (Usage(input=10, output=5), Capabilities(price_output=1.0), None),
        (Usage(input=10), Capabilities(price_input=1.0), 10 / 1_000_000),
        (Usage(input=10, output=5), Capabilities(price_input=0.0, price_output=0.0), 0.0),
        (Usage(), Capabilities(), 0.0),
    ],
)
def test_what_was_used_without_a_known_price_makes_the_cost_unknown_and_never_zero(
    usage: Usage, prices: Capabilities, dollars: float | None
) -> None:
    assert cost(usage, prices) == (None if dollars is None else pytest.approx(dollars))


def test_a_sum_with_an_unknown_part_is_unknown_and_says_how_much_it_is_at_least() -> None:
    spending, child = Spending(), Spending()
    spending.add("a/x", Usage(input=100), PRICES)
    at_first = spending.now()
    child.add("b/y", Usage(input=50), Capabilities())
    child.add("a/x", Usage(input=100), PRICES)
    spending.include(child)
    later = spending.now()
    spending.add("a/x", Usage(input=100), PRICES)

    assert spending.by_route == {
        "a/x": (Usage(input=300), pytest.approx(900 / 1_000_000)),
        "b/y": (Usage(input=50), None),
    }
    assert (spending.cost, spending.known) == (None, pytest.approx(900 / 1_000_000))
    assert at_first == Spent(Usage(input=100), 300 / 1_000_000, 0)
    assert spending.since(at_first) == (Usage(input=250), None)
    assert spending.since(later) == (Usage(input=100), pytest.approx(300 / 1_000_000)), "the unknown part was earlier"


def test_a_provider_that_counts_its_cache_beside_the_input_costs_nothing_negative() -> None:
    assert cost(Usage(input=10, cache_read=600), PRICES) == pytest.approx(600 * 0.3 / 1_000_000)


def test_spending_is_kept_for_each_route_and_for_all() -> None:
    spending = Spending()
    spending.add("a/x", Usage(input=100, output=10, reasoning=4), PRICES)
    before = spending.now()
    spending.add("b/y", Usage(input=50, output=5), PRICES)
    spending.add("a/x", Usage(input=1, output=1), PRICES)
    assert spending.by_route["a/x"][0] == Usage(input=101, output=11, reasoning=4)
    assert spending.usage == Usage(input=151, output=16, reasoning=4)
    assert spending.since(before) == (Usage(input=51, output=6), pytest.approx((51 * 3.0 + 6 * 15.0) / 1_000_000))
    assert spending.cost == pytest.approx((151 * 3.0 + 16 * 15.0) / 1_000_000)


def test_what_a_subagent_spent_is_included_route_by_route() -> None:
    parent, child = Spending(), Spending()
    parent.add("a/x", Usage(input=1), PRICES)
    child.add("a/x", Usage(input=2), PRICES)
    child.add("b/y", Usage(output=3), PRICES)
    parent.include(child)
    assert {route: usage for route, (usage, _) in parent.by_route.items()} == {
        "a/x": Usage(input=3),
        "b/y": Usage(output=3),
    }
    assert parent.cost == pytest.approx((3 * 3.0 + 3 * 15.0) / 1_000_000)


def test_what_summaries_used_is_known_again_from_the_log() -> None:
    log = [
        StepBegan(step=1, target="a/x"),
        Compacted(kind=CompactionKind.COVER, text="t", window=9, first=0, last=1, by="b/y", usage=Usage(input=7)),
        StepEnded(step=1, usage=Usage(input=10)),
        Compacted(kind=CompactionKind.STUB, text="t", window=9, call=None),
    ]
    spending = Spending()
    spending.replay(log, lambda _: PRICES)
    assert {route: usage for route, (usage, _) in spending.by_route.items()} == {
        "a/x": Usage(input=10),
        "b/y": Usage(input=7),
    }


def test_spending_is_known_again_from_the_log() -> None:
    log = [
        StepBegan(step=1, target="a/x"),
        StepEnded(step=1, usage=Usage(input=10)),
        StepBegan(step=2, target="b/y"),
        StepBegan(step=2, target="b/y", attempt=2),
        StepEnded(step=2, usage=Usage(input=5)),
        StepBegan(step=3, target="a/x"),
        StepEnded(step=3),
    ]
    spending = Spending()
    spending.replay(log, lambda route: PRICES if route == "a/x" else Capabilities())
    assert spending.by_route == {"a/x": (Usage(input=10), pytest.approx(30 / 1_000_000)), "b/y": (Usage(input=5), None)}


def test_usages_add_up_field_by_field() -> None:
    assert add(Usage(1, 2, 3, 4, 5), Usage(10, 20, 30, 40, 50)) == Usage(11, 22, 33, 44, 55)


@pytest.mark.parametrize(
    ("limits", "steps", "dollars", "said"),
    [
        (Limits(), 1_000, 1_000.0, ""),
        (Limits(max_turns=3), 2, 0.0, ""),
        (Limits(max_turns=3), 3, 0.0, "the limit of 3 requests for one message is reached"),
        (Limits(max_cost=0.5), 0, 0.49, ""),
        (Limits(max_cost=0.5), 0, 0.5, "the limit of $0.5 is reached"),
    ],
)
def test_a_limit_that_is_reached_says_so(limits: Limits, steps: int, dollars: float, said: str) -> None:
    assert limits.exceeded(steps, dollars) == said


def test_a_limit_of_dollars_that_no_sum_reaches_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_cost is nan"):
        Limits(max_cost=float("nan"))


def test_an_estimate_learns_the_ratio_of_its_route_alone() -> None:
    estimator = Estimator()
    estimator.observe("a/x", 1_000, 500)
    assert estimator.tokens("a/x", b"x" * 100) == 50
    assert estimator.of_size("b/y", 360) == round(360 / BYTES_PER_TOKEN)


@pytest.mark.parametrize("tokens", [0, 1, 10_000])
def test_a_count_that_cannot_be_true_teaches_nothing(tokens: int) -> None:
    estimator = Estimator()
    estimator.observe("a/x", 1_000, tokens)
    assert estimator.of_size("a/x", 360) == 100


def test_an_exact_tokenizer_goes_before_the_ratio() -> None:
    estimator = Estimator(count=len)
    estimator.observe("a/x", 1_000, 500)
    assert estimator.tokens("a/x", b"12345") == 5
