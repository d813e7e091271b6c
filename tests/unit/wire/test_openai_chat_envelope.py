"""What stands around the messages of a chat request: tools, choice, thinking, options."""

from __future__ import annotations

from typing import Any

import pytest

from chat_support import assert_openai_types_accept, assert_valid, call, context, printed, success, target
from legato.errors import ImpossibleRequest
from legato.model import Choice, Options, Text, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.request.thinking import will_think
from legato.transcript.units import Exchange, Said
from legato.wire.openai_chat import DIALECT
from legato.wire.options import Envelope

HI = Said(0, (Text("hi"),))
READ = ToolSpec("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
BARE = ToolSpec("fs.list")


def fields(to: Any, **named: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    tools, options = named.pop("tools", ()), Options(**named)
    top = DIALECT.head(Envelope("", tools, options), context(to, thinking_on=will_think(to, options)))
    return top.fields, [(str(one.action), one.reason) for one in top.decisions]


def test_a_bare_request_names_its_model_and_nothing_else():
    assert fields(target("openai")) == ({"model": "openai-model"}, [])
    assert DIALECT.head(Envelope(" \n", (), Options()), context(target("openai"))).first == ()


def test_tools_are_functions_under_names_that_the_target_takes():
    to = target("openai")
    body, decisions = printed([HI], to, tools=[READ, BARE])
    first, second = (tool["function"] for tool in body["tools"])
    assert first == {"name": "read", "description": "Reads a file.", "parameters": READ.parameters}
    assert second == {"name": second["name"], "parameters": {"type": "object", "properties": {}}}
    assert second["name"].startswith("fs_list_")
    assert [(str(one.action), one.reason) for one in decisions] == [("renamed", "tool-name")]
    assert_valid(body, to)


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({}, None),
        ({"choice": Choice.AUTO}, "auto"),
        ({"choice": Choice.NONE}, "none"),
        ({"choice": Choice.REQUIRED}, "required"),
        ({"tool": "read"}, {"type": "function", "function": {"name": "read"}}),
    ],
)
@pytest.mark.parametrize("profile", ["openai", "mistral", "kimi"])
def test_the_choice_among_tools_is_spelled_for_every_profile(profile, options, choice):
    to = target(profile)
    body, decisions = printed([HI], to, tools=[READ], options=Options(**options))
    assert body.get("tool_choice") == choice
    assert decisions == []
    assert_valid(body, to)


@pytest.mark.parametrize("profile", ["kimi", "deepseek"])
def test_a_forced_call_gives_way_to_thinking_where_both_together_are_refused(profile):
    to = target(profile, thinking_default=True)
    for options in (Options(tool="read"), Options(choice=Choice.REQUIRED)):
        body, decisions = printed([HI], to, tools=[READ], options=options, thinking_on=True)
        assert body["tool_choice"] == "auto"
        assert [(str(one.action), one.reason) for one in decisions] == [("adjusted", "forced-tool")]
        assert_valid(body, to)


def test_a_choice_without_tools_is_left_out():
    assert fields(target("openai"), choice=Choice.AUTO) == ({"model": "openai-model"}, [])


@pytest.mark.parametrize("options", [{"tool": "read"}, {"choice": Choice.REQUIRED}])
def test_a_call_cannot_be_forced_without_tools(options):
    with pytest.raises(ImpossibleRequest, match="no tools are offered"):
        fields(target("openai"), **options)


def test_a_tool_that_is_not_offered_cannot_be_forced():
    with pytest.raises(ImpossibleRequest, match="'write'"):
        fields(target("openai"), tools=(READ,), tool="write")


def test_more_tools_than_the_target_takes_are_refused_here():
    tools = tuple(ToolSpec(f"t{index}") for index in range(129))
    with pytest.raises(ImpossibleRequest, match="129 tools"):
        fields(target("openai"), tools=tools)
    assert len(fields(target("mistral"), tools=tools)[0]["tools"]) == 129


@pytest.mark.parametrize("demands", [True, False])
def test_the_history_calls_get_definitions_only_where_they_are_demanded(demands):
    to = target("strict", demands_tools=demands)
    exchange = Exchange(1, (call("read", "a"), call("read", "b")), (success("a"), success("b")))
    body, decisions = printed([HI, exchange], to)
    if demands:
        assert [tool["function"]["name"] for tool in body["tools"]] == ["read"]
        assert body["tool_choice"] == "none"
        assert [(str(one.action), one.reason) for one in decisions] == [("inserted", "dummy-tools")]
    else:
        assert "tools" not in body
        assert decisions == []
    assert_valid(body, to)


def test_options_are_spelled_in_the_words_of_the_target():
    options: dict[str, Any] = {"max_tokens": 10, "temperature": 0.5, "stream": True, "extra": {"top_p": 0.9}}
    to = target("openai", max_tokens_field="max_completion_tokens")
    assert fields(to, **options) == (
        {
            "model": "openai-model",
            "max_completion_tokens": 10,
            "temperature": 0.5,
            "stream": True,
            "stream_options": {"include_usage": True},
            "top_p": 0.9,
        },
        [],
    )
    assert_openai_types_accept({**fields(to, **options)[0], "messages": [{"role": "user", "content": "hi"}]})
    assert fields(target("mistral"), **options)[0] == {
        "model": "mistral-model",
        "max_tokens": 10,
        "temperature": 0.5,
        "stream": True,
        "top_p": 0.9,
    }


def test_a_temperature_is_left_out_where_the_model_takes_none():
    assert fields(target("openai", temperature=False), temperature=1.0) == (
        {"model": "openai-model"},
        [("adjusted", "temperature")],
    )


ON, OFF = ThinkingSwitch.ON, ThinkingSwitch.OFF


@pytest.mark.parametrize(
    ("profile", "mode", "options", "expected", "reasons"),
    [
        ("kimi", ThinkingMode.SWITCH, {"thinking": ON}, {"thinking": {"type": "enabled"}}, []),
        ("deepseek", ThinkingMode.SWITCH, {"thinking": OFF}, {"thinking": {"type": "disabled"}}, []),
        ("kimi", ThinkingMode.SWITCH, {"effort": "low"}, {"reasoning_effort": "low"}, []),
        ("kimi", ThinkingMode.SWITCH, {"thinking": ON, "effort": "low"}, {"thinking": {"type": "enabled"}}, ["effort"]),
        ("kimi", ThinkingMode.ALWAYS, {"thinking": OFF}, {}, ["thinking-always-on"]),
        ("kimi", ThinkingMode.ALWAYS, {"thinking": ON}, {}, []),
        ("openai", ThinkingMode.NEVER, {"thinking": ON}, {}, ["thinking-unsupported"]),
        ("openai", ThinkingMode.NEVER, {"thinking": OFF}, {}, []),
        ("openai", ThinkingMode.NEVER, {"effort": "low"}, {}, ["thinking-unsupported"]),
        ("openai", ThinkingMode.EFFORT, {"effort": "high"}, {"reasoning_effort": "high"}, []),
        ("openai", ThinkingMode.EFFORT, {"thinking": OFF}, {"reasoning_effort": "low"}, ["thinking-always-on"]),
        ("openai", ThinkingMode.SWITCH, {"thinking": ON}, {"reasoning_effort": "medium"}, []),
        ("openai", ThinkingMode.SWITCH, {"thinking": ON, "effort": "low"}, {"reasoning_effort": "low"}, []),
        ("openai", ThinkingMode.SWITCH, {"thinking": OFF, "effort": "low"}, {"reasoning_effort": "none"}, []),
        ("mistral", ThinkingMode.SWITCH, {"thinking": ON}, {"reasoning_effort": "high"}, []),
        ("strict", ThinkingMode.SWITCH, {"thinking": ON}, {}, ["thinking-switch"]),
        ("strict", ThinkingMode.SWITCH, {"thinking": OFF}, {}, []),
        ("strict", ThinkingMode.EFFORT, {"thinking_budget": 100}, {"reasoning_effort": "low"}, ["thinking-budget"]),
    ],
)
def test_thinking_is_switched_in_the_words_of_the_profile(profile, mode, options, expected, reasons):
    said, decisions = fields(target(profile, thinking=mode), **options)
    said.pop("model")
    assert said == expected
    assert decisions == [("adjusted", reason) for reason in reasons]
