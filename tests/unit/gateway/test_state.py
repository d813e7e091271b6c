"""What the gateway has in memory is bounded; `test_state_contract` has what holds for every state."""

from __future__ import annotations

from gateway_support import at_once
from legato.gateway.state import GivenAnswer, MemoryState, RecentlyUsed
from legato.transport.stored_responses import Stored

from builders import ai, call

ANSWER = GivenAnswer(ai("I look", call("a")), "kimi/kimi-k2-thinking", "resp_1")


def stored(number: int, text: str = "hi") -> Stored:
    return Stored("t", {"id": f"resp_{number}", "output": []}, {"input": text})


def known(state: MemoryState, keys: str) -> str:
    """Which of `keys` the state finds an answer under."""
    return "".join(at_once(state.find("t", list(keys))))


def kept(state: MemoryState) -> list[int]:
    return [number for number in range(3) if at_once(state.response("t", f"resp_{number}"))]


def test_answers_that_were_not_used_for_longest_go_first():
    state = MemoryState(answer_keys=2)
    at_once(state.remember("t", ["a", "b"], ANSWER))
    assert known(state, "a") == "a"
    at_once(state.remember("t", ["c"], ANSWER))

    assert known(state, "abc") == "ac"


def test_answers_are_bounded_by_their_bytes_as_well():
    long = GivenAnswer(ai("x" * 1_000), "kimi/kimi-k2-thinking")
    state = MemoryState(answer_bytes=2_500)
    at_once(state.remember("t", ["a", "b", "c"], long))

    assert known(state, "abc") == "bc"


def test_an_answer_that_is_larger_than_everything_is_not_remembered():
    state = MemoryState(answer_bytes=500)
    at_once(state.remember("t", ["a"], GivenAnswer(ai("x" * 1_000), "kimi/kimi-k2-thinking")))

    assert known(state, "a") == ""


def test_the_oldest_responses_make_room():
    state = MemoryState(responses=2)
    for number in range(3):
        at_once(state.keep_response(stored(number)))

    assert kept(state) == [1, 2]


def test_responses_are_bounded_by_the_bytes_of_their_requests():
    state = MemoryState(response_bytes=2_500)
    for number in range(3):
        at_once(state.keep_response(stored(number, text="x" * 1_000)))

    assert kept(state) == [1, 2]


def test_a_value_that_is_put_again_counts_once():
    held: RecentlyUsed[str] = RecentlyUsed(10, 100)
    for _ in range(5):
        held.put("t", "a", "value", 60)
    held.put("t", "b", "value", 40)

    assert len(held) == 2
    assert held.pop("t", "a") == "value"
    held.put("t", "c", "value", 60)
    assert sorted(key for key, _ in held.of("t")) == ["b", "c"]
