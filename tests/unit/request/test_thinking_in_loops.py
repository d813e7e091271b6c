"""Thoughts in an open tool loop: what a model that checks them there gets, thinking or not, however the loop came about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from legato import Conversation, render, resolve
from legato.model import Entry, Foreign, Include, Options, ThinkingPolicy, ThinkingSwitch
from legato.model.records import Rewound
from legato.wire.findings import Severity

from builders import ai, call, calls, origin, result, talk, thought, user

CLAUDE = "anthropic/claude-sonnet-4-5"
CLAUDES = (CLAUDE, "anthropic/claude-opus-4-8")
HOME = origin(CLAUDE)
ON, OFF = Options(thinking=ThinkingSwitch.ON), Options(thinking=ThinkingSwitch.OFF)


def thoughtful(wire_id: str, route: str = CLAUDE) -> Entry:
    return ai(thought("hm", signature="c2ln"), call(wire_id), origin=origin(route))


def thoughts_at(body: Any) -> list[int]:
    """The numbers of the messages that hold thinking."""
    return [
        number
        for number, message in enumerate(body["messages"])
        if any(block["type"] in ("thinking", "redacted_thinking") for block in message["content"])
    ]


def refusals(request: Any) -> list[str]:
    return [violation.rule for violation in request.check() if violation.severity is Severity.REFUSED]


@pytest.mark.parametrize("route", CLAUDES)
@pytest.mark.parametrize("options", [Options(), OFF])
def test_with_thinking_off_the_open_loop_holds_no_thought_and_that_is_told(route: str, options: Options) -> None:
    request = render(talk(user("go"), thoughtful("a", route), result("a")), route, options=options)
    assert (thoughts_at(request.body), refusals(request)) == ([], [])
    assert [decision.reason for decision in request.report.decisions if "thinking" in decision.reason] == [
        "thinking-off-in-loop"
    ]


@pytest.mark.parametrize(
    "route", ["anthropic/claude-opus-5", "anthropic/claude-sonnet-5", "anthropic/claude-fable-5-1"]
)
def test_a_claude_that_thinks_by_itself_gets_the_thoughts_of_its_open_loop(route: str) -> None:
    request = render(talk(user("go"), thoughtful("a", route), result("a")), route)
    assert (thoughts_at(request.body), refusals(request)) == ([1], [])
    assert "thinking" not in request.body


@pytest.mark.parametrize(
    ("route", "said"),
    [
        ("anthropic/claude-opus-5", {"type": "disabled"}),
        ("anthropic/claude-opus-5-5", None),
        ("anthropic/claude-sonnet-5-5", None),
        ("anthropic/claude-fable-5", None),
        ("anthropic/claude-mythos-5", None),
        ("vertex-anthropic/claude-fable-5-1", None),
    ],
)
def test_only_a_claude_that_can_stop_thinking_is_told_to(route: str, said: object) -> None:
    request = render(talk(user("go")), route, options=OFF)
    assert (request.body.get("thinking"), refusals(request)) == (said, [])
    told = [decision.reason for decision in request.report.decisions]
    assert told == ([] if said else ["thinking-always-on"])


def test_with_thinking_off_opus_5_is_asked_for_no_more_effort_than_it_takes_then() -> None:
    wish = replace(OFF, effort="max")
    before, since = (
        render(talk(user("go")), f"anthropic/claude-opus-{number}", options=wish) for number in ("4-8", "5")
    )
    assert (before.body["output_config"], refusals(before)) == ({"effort": "max"}, [])
    assert (since.body["output_config"], refusals(since)) == ({"effort": "high"}, [])
    assert [decision.reason for decision in since.report.decisions] == ["effort"]


def test_thoughts_of_finished_turns_are_sent_with_thinking_off_as_before() -> None:
    history = talk(
        user("go"),
        thoughtful("a"),
        result("a"),
        ai("done"),
        user("again"),
        thoughtful("b"),
        result("b"),
        thoughtful("c"),
    )
    request = render(history, CLAUDE, options=OFF)
    assert (thoughts_at(request.body), refusals(request)) == ([1], [])


def test_thoughts_come_back_when_the_loop_is_over_and_the_cause_is_named() -> None:
    history = talk(user("go"), thoughtful("a"), result("a"))
    assert thoughts_at(render(history, CLAUDE).body) == []
    history.record(ai("done", origin=HOME))
    history.record(user("thanks"))
    request = render(history, CLAUDE)
    assert thoughts_at(request.body) == [1]
    assert request.prefix_change is not None


def test_switching_thinking_in_the_middle_of_a_loop_leaves_its_thoughts_out_and_brings_them_back() -> None:
    history = talk(user("go"), thoughtful("a"), result("a"))
    bodies = [render(history, CLAUDE, options=options).body for options in (ON, OFF, ON)]
    assert [thoughts_at(body) for body in bodies] == [[1], [], [1]]
    assert bodies[0]["messages"] == bodies[2]["messages"]


def test_a_loop_that_another_model_began_holds_no_thought_once_thinking_is_off_for_it() -> None:
    history = talk(user("go"), calls("x", origin=origin("openai/gpt-4o")), result("x"), thoughtful("a"), result("a"))
    request = render(history, CLAUDE, options=ON)
    assert (thoughts_at(request.body), refusals(request)) == ([], [])
    assert {decision.reason for decision in request.report.decisions} == {
        "thinking-off-in-foreign-loop",
        "thinking-off-in-loop",
        "dummy-tools",
    }


def test_words_beside_results_do_not_end_the_loop_so_thinking_goes_off() -> None:
    history = talk(user("go"), calls("x", origin=origin("openai/gpt-4o")), result("x"), user("rather in blue"))
    request = render(history, CLAUDE, options=ON)
    assert request.body["thinking"] == {"type": "disabled"}
    assert refusals(request) == []
    assert "thinking-off-in-foreign-loop" in {decision.reason for decision in request.report.decisions}


def test_words_beside_results_leave_thinking_on_where_the_loop_began_with_a_thought() -> None:
    request = render(talk(user("go"), thoughtful("a"), result("a"), user("rather in blue")), CLAUDE, options=ON)
    assert (request.body["thinking"]["type"], thoughts_at(request.body), refusals(request)) == ("enabled", [1], [])


def test_an_answer_ends_the_loop_whoever_gave_it() -> None:
    history = talk(user("go"), calls("x"), result("x"), ai("done"), user("next"))
    request = render(history, CLAUDE, options=ON)
    assert (request.body["thinking"]["type"], refusals(request)) == ("enabled", [])


NEWS = st.lists(
    st.sampled_from(["said", "own calls", "own thoughtful calls", "foreign calls", "own answer", "own thought alone"]),
    max_size=7,
)


def told(kinds: list[str]) -> Conversation:
    conversation = talk(user("go"))
    for number, kind in enumerate(kinds):
        wire_id = f"c{number}"
        match kind:
            case "said":
                conversation.record(user("well"))
            case "own answer":
                conversation.record(ai("done", origin=HOME))
            case "own thought alone":
                conversation.record(ai(thought("hm", signature="c2ln"), origin=HOME))
            case _:
                entry = thoughtful(wire_id) if "thoughtful" in kind else calls(wire_id, origin=HOME)
                home = HOME if kind.startswith("own") else origin("openai/gpt-4o")
                conversation.record(replace(entry, origin=home))
                conversation.record(result(wire_id))
    return conversation


@given(
    NEWS,
    st.lists(st.sampled_from([ON, OFF, Options(), Options(effort="high")]), min_size=1, max_size=3),
    st.builds(ThinkingPolicy, st.sampled_from(Include), st.sampled_from(Foreign)),
)
def test_a_claude_takes_every_loop_thinking_or_not(
    kinds: list[str], asked: list[Options], policy: ThinkingPolicy
) -> None:
    conversation = told(kinds)
    for options in asked:
        request = render(conversation, CLAUDE, options=options, thinking=policy)
        assert refusals(request) == []
        fresh = render(conversation.copy(), resolve(CLAUDE), options=replace(options, cache=False), thinking=policy)
        again = render(conversation, CLAUDE, options=replace(options, cache=False), thinking=policy)
        assert fresh.body == again.body


def test_a_loop_that_was_taken_back_leaves_nothing_to_silence() -> None:
    history = talk(user("hello"), ai("hi"), user("go"), thoughtful("a"), result("a"), thoughtful("b"), result("b"))
    assert thoughts_at(render(history, CLAUDE, options=OFF).body) == []
    history.apply(history.prepare([Rewound(to=2)]))
    request = render(history, CLAUDE, options=OFF)
    assert (len(request.body["messages"]), refusals(request)) == (3, [])
