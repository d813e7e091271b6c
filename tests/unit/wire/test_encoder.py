"""Simple units are encoded in one loop: as far as it goes, as the general way encodes each of them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dialect_support import NOT_SIMPLE, call, encoded_in_a_row, failure, make_context, success
from legato.model import CallKind, Origin, Text, Thinking, ToolCall
from legato.request.catalogue import resolve, with_capabilities
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.context import End
from legato.wire.dialects import dialect_parts

from builders import ROUTES

ASKED = Said(0, (Text("go on"),))
ANSWERED = Exchange(2, (Text("it is "), Text("done")))
CALLED = Exchange(
    1,
    (Text("I look"), call("a"), call("b", "grep")),
    (success("a"), failure("b")),
)
ODD = NOT_SIMPLE | {
    "native": Exchange(1, (Text("hm", native={"x": 1}),)),
    "thought": Exchange(1, (Thinking("hm"), Text("so"))),
    "text behind calls": Exchange(1, (call("a"), Text("so")), (success("a"),)),
    "blank result": Exchange(1, (call("a"),), (success("a", " "),)),
    "renamed": Exchange(1, (call("a", "a tool!"),), (success("a"),)),
    "free text": Exchange(
        1, (ToolCall("sql", {"input": "x"}, "a", call("a").id, kind=CallKind.CUSTOM),), (success("a"),)
    ),
    "broken arguments": Exchange(1, (ToolCall("read", {}, "a", call("a").id, raw="{"),), (success("a"),)),
}

routes = pytest.mark.parametrize("route", ROUTES)


def encoded(units: list[Unit | None], route: str, *, thinking_on: bool = False, **capabilities: Any) -> Assembly:
    target = with_capabilities(resolve(route), **capabilities)
    context = make_context(target, rule=target.capabilities.name_rule)
    return encoded_in_a_row(dialect_parts(target.dialect), units, replace(context, thinking_on=thinking_on))


@routes
def test_simple_units_are_encoded_in_one_loop(route: str) -> None:
    page = encoded([ASKED, CALLED, ANSWERED, ASKED, CALLED], route)
    assert page.ends == [End.HUMAN, End.RESULTS, End.ANSWER, End.HUMAN, End.RESULTS]


@routes
@pytest.mark.parametrize("unit", ODD.values(), ids=ODD)
def test_the_loop_ends_before_a_unit_about_which_something_has_to_be_decided(route: str, unit: Unit | None) -> None:
    assert encoded([ASKED, unit, ASKED], route).ends == [End.HUMAN]


@routes
@pytest.mark.parametrize(
    "limits",
    [{"max_calls": 1}, {"text_beside_calls": False}, {"native_tool_history": False}],
    ids=["too many calls", "text beside calls", "no tool history"],
)
def test_the_loop_ends_before_calls_that_the_target_cannot_take_as_they_are(route: str, limits: dict[str, Any]) -> None:
    if "text_beside_calls" in limits and route.startswith("openai-responses"):
        pytest.skip("its items always stand apart")
    assert encoded([ASKED, ANSWERED, ASKED, CALLED, ASKED], route, **limits).ends == [End.HUMAN, End.ANSWER, End.HUMAN]


@pytest.mark.parametrize("route", ["gemini/gemini-3-pro-preview", "vercel/any"])
def test_where_results_may_be_json_the_loop_ends_before_a_value_that_is_no_text(route: str) -> None:
    assert encoded([ASKED, Exchange(1, (call("a"),), (success("a", {"n": 1}),)), ASKED], route).ends == [End.HUMAN]


def test_human_words_join_the_results_before_them_where_messages_are_joined() -> None:
    page = encoded([ASKED, CALLED, ASKED, ANSWERED, ASKED], "anthropic/claude-sonnet-4-5")
    assert [(message["role"], len(message["content"])) for message in page.messages] == [
        ("user", 1),
        ("assistant", 3),
        ("user", 3),
        ("assistant", 2),
        ("user", 1),
    ]


@pytest.mark.parametrize("units", [[CALLED], [ASKED, ANSWERED, CALLED]], ids=["first", "behind an answer"])
@pytest.mark.parametrize("route", ["anthropic/claude-sonnet-4-5", "gemini/gemini-3-pro-preview"])
def test_the_loop_ends_before_an_answer_that_needs_a_bridge(route: str, units: list[Unit | None]) -> None:
    assert len(encoded(units, route).ends) == len(units) - 1


def test_where_no_human_may_follow_results_a_bridge_stands_between_them() -> None:
    page = encoded([ASKED, CALLED, ASKED, ANSWERED, ASKED], "mistral/mistral-large-latest")
    assert [message["role"] for message in page.messages[-4:]] == ["assistant", "user", "assistant", "user"]


@pytest.mark.parametrize("route", [route for route in ROUTES if resolve(route).dialect == "openai_chat"])
def test_a_bridge_also_stands_there_where_the_roles_take_turns(route: str) -> None:
    page = encoded([ASKED, ASKED, CALLED, ASKED, ANSWERED, ASKED], route, alternates=True)
    assert [message["role"] for message in page.messages[-4:]] == ["assistant", "user", "assistant", "user"]


def test_where_a_thought_is_demanded_a_placeholder_stands_with_calls_alone() -> None:
    page = encoded([ASKED, CALLED, ANSWERED], "kimi/kimi-k2-thinking", thinking_on=True)
    answers = [message for message in page.messages if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in answers] == [" ", None]


def test_an_exchange_works_out_itself_whether_it_is_simple() -> None:
    lie = Exchange(1, (call("a"),), (success("a", "true"),), Origin(), ("SOMETHING ELSE",))
    assert (lie.outputs, lie.verbatim) == (("true",), True)
    assert not Exchange(1, (call("a"),), (failure("a"),), verbatim=True).verbatim
    assert Exchange(1, (Thinking("hm"),), outputs=()).outputs is None
