"""Requests are made from the log at each boundary, are the same on every machine, and lose nothing that was said."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import count
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import odd_bodies
from legato import render, resolve
from legato.errors import RenderError
from legato.model import Block, Entry, Options, Text, ThinkingSwitch, ToolCall
from legato.model.records import StepBegan, TurnOutcome
from legato.request import with_capabilities
from legato.simulation import SimulatedTransport
from legato.tools import ToolBox
from legato.transcript import Conversation
from legato.wire.findings import Severity
from legato.wire.openai_chat.encode import ChatShapes
from on_the_wire import Thought, WireCall, WireResult, Words, calls_of, read_body, results_of, sent, unpaired
from session_support import Library, Workshop, session, world

from builders import OTHER_ROUTES, ROUTES, ai, call, calls, instruction, origin, result, talk, thought, user

routes = pytest.mark.parametrize("route", ROUTES)
NATIVE = [route for route in (*ROUTES, *OTHER_ROUTES) if resolve(route).capabilities.native_tool_history]


# --- from the log, at the boundary ------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-001")
@routes
def test_every_request_that_was_sent_is_what_the_log_up_to_then_comes_to(route: str) -> None:
    transport, library, shop = SimulatedTransport(), Library(), Workshop()
    options = Options(stream=True, cache=False)  # where the cache is marked depends on the request before

    async def scenario() -> Conversation:
        tools = [library.read, shop.hold]
        async with session(route, tools=tools, world=world(transport), options=options, system="be brief") as talk:
            await talk.send("use read_file on a.txt and b.txt")
            turn = talk.send("use hold_file on c")
            await shop.until(lambda: shop.running == {"c"})
            talk.send("and make it quick")
            shop.release("c")
            await turn
            await talk.undo()
            await talk.send("Hello again")
            return talk.talk

    told = anyio.run(scenario)
    boundaries = [(seq, record) for seq, record in enumerate(told.log) if isinstance(record, StepBegan)]
    assert len(boundaries) == len(transport.requests) == 5
    specs = ToolBox([library.read, shop.hold]).specs
    for (seq, began), seen in zip(boundaries, transport.requests, strict=True):
        anew = render(Conversation(told.log[:seq]), route, tools=specs, system="be brief", options=options)
        assert seen.json == json.loads(anew.json())
        assert began.digest == anew.digest()


@pytest.mark.req("REQ-915-001")
@routes
def test_what_was_recorded_since_the_last_request_is_in_the_next_one(route: str) -> None:
    told = talk(user("one"), ai("two"), user("three"))
    render(told, route)
    told.record(calls("a"))
    told.record(result("a", "four"))
    told.human("five")
    words = [item.text if isinstance(item, Words) else item.value for item in sent(render(told, route))
             if isinstance(item, Words | WireResult)]  # fmt: skip
    assert [word for word in words if word in ("one", "two", "three", "four", "five")] == [
        "one",
        "two",
        "three",
        "four",
        "five",
    ]


@pytest.mark.req("REQ-915-001")
@routes
def test_what_came_late_is_in_the_next_request_at_its_place(route: str) -> None:
    told = talk(user("one"), calls("a"), user("three"))
    render(told, route)
    told.record(result("a", "two"))
    words = [item.text if isinstance(item, Words) else item.value for item in sent(render(told, route))
             if isinstance(item, Words | WireResult)]  # fmt: skip
    assert [word for word in words if word in ("one", "two", "three")] == ["one", "two", "three"]
    assert not any("No result" in str(word) for word in words)


# --- the same everywhere ----------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-010", "REQ-915-022")
def test_another_process_renders_the_same_bytes() -> None:
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    program = [sys.executable, odd_bodies.__file__]
    done = subprocess.run(
        program, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == odd_bodies.bodies()


# --- nothing is lost --------------------------------------------------------------------------------------------------

MARK = re.compile("<[0-9]+>")


@st.composite
def conversations(draw: st.DrawFn, *, home: str | None = None) -> tuple[list[Entry], list[set[str]]]:
    """Turns in which every word, argument and result is a mark of its own; and the marks of each unit, in order.

    Answers mix text, thoughts and calls in any order; not every call has its result.
    """
    numbers = count()
    entries: list[Entry] = []
    units: list[set[str]] = []

    def mark(into: set[str]) -> str:
        name = f"<{next(numbers)}>"
        into.add(name)
        return name

    for _ in range(draw(st.integers(1, 3))):
        units.append(set())
        entries.append(user(mark(units[-1])))
        for kinds in draw(
            st.lists(st.lists(st.sampled_from(["text", "thought", "call"]), min_size=1, max_size=5), max_size=2)
        ):
            unit: set[str] = set()
            blocks: list[Block] = []
            for kind in kinds:
                if kind == "text":
                    blocks.append(Text(mark(unit)))
                elif kind == "thought":
                    blocks.append(thought("hm", signature="s") if home else thought("hm"))
                else:
                    blocks.append(ToolCall("read", {"path": mark(unit)}, f"call_{next(numbers)}"))
            made = [block for block in blocks if isinstance(block, ToolCall)]
            entries.append(ai(*blocks, **({"origin": origin(home)} if home else {})))
            entries += [result(one.wire_id, mark(unit)) for one in made if draw(st.booleans())]
            units.append(unit)
    units.append(set())
    entries.append(user(mark(units[-1])))
    return entries, [unit for unit in units if unit]


def told_marks(request_items: list[Any]) -> list[str]:
    return MARK.findall(json.dumps(request_items, ensure_ascii=False))


@pytest.mark.req("REQ-915-004", "REQ-915-025")
@routes
@given(conversations())
def test_whoever_answers_next_is_told_every_word_argument_and_result_once_and_in_order(
    route: str, made: tuple[list[Entry], list[set[str]]]
) -> None:
    entries, units = made
    request = render(talk(*entries), route)
    found = told_marks(sent(request))
    groups = iter(found)
    assert [{next(groups) for _ in unit} for unit in units] == units
    assert list(groups) == []
    assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []


@pytest.mark.req("REQ-915-004", "REQ-915-025", "REQ-915-023")
@given(conversations(home="anthropic/claude-sonnet-4-5"))
def test_claude_is_told_as_much_where_its_own_thoughts_stand_among_its_words(
    made: tuple[list[Entry], list[set[str]]],
) -> None:
    entries, units = made
    request = render(talk(*entries), "anthropic/claude-sonnet-4-5")
    groups = iter(told_marks(sent(request)))
    assert [{next(groups) for _ in unit} for unit in units] == units
    assert unpaired(sent(request)) == []
    assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []


@pytest.mark.req("REQ-915-004", "REQ-915-008", "REQ-915-025")
@pytest.mark.parametrize("route", ["mistral/mistral-large-latest", "openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
@given(made=conversations())
def test_a_server_that_takes_few_calls_or_words_apart_is_told_as_much(
    route: str, made: tuple[list[Entry], list[set[str]]]
) -> None:
    entries, units = made
    target = with_capabilities(resolve(route), max_calls=1, text_beside_calls=False)
    items = sent(render(talk(*entries), target))
    groups = iter(told_marks(items))
    assert [{next(groups) for _ in unit} for unit in units] == units
    assert list(groups) == []
    asked = [type(item) for item in items if isinstance(item, WireCall | WireResult)]
    assert asked == [WireCall, WireResult] * (len(asked) // 2)


THOUGHTS = {
    "anthropic/claude-sonnet-4-5": lambda text: thought(text, signature=f"sig-{text}"),
    "openai-responses/gpt-5.1": lambda text: thought(
        text,
        item={
            "type": "reasoning",
            "id": f"rs_{text}",
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": f"enc-{text}",
        },
    ),
    "gemini/gemini-3-pro-preview": lambda text: thought(text, thoughtSignature="c2lnbmVk"),
    "kimi/kimi-k2-thinking": thought,
    "deepseek/deepseek-reasoner": thought,
}
"""a thought as each of these gives it"""


@pytest.mark.req("REQ-915-023", "REQ-915-025")
@pytest.mark.parametrize("home", THOUGHTS)
def test_a_thought_between_two_calls_goes_home_and_leaves_both_pairs_whole(home: str) -> None:
    make = THOUGHTS[home]
    answer = ai(make("first"), "I look", call("call_a", path="a"), make("second"), call("call_b", path="b"),
                origin=origin(home))  # fmt: skip
    told = talk(user("x"), answer, result("call_a", "A"), result("call_b", "B"))
    request = render(told, home, options=Options(thinking=ThinkingSwitch.ON))
    request.verify()
    items = sent(request)
    assert unpaired(items) == []
    assert [item.arguments for item in calls_of(items)] == [{"path": "a"}, {"path": "b"}]
    assert [item.value for item in results_of(items)] == ["A", "B"]
    thoughts = "".join(item.text for item in items if isinstance(item, Thought))
    assert thoughts == "firstsecond"
    if home in ("anthropic/claude-sonnet-4-5", "openai-responses/gpt-5.1", "gemini/gemini-3-pro-preview"):
        kinds = [type(item) for item in items if isinstance(item, Thought | WireCall)]
        assert kinds == [Thought, WireCall, Thought, WireCall]


@pytest.mark.req("REQ-915-023", "REQ-915-024")
@pytest.mark.parametrize("home", THOUGHTS)
def test_a_thought_that_led_to_nothing_is_left_out_or_stays_and_both_pairs_are_whole(home: str) -> None:
    make = THOUGHTS[home]
    answer = ai(make("first"), "I look", call("call_a", path="a"), call("call_b", path="b"), make("last"),
                origin=origin(home))  # fmt: skip
    request = render(talk(user("x"), answer, result("call_b", "B"), result("call_a", "A"), user("y")), home)
    request.verify()
    items = sent(request)
    assert unpaired(items) == []
    assert [item.arguments for item in calls_of(items)] == [{"path": "a"}, {"path": "b"}]
    assert [item.value for item in results_of(items)] == ["A", "B"]
    assert "I look" in [item.text for item in items if isinstance(item, Words)]


@pytest.mark.req("REQ-915-024")
def test_a_call_whose_thought_is_left_out_has_a_signature_that_gemini_takes() -> None:
    """Gemini 3 refuses the first call of an answer without one (ai.google.dev/gemini-api/docs/thought-signatures)."""
    route = "gemini/gemini-3-pro-preview"
    for made in (thought("hm"), thought("hm", signature="s")):
        told = talk(user("x"), ai(made, call("call_a"), call("call_b")), result("call_a"), result("call_b"))
        body = json.loads(render(told, route).json())
        parts = [part for content in body["contents"] for part in content["parts"] if "functionCall" in part]
        assert [bool(part.get("thoughtSignature")) for part in parts] == [True, False]


@pytest.mark.req("REQ-915-023")
@pytest.mark.parametrize("home", [*THOUGHTS, None])
def test_claude_thinks_on_only_in_a_tool_loop_that_began_with_a_thought_of_its_own(home: str | None) -> None:
    claude = "anthropic/claude-sonnet-4-5"
    blocks = [THOUGHTS[home]("hm")] if home else []
    fields = {"origin": origin(home)} if home else {}
    told = talk(user("x"), ai(*blocks, call("call_a"), **fields), result("call_a"), ai(call("call_b"), **fields))
    told.record(result("call_b"))
    request = render(told, claude, options=Options(thinking=ThinkingSwitch.ON, thinking_budget=2048))
    request.verify()
    assert (request.body.get("thinking", {}).get("type") == "enabled") is (home == claude)
    assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []
    assert unpaired(sent(request)) == []


@pytest.mark.req("REQ-915-024", "REQ-915-025")
@pytest.mark.parametrize(("home", "route"), [(home, route) for home in THOUGHTS for route in NATIVE if route != home])
def test_a_thought_between_two_calls_that_goes_nowhere_leaves_both_pairs_whole(home: str, route: str) -> None:
    make = THOUGHTS[home]
    answer = ai(call("call_a", path="a"), make("second"), call("call_b", path="b"), make("third"), origin=origin(home))
    told = talk(user("x"), answer, result("call_b", "B"), user("y"))
    request = render(told, route)
    request.verify()
    items = sent(request)
    assert unpaired(items) == []
    assert [item.arguments for item in calls_of(items)] == [{"path": "a"}, {"path": "b"}]
    assert len(results_of(items)) == 2
    assert results_of(items)[1].value == "B"
    assert "second" not in json.dumps(items)


# --- nothing malformed leaves -----------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-005")
def test_a_session_whose_renderer_lost_a_result_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is put where no one would look for it: whatever breaks a body, the rules stand before the wire."""
    transport = SimulatedTransport()

    def lost(shapes: Any, texts: list[Any], made: list[Any], results: list[Any], placeholder: bool) -> Any:
        return whole(shapes, texts, made, [], placeholder)

    whole = ChatShapes.exchange
    monkeypatch.setattr(ChatShapes, "exchange", lost)

    async def scenario() -> None:
        async with session("openai/gpt-4o", tools=[Library().read], world=world(transport)) as talk:
            with pytest.raises(RenderError, match="would be refused"):
                await talk.send("use read_file on a.txt")
            assert len(transport.requests) == 1, "the request with the lost result did not leave"

    anyio.run(scenario)


@pytest.mark.req("REQ-915-005")
def test_a_fault_far_back_in_the_history_is_found_too() -> None:
    told = talk(user("hi"), calls("a"), result("a"), *(user(str(number)) for number in range(9)))
    request = render(told, "openai/gpt-4o")
    request.body["messages"][2]["tool_call_id"] = "call_of_nobody"
    with pytest.raises(RenderError, match="would be refused"):
        request.verify()


# --- a switch ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-003", "REQ-915-004")
@pytest.mark.parametrize("second", ROUTES)
def test_after_a_switch_every_request_goes_to_the_new_provider_with_all_that_was_said(second: str) -> None:
    first = "openai/gpt-4o" if second != "openai/gpt-4o" else "anthropic/claude-sonnet-4-5"
    transport = SimulatedTransport()

    async def scenario() -> None:
        async with session(first, tools=[Library().read], world=world(transport)) as talk:
            await talk.send("Remember the word PERSIMMON. use read_file on a.txt")
            before = len(transport.requests)
            await talk.switch(second)
            await talk.send("use read_file on b.txt")
            await talk.send("Hello")
            later = transport.requests[before:]
            assert [seen.model for seen in later] == [resolve(second).model] * 3
            for seen in later:
                said = json.dumps(read_body(seen.json, second))
                assert "PERSIMMON" in said
                assert "contents of a.txt" in said
            assert (await talk.send("Bye")).outcome is TurnOutcome.DONE
        assert transport.refusals == []

    anyio.run(scenario)


@pytest.mark.req("REQ-915-004")
def test_instructions_and_both_sides_of_the_talk_reach_a_target_without_calls() -> None:
    told = talk(instruction("be kind"), user("<1>"), ai("<2>", call("a")), result("a", "<3>"), ai("<4>"), user("<5>"))
    request = render(told, "vercel-gateway/openai/gpt-5.1")
    assert told_marks(sent(request)) == ["<1>", "<2>", "<3>", "<4>", "<5>"]
    assert "be kind" in request.json().decode()
