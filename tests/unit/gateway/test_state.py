"""What the gateway remembers is bounded, and belongs to one tenant."""

from __future__ import annotations

from legato.gateway.state import GivenAnswer, MemoryState, RecentlyUsed
from legato.transport.stored_responses import Stored

from builders import ai, call

ANSWER = GivenAnswer(ai("I look", call("a")), "kimi/kimi-k2-thinking", "resp_1")


def stored(number: int, tenant: str = "t", text: str = "hi") -> Stored:
    return Stored(tenant, {"id": f"resp_{number}", "output": []}, {"input": text})


def test_an_answer_is_found_under_each_of_its_keys():
    state = MemoryState()
    state.remember("t", ["call a", "place b"], ANSWER)

    assert [state.find("t", key) for key in ("call a", "place b", "call b")] == [ANSWER, ANSWER, None]


def test_tenants_do_not_see_each_others_answers_and_responses():
    state = MemoryState()
    state.remember("t", ["call a"], ANSWER)
    state.keep_response(stored(1))

    assert state.find("u", "call a") is None
    assert state.response("u", "resp_1") is None
    assert not state.forget_response("u", "resp_1")
    assert state.response("t", "resp_1") == stored(1)


def test_a_response_that_is_forgotten_is_gone():
    state = MemoryState()
    state.keep_response(stored(1))

    assert state.forget_response("t", "resp_1")
    assert state.response("t", "resp_1") is None
    assert not state.forget_response("t", "resp_1")


def test_answers_that_were_not_used_for_longest_go_first():
    state = MemoryState(answer_keys=2)
    state.remember("t", ["a", "b"], ANSWER)
    assert state.find("t", "a") == ANSWER
    state.remember("t", ["c"], ANSWER)

    assert [key for key in "abc" if state.find("t", key)] == ["a", "c"]


def test_answers_are_bounded_by_their_bytes_as_well():
    long = GivenAnswer(ai("x" * 1_000), "kimi/kimi-k2-thinking")
    state = MemoryState(answer_bytes=2_500)
    state.remember("t", ["a", "b", "c"], long)

    assert [key for key in "abc" if state.find("t", key)] == ["b", "c"]


def test_an_answer_that_is_larger_than_everything_is_not_remembered():
    state = MemoryState(answer_bytes=500)
    state.remember("t", ["a"], GivenAnswer(ai("x" * 1_000), "kimi/kimi-k2-thinking"))

    assert state.find("t", "a") is None


def test_an_answer_with_half_a_character_can_be_remembered():
    state = MemoryState()
    odd = GivenAnswer(ai("half \ud800"), "kimi/kimi-k2-thinking")
    state.remember("t", ["a"], odd)

    assert state.find("t", "a") == odd


def test_the_oldest_responses_make_room():
    state = MemoryState(responses=2)
    for number in range(3):
        state.keep_response(stored(number))

    assert [number for number in range(3) if state.response("t", f"resp_{number}")] == [1, 2]


def test_responses_are_bounded_by_the_bytes_of_their_requests():
    state = MemoryState(response_bytes=2_500)
    for number in range(3):
        state.keep_response(stored(number, text="x" * 1_000))

    assert [number for number in range(3) if state.response("t", f"resp_{number}")] == [1, 2]


def test_a_value_that_is_put_again_counts_once():
    held: RecentlyUsed[str] = RecentlyUsed(10, 100)
    for _ in range(5):
        held.put("t", "a", "value", 60)
    held.put("t", "b", "value", 40)

    assert len(held) == 2
    assert held.pop("t", "a") == "value"
    held.put("t", "c", "value", 60)
    assert sorted(key for key, _ in held.of("t")) == ["b", "c"]
