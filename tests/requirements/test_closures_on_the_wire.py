"""No call leaves without its one result: what closes it is on the wire, with its reason, beside the real ones."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import anyio
import pytest

from legato import render, resolve
from legato.model import CLOSURE_TEXTS, ClosureReason, Ending, Entry, Media, MediaKind, Record, closure_text
from legato.model.records import Opened, Started, StepBegan
from legato.request import Request
from legato.simulation import SimulatedTransport
from legato.store.memory import MemoryStore, Shelf
from legato.transcript import Conversation
from on_the_wire import calls_of, read_body, results_of, sent, unpaired
from session_support import Workshop, session, told, until, world

from builders import OTHER_ROUTES, ROUTES, ai, call, calls, origin, result, talk, thought, user

NATIVE = [route for route in (*ROUTES, *OTHER_ROUTES) if resolve(route).capabilities.native_tool_history]
native_routes = pytest.mark.parametrize("route", NATIVE)
FLAGGED = ("anthropic", "bedrock", "gemini", "vercel")
"""dialects that have a flag for failures"""


def ends(request: Request) -> list[str]:
    """What each call is told to have ended with, in call order."""
    return [str(item.value) for item in results_of(sent(request))]


# --- before anything is sent ------------------------------------------------------------------------------------------

OPEN: dict[str, list[Entry | Record]] = {
    "at the end": [user("x"), calls("a", "b")],
    "with the first result": [user("x"), calls("a", "b"), result("a")],
    "with the last result": [user("x"), calls("a", "b"), result("b")],
    "before a message": [user("x"), calls("a", "b"), user("y")],
    "before another answer": [user("x"), calls("a", "b"), ai("so"), user("y")],
    "in an answer that was cut": [user("x"), calls("a", "b", ending=Ending.CUT), user("y")],
    "while one runs": [Opened(incarnation=1), user("x"), calls("a", "b"), Started(call="hist_tool_a", digest="d")],  # type: ignore[arg-type]
    "beside a thought": [user("x"), ai(thought(), "hm", call("a"), call("b")), user("y")],
    "beside a thought of Claude's": [
        user("x"),
        ai(thought("hm", signature="s"), call("a"), call("b"), origin=origin("anthropic/claude-sonnet-4-5")),
        result("b"),
    ],
    "beside a picture": [
        user("x"),
        calls("a", "b"),
        result("a", "see", media=(Media(MediaKind.IMAGE, "image/png", data="aaaa"),)),
        user("y"),
    ],
}


@pytest.mark.req("REQ-915-013", "REQ-915-007", "REQ-915-011")
@native_routes
@pytest.mark.parametrize("where", OPEN)
def test_every_call_on_the_wire_has_one_result_wherever_it_was_left_open(route: str, where: str) -> None:
    request = render(talk(*OPEN[where]), route)
    items = sent(request)
    assert unpaired(items) == []
    assert (len(calls_of(items)), len(results_of(items))) == (2, 2)
    request.verify()


@pytest.mark.req("REQ-915-013", "REQ-915-011")
@pytest.mark.parametrize("route", ROUTES)
def test_a_session_that_died_with_calls_open_sends_them_closed_when_it_goes_on(route: str) -> None:
    transport = SimulatedTransport()

    async def scenario() -> None:
        shelf, shop = Shelf(), Workshop()
        async with MemoryStore(shelf) as store:
            first = session(route, tools=[shop.hold], world=world(transport), store=store)
            async with first as opened:
                turn = opened.send("use hold_file on a and b")
                await shop.until(lambda: shop.running == {"a", "b"})
                records = list(opened.talk.log)  # what a crash at this moment leaves behind
                shop.release("a", "b")
                await turn
            left = Conversation(records)
            before = len(transport.requests)
            async with session(route, tools=[shop.hold], world=world(transport), conversation=left) as again:
                await again.send("What happened?")
            seen = transport.requests[before]
            items = read_body(seen.json, route)
            assert unpaired(items) == []
            interrupted = closure_text(ClosureReason.INTERRUPTED)
            assert [str(item.value) for item in results_of(items)] == [interrupted, interrupted]
            assert seen.refusal is None

    anyio.run(scenario)


@pytest.mark.req("REQ-915-013")
def test_what_is_closed_in_a_request_is_written_down_before_it_leaves() -> None:
    """So that it stays what was sent: the record of the step names every call that it closes."""

    async def scenario() -> None:
        left = talk(user("x"), calls("a", "b"), result("b"))
        async with session("openai/gpt-4o", conversation=left) as opened:
            await opened.send("go on")
            began = next(record for record in opened.talk.log if isinstance(record, StepBegan))
        assert dict(began.closures) == {"hist_tool_a": ClosureReason.NO_RESULT}

    anyio.run(scenario)


# --- one result for each call -----------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-006", "REQ-915-007")
@native_routes
def test_a_call_without_arguments_is_shown_with_its_result_as_any_other_is(route: str) -> None:
    """An empty object is a value, and so is an empty text, a zero and a false."""
    values: list[Any] = ["fine", {}, [], 0, False]
    names = [f"call_{number}" for number in range(len(values))]
    told = talk(user("x"), ai(*(call(name) for name in names)), *map(result, names, values), user("y"))
    for more in ("again", "and again"):  # answers with texts for results alone, as nearly all are
        told.record(ai(call(f"call_{more}"), call(f"call_{more}_2")))
        told.record(result(f"call_{more}", "fine"))
        told.record(result(f"call_{more}_2", "fine"))
    items = sent(render(told, route))
    assert [item.arguments for item in calls_of(items)] == [{}] * (len(values) + 4)
    assert unpaired(items) == []
    assert [as_json(item.value) for item in results_of(items)] == [*values, *["fine"] * 4]


def as_json(value: Any) -> Any:
    """What a result says, where the format takes text alone."""
    return json.loads(value) if isinstance(value, str) and value != "fine" else value


@pytest.mark.req("REQ-915-006")
@native_routes
def test_a_result_whose_id_fits_nothing_is_not_given_to_a_call_that_it_may_not_belong_to(route: str) -> None:
    told = talk(user("x"), calls("a", "b"), result("zz", "of which?"), user("y"))
    items = sent(render(told, route))
    named = {item.id: item for item in calls_of(items)}
    answers = [(named[item.id].arguments if item.id else None, item.value) for item in results_of(items)]
    missing = closure_text(ClosureReason.NO_RESULT)
    if all(item.id for item in calls_of(items)):
        assert answers == [({"path": "a.txt"}, missing), ({"path": "b.txt"}, missing), ({}, "of which?")]
    assert unpaired(items) == []
    assert [item.value for item in results_of(items)] == [missing, missing, "of which?"]


@pytest.mark.req("REQ-915-009")
@native_routes
def test_of_several_results_of_a_call_the_first_of_the_best_is_told_and_it_alone(route: str) -> None:
    several = [
        result("a", None, error="it failed"),
        result("a", "first"),
        result("a", "first"),
        result("a", "second"),
        result("a", None, error="it failed again"),
    ]
    told = talk(user("x"), calls("a"), *several[:3], user("y"), *several[3:], user("z"))
    assert ends(render(told, route)) == ["first"]


@pytest.mark.req("REQ-915-009", "REQ-915-007")
@native_routes
def test_a_call_that_comes_again_with_the_rest_of_its_answer_is_one_call_with_one_result(route: str) -> None:
    """A client that writes an answer down piece by piece repeats what it had."""
    told = talk(user("x"), calls("a", answer="k"), result("a"), calls("a", "b", answer="k"), result("b"), user("y"))
    items = sent(render(told, route))
    assert [item.arguments["path"] for item in calls_of(items)] == ["a.txt", "b.txt"]
    assert [item.value for item in results_of(items)] == ["result of a", "result of b"]
    assert unpaired(items) == []


# --- real results stay ------------------------------------------------------------------------------------------------

PICTURE = Media(MediaKind.IMAGE, "image/png", data="aaaa")


@pytest.mark.req("REQ-915-012", "REQ-915-011")
@native_routes
def test_whichever_of_five_calls_have_results_those_are_told_and_the_others_closed(route: str) -> None:
    missing = closure_text(ClosureReason.NO_RESULT)
    for names in (names for count in range(6) for names in combinations("edcba", count)):
        request = render(talk(user("x"), calls(*"abcde"), *(result(name) for name in names), user("y")), route)
        assert ends(request) == [f"result of {name}" if name in names else missing for name in "abcde"]


@pytest.mark.req("REQ-915-012", "REQ-915-008")
@native_routes
def test_a_real_result_replaces_the_closure_that_was_sent_before_it_came(route: str) -> None:
    conversation = talk(user("x"), calls("a", "b"), result("a"), user("y"))
    assert ends(render(conversation, route)) == ["result of a", closure_text(ClosureReason.NO_RESULT)]
    conversation.record(ai("so"))
    conversation.record(result("b"))
    conversation.human("z")
    request = render(conversation, route)
    assert ends(request) == ["result of a", "result of b"]
    assert unpaired(sent(request)) == []


@pytest.mark.req("REQ-915-012")
@pytest.mark.parametrize("closure_first", [True, False])
@native_routes
def test_a_closure_that_comes_in_with_a_transcript_gives_way_to_the_real_result(
    route: str, closure_first: bool
) -> None:
    closed = result("a", reason=ClosureReason.NOT_STARTED, synthetic=True)
    both = [closed, result("a", "real")] if closure_first else [result("a", "real"), closed]
    assert ends(render(talk(user("x"), calls("a"), *both, user("y")), route)) == ["real"]


@pytest.mark.req("REQ-915-012")
def test_what_is_attached_to_a_result_stays_when_another_call_is_closed() -> None:
    told_media = render(
        talk(user("x"), calls("a", "b"), result("a", "see", media=(PICTURE,)), user("y")), "anthropic/claude-sonnet-4-5"
    )
    content = results_of(sent(told_media))[0].value
    assert [block["type"] for block in content] == ["text", "image"]
    assert content[1]["source"]["data"] == "aaaa"


# --- five calls, one result -------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-044", "REQ-915-034")
@pytest.mark.parametrize("first", ROUTES)
def test_of_five_cancelled_calls_the_next_model_reads_one_result_and_four_reasons(first: str) -> None:
    """On the wire of the next request, wherever it goes: the texts, the flags, and each behind its own call."""
    transport, shop = SimulatedTransport(), Workshop()

    async def scenario() -> None:
        async with session(first, tools=[shop.hold], world=world(transport)) as opened:
            turn = opened.send("use hold_file on a, b, c, d and e")
            await shop.until(lambda: shop.running == set("abcde"))
            shop.release("b")
            await until(lambda: "b done" in told(opened.talk.log))
            turn.cancel()
            await turn
            for route in ROUTES:
                await opened.switch(route)
                before = len(transport.requests)
                await opened.send("Go on")
                _assert_one_real_and_four_closed(transport.requests[before].json, route)
        assert transport.refusals == []

    anyio.run(scenario)


def _assert_one_real_and_four_closed(body: Any, route: str) -> None:
    items = read_body(body, route)
    cancelled = closure_text(ClosureReason.CANCELLED_RUNNING)
    assert unpaired(items) == []
    assert [item.arguments["path"] for item in calls_of(items)] == list("abcde")
    assert [item.value for item in results_of(items)] == ["held b" if path == "b" else cancelled for path in "abcde"]
    if resolve(route).dialect in FLAGGED:
        assert [item.failed for item in results_of(items)] == [path != "b" for path in "abcde"]


@pytest.mark.req("REQ-915-044")
@native_routes
def test_where_nothing_is_known_of_four_calls_that_is_what_the_model_reads(route: str) -> None:
    unknown = closure_text(ClosureReason.NO_RESULT)
    request = render(talk(user("x"), calls(*"abcde"), result("b"), user("y")), route)
    assert ends(request) == ["result of b" if name == "b" else unknown for name in "abcde"]


@pytest.mark.req("REQ-915-044", "REQ-915-011")
@native_routes
def test_four_closures_read_as_their_reason_says_and_are_no_errors_of_a_tool(route: str) -> None:
    for reason, text in CLOSURE_TEXTS.items():
        closed = [result(name, reason=reason) for name in "acde"]
        request = render(talk(user("x"), calls(*"abcde"), result("b"), *closed, user("y")), route)
        assert ends(request) == ["result of b" if name == "b" else text for name in "abcde"]
        flags = [item.failed for item in results_of(sent(request))]
        assert flags == ([name != "b" for name in "abcde"] if resolve(route).dialect in FLAGGED else [None] * 5)
