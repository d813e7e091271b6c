"""What is true of a call, from the records that speak of it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace

from legato import render
from legato.ledger import CallNews, CallState, Ledger, infer, next_state
from legato.model import CallId, ClosureReason, Ending, Media, MediaKind, ToolResponse
from legato.model.records import (
    Answered,
    Asked,
    Imported,
    Opened,
    Record,
    Recorded,
    Started,
    StepBegan,
    Verdict,
)
from legato.transcript import Conversation

from builders import ai, call, calls, completions, decisions, response, result, talk, tool, user

A = CallId("hist_tool_a")
OK = response("a", "fine")
FAILED = response("a", None, error="broke")
CANCELLED = response("a", None, reason=ClosureReason.CANCELLED_RUNNING)
SYNTHETIC = response("a", None, reason=ClosureReason.NO_RESULT, synthetic=True)


LADDER = [
    (ToolResponse(error="e", is_complete=True, result="r"), CallNews.FAILED),
    (ToolResponse(error=""), CallNews.FAILED),
    (ToolResponse(error="", is_complete=True, result="r"), CallNews.FAILED),
    (ToolResponse(is_complete=True), CallNews.FINISHED),
    (ToolResponse(result="r"), CallNews.FINISHED),
    (ToolResponse(result=""), CallNews.FINISHED),
    (ToolResponse(result={}), CallNews.FINISHED),
    (ToolResponse(result=0), CallNews.FINISHED),
    (ToolResponse(result="r", is_complete=False), CallNews.FINISHED),
    (ToolResponse(media=(Media(MediaKind.IMAGE, "image/png", url="u"),)), CallNews.FINISHED),
    (ToolResponse(reason=ClosureReason.DENIED), CallNews.CANCELLED),
    (ToolResponse(reason=ClosureReason.DENIED, synthetic=True), CallNews.CLOSED),
    (ToolResponse(), None),
    (ToolResponse(is_complete=False), None),
]
STATES = {
    CallNews.FAILED: (CallState.ERROR, "error"),
    CallNews.FINISHED: (CallState.COMPLETE, "success"),
    CallNews.CANCELLED: (CallState.CANCELLED, "cancelled"),
    CallNews.CLOSED: (CallState.PENDING, "synthetic"),
    None: (CallState.PENDING, "synthetic"),
}
"""what follows for the call, and what a request tells of it"""


@pytest.mark.req("REQ-915-048")
@pytest.mark.parametrize(("given", "news"), LADDER)
def test_what_a_response_tells_follows_the_ladder(given: ToolResponse, news: CallNews) -> None:
    assert infer(given) is news


@pytest.mark.req("REQ-915-048")
@pytest.mark.parametrize(("given", "news"), LADDER)
def test_the_ledger_its_reconstruction_and_a_request_follow_the_ladder(given: ToolResponse, news: CallNews) -> None:
    conversation = talk(user("hi"), calls("a"), tool(replace(given, wire_id="a")))
    state, kind = STATES[news]
    assert [call.state for call in conversation.ledger.in_order] == [state]
    assert [call.state for call in Ledger.replay(conversation.log).in_order] == [state]
    assert [emitted.completion for emitted in render(conversation, "anthropic/claude-sonnet-4-5").report.emitted] == [
        kind
    ]


@pytest.mark.parametrize("news", CallNews)
@pytest.mark.parametrize("state", CallState)
def test_news_never_makes_a_state_worse(state: CallState, news: CallNews) -> None:
    order = [CallState.COMPLETE, CallState.ERROR, CallState.CANCELLED, CallState.PENDING]
    after = next_state(state, news)
    assert order.index(after) <= order.index(state)
    assert next_state(after, news) is after


@pytest.mark.req("REQ-915-009")
@pytest.mark.parametrize("order", list(permutations([OK, FAILED, CANCELLED, SYNTHETIC])), ids=lambda _: "")
def test_success_counts_before_error_before_cancelled_before_synthetic_in_any_order(order: tuple[ToolResponse]) -> None:
    conversation = talk(calls("a"), *(tool(item) for item in order))
    assert completions(conversation) == [(A, "success", "fine")]
    assert len([made for made in decisions(conversation) if made[0] == "deduped"]) == 3


@pytest.mark.parametrize(
    ("responses", "state"),
    [
        ([SYNTHETIC], CallState.PENDING),
        ([CANCELLED, SYNTHETIC], CallState.CANCELLED),
        ([SYNTHETIC, CANCELLED, FAILED], CallState.ERROR),
        ([FAILED, OK], CallState.COMPLETE),
    ],
)
def test_the_state_is_that_of_the_best_news(responses: list[ToolResponse], state: CallState) -> None:
    assert talk(calls("a"), *map(tool, responses)).ledger.calls[A].state is state


def test_among_equals_the_first_recorded_stays() -> None:
    conversation = talk(calls("a"), result("a", "first"), result("a", "second"))
    assert completions(conversation) == [(A, "success", "first")]
    assert conversation.ledger.calls[A].dropped[0].rationale == "another result of the call came first"


def test_a_result_that_says_the_same_again_is_dropped_as_a_repetition() -> None:
    conversation = talk(calls("a"), result("a", "same"), result("a", "same"))
    assert conversation.ledger.calls[A].dropped[0].rationale == "repeated"


def test_a_true_is_not_a_repeated_one() -> None:
    conversation = talk(calls("a"), result("a", 1), result("a", True))
    assert conversation.ledger.calls[A].dropped[0].rationale == "another result of the call came first"


def test_a_real_result_without_a_complete_flag_wins_over_a_stored_closure() -> None:
    conversation = talk(calls("a"), tool(SYNTHETIC), result("a", "late but real"))
    assert completions(conversation) == [(A, "success", "late but real")]


def test_hearing_the_same_completion_twice_changes_nothing_but_the_note() -> None:
    once = talk(calls("a"), result("a"))
    twice = talk(calls("a"), result("a"), result("a"))
    assert completions(once) == completions(twice)


def reason(*news: Record) -> ClosureReason:
    conversation = talk(*news)
    return conversation.ledger.closure_reason(conversation.ledger.calls[A])


OPEN = Recorded(entry=calls("a"))


@pytest.mark.parametrize(
    ("news", "expected"),
    [
        ([OPEN], ClosureReason.NO_RESULT),
        ([Opened(incarnation=1), OPEN], ClosureReason.NOT_STARTED),
        ([Opened(incarnation=1), OPEN, Asked(call=A, digest="d")], ClosureReason.NOT_STARTED),
        ([Opened(incarnation=1), OPEN, Started(call=A)], ClosureReason.IN_FLIGHT),
        ([Opened(incarnation=1), OPEN, Started(call=A), Opened(incarnation=2)], ClosureReason.INTERRUPTED),
        ([Opened(incarnation=1), OPEN, Answered(call=A, verdict=Verdict.DENIED)], ClosureReason.DENIED),
        ([OPEN, Answered(call=A, verdict=Verdict.UNAVAILABLE)], ClosureReason.APPROVAL_UNAVAILABLE),
        ([OPEN, Answered(call=A, verdict=Verdict.TIMED_OUT)], ClosureReason.APPROVAL_UNAVAILABLE),
        ([OPEN, Answered(call=A, verdict=Verdict.ALLOWED)], ClosureReason.NO_RESULT),
        ([Imported(format="f", digest="d", entries=1), OPEN], ClosureReason.MISSING_IN_IMPORT),
        ([Imported(format="f", digest="d", entries=1), Recorded(entry=user("x")), OPEN], ClosureReason.NO_RESULT),
        ([Recorded(entry=calls("a", ending=Ending.CANCELLED))], ClosureReason.NOT_STARTED),
        ([OPEN, Recorded(entry=tool(SYNTHETIC))], ClosureReason.NO_RESULT),
        (
            [OPEN, Recorded(entry=tool(response("a", None, reason=ClosureReason.LOST_IN_COMPACTION, synthetic=True)))],
            ClosureReason.LOST_IN_COMPACTION,
        ),
    ],
)
def test_the_reason_for_a_closure_is_a_function_of_records(news: list[Record], expected: ClosureReason) -> None:
    assert reason(*news) is expected


def test_a_reason_that_was_sent_stays_the_one_that_is_sent() -> None:
    sent = StepBegan(step=1, target="t", closures={A: ClosureReason.IN_FLIGHT})
    assert reason(Opened(incarnation=1), OPEN, Started(call=A), sent, Opened(incarnation=2)) is ClosureReason.IN_FLIGHT


def test_the_users_words_survive_a_second_bare_denial() -> None:
    conversation = talk(
        OPEN,
        Answered(call=A, verdict=Verdict.DENIED, reason="use the other file"),
        Answered(call=A, verdict=Verdict.DENIED),
    )
    answered = conversation.ledger.calls[A].answered
    assert answered is not None
    assert answered.reason == "use the other file"


def test_records_about_unknown_calls_are_survived() -> None:
    other = CallId("hist_tool_other")
    ledger = Ledger.replay(
        [
            Started(call=other),
            Asked(call=other, digest=""),
            Answered(call=other, verdict=Verdict.ALLOWED),
            StepBegan(step=1, target="t", closures={other: ClosureReason.IN_FLIGHT}),
        ]
    )
    assert ledger == Ledger()


def named(wire_id: str, call_id: str, ordinal: int, **fields: Any) -> Recorded:
    return Recorded(entry=ai(replace(call(wire_id), id=CallId(call_id), ordinal=ordinal, **fields)))


def given(wire_id: str, value: str, call_id: CallId = A, **fields: Any) -> Recorded:
    return Recorded(entry=tool(replace(response(wire_id, value), call_id=call_id, **fields)))


EARLY = CallId("hist_tool_early")
STORED: dict[str, tuple[list[Record], list[str]]] = {
    "an early result": ([given("a", "E", EARLY, ordinal=0), named("a", A, 1, adopts=EARLY), given("a", "T")], ["E"]),
    "one id open twice": (
        [named("a", "hist_tool_first", 0), named("a", A, 1), given("a", "F"), given("a", "S")],
        ["no-result-recorded", "F"],
    ),
    "a result without an id": ([named("a", A, 0), given("", "G"), given("a", "T")], ["G"]),
    "a guess by place": ([named("a", A, 0), given("z", "G", guessed=True), given("a", "T")], ["T"]),
}
"""logs whose records do not say that anything gave way, as they were written before that was recorded"""


@pytest.mark.req("REQ-915-046")
@pytest.mark.parametrize(("log", "outcomes"), STORED.values(), ids=STORED)
def test_a_log_says_what_it_said_when_it_was_written(log: list[Record], outcomes: list[str]) -> None:
    assert [outcome for _, _, outcome in completions(Conversation(log))] == outcomes


@pytest.mark.req("REQ-915-046")
def test_the_ledger_is_rebuilt_from_the_log_alone() -> None:
    conversation = talk(
        Opened(incarnation=1), calls("a", "b"), Started(call=A), result("b"), user("x"), result("zz"), calls("zz")
    )
    assert Ledger.replay(conversation.log) == conversation.ledger
    assert Ledger.replay(conversation.log[:-1]) != conversation.ledger


def test_calls_tell_what_they_are() -> None:
    ledger = talk(calls("a")).ledger
    assert repr(ledger.calls[A]) == "Call(hist_tool_a, 'read', pending)"
    assert not ledger.calls[A].is_settled
    assert ledger != Conversation(talk(ai(call("b"))).log).ledger
