"""Which calls wait for somebody's word when a session is opened again."""

import pytest

from legato.model import CallId
from legato.model.records import Answered, Asked, Opened, Record, Rewound, Started, StepBegan, Verdict
from legato.session.parked import parked_calls

from builders import calls, result, talk, user

A, B, C = (CallId(f"hist_tool_{name}") for name in "abc")
BEGINNING = (Opened(incarnation=1), user("go"), calls("call_a", "call_b", "call_c"))


def parked(*news: Record) -> list[str]:
    conversation = talk(*BEGINNING, *news, Opened(incarnation=2))
    return [call.id for call in parked_calls(conversation)]


def test_nothing_waits_where_nobody_was_asked() -> None:
    assert parked() == []
    assert parked(Started(call=A)) == []


def test_a_call_with_an_open_question_waits_with_its_siblings_that_have_not_begun() -> None:
    assert parked(Asked(call=A, digest="x")) == [A, B, C]
    assert parked(Started(call=B), Asked(call=A, digest="x")) == [A, C]


def test_a_sibling_that_was_allowed_and_had_not_begun_waits_too() -> None:
    allowed = (Asked(call=A, digest="x"), Answered(call=A, verdict=Verdict.ALLOWED), Asked(call=B, digest="y"))
    assert parked(*allowed) == [A, B, C]


@pytest.mark.parametrize("verdict", [Verdict.DENIED, Verdict.UNAVAILABLE, Verdict.TIMED_OUT])
def test_a_sibling_that_was_refused_is_not_asked_about_again(verdict: Verdict) -> None:
    refused = (Asked(call=A, digest="x"), Answered(call=A, verdict=verdict), Asked(call=B, digest="y"))
    assert parked(*refused) == [B, C]


def test_a_question_that_was_answered_is_not_open() -> None:
    assert parked(Asked(call=A, digest="x"), Answered(call=A, verdict=Verdict.ALLOWED)) == []


def test_a_call_that_a_model_was_told_has_no_result_stays_without_one() -> None:
    closed = StepBegan(step=1, target="openai/gpt-4o", closures={A: "not-started"})  # type: ignore[dict-item]
    assert parked(Asked(call=A, digest="x"), closed) == []


def test_a_settled_call_does_not_wait() -> None:
    conversation = talk(*BEGINNING, Asked(call=A, digest="x"), Asked(call=B, digest="y"), result("call_a"))
    assert [call.id for call in parked_calls(conversation)] == [B, C]


def test_what_was_undone_does_not_wait() -> None:
    assert parked(Asked(call=A, digest="x"), Rewound(to=1)) == []
