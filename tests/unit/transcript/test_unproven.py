"""Which media a route has not taken yet: those that came after the last request that it answered."""

from __future__ import annotations

from legato.model import Entry, Media, MediaKind
from legato.model.records import Record, StepBegan, StepEnded
from legato.transcript.unproven import unproven_media

from builders import calls, result, talk, user

HERE, ELSEWHERE = "openai/gpt-4o", "anthropic/claude-sonnet-4-5"


def seen(wire_id: str) -> list[Entry]:
    """A call whose result holds an image."""
    image = Media(MediaKind.IMAGE, "image/png", data="aGk=")
    return [calls(wire_id), result(wire_id, "seen", media=(image,))]


def step(number: int, route: str) -> list[Record]:
    """A request to `route` that was answered."""
    return [StepBegan(step=number, target=route), StepEnded(step=number)]


def unproven(*news: Entry | Record) -> list[str]:
    conversation = talk(*news)
    names = {call.id: call.wire_id for call in conversation.ledger.calls.values()}
    return [names[call] for call in unproven_media(conversation, HERE)]


def test_every_medium_is_unproven_before_the_first_answer() -> None:
    assert unproven(user("look"), *seen("a"), *seen("b")) == ["a", "b"]


def test_a_result_without_media_is_never_the_cause() -> None:
    assert unproven(calls("a"), result("a", "words"), *seen("b")) == ["b"]


def test_what_stood_before_an_answered_request_is_proven() -> None:
    assert unproven(*seen("a"), *step(1, HERE), *seen("b")) == ["b"]


def test_what_came_while_a_request_was_answered_was_not_in_it() -> None:
    began, ended = step(1, HERE)
    assert unproven(*seen("a"), began, *seen("b"), ended) == ["b"]


def test_a_request_that_was_never_answered_proves_nothing() -> None:
    assert unproven(*seen("a"), StepBegan(step=1, target=HERE)) == ["a"]


def test_what_another_route_took_proves_nothing() -> None:
    assert unproven(*seen("a"), *step(1, HERE), *seen("b"), *step(2, ELSEWHERE)) == ["b"]
