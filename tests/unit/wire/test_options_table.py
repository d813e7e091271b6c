"""What every dialect must say about the options of a request: a row for each situation, a column for each dialect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import render
from legato.errors import ImpossibleRequest
from legato.model import Choice, NameRule, Options, Target, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.request.catalogue import resolve, with_capabilities
from legato.wire.options.efforts import SCALE

from builders import calls, result, talk, user

COLUMNS = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-3-pro-preview",
    "chat": "openai/gpt-4o",
    "kimi": "kimi/kimi-k2.5",
    "responses": "openai-responses/gpt-4o",
    "vercel": "vercel/any",
    "bedrock": "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
ON, OFF = ThinkingSwitch.ON, ThinkingSwitch.OFF
READ, ODD = ToolSpec("read"), ToolSpec("a tool!")

UNSUPPORTED = ("adjusted", "thinking-unsupported", "the model does not think")
ALWAYS_ON = ("adjusted", "thinking-always-on", "the model's thinking cannot be switched off")
LITTLE = ("adjusted", "thinking-always-on", f"{ALWAYS_ON[2]}, so it is asked to think little")
NO_DEGREES = ("adjusted", "effort", "the model's thinking has no degrees")
NO_BUDGET = ("adjusted", "thinking-budget", "the model's thinking takes no budget")
NO_TEMPERATURE = ("adjusted", "temperature", "the model takes no temperature")
NO_TEMPERATURE_NOW = ("adjusted", "temperature", "the temperature cannot be set while the model thinks")
LOW_FOR_BUDGET = ("adjusted", "thinking-budget", "thinking is measured in efforts here: low, not 2000 tokens")
COUNTED = ("adjusted", "effort", "thinking is counted in tokens here: 2048 for low")
FORCED = ("adjusted", "forced-tool", "no tool can be forced while the model thinks, so it may choose")
TOO_LONG = ("adjusted", "max-tokens", "the model writes at most 8192 tokens, not 9000")
MADE_UP = ("inserted", "dummy-tools", "the history holds calls of read")


def column(name: str, **capabilities: Any) -> Target:
    same: dict[str, Any] = {
        "name_rule": NameRule.OPENAI,
        "thinking": ThinkingMode.NEVER,
        "thinking_default": False,
        "thinking_first": False,
        "reasoning_field": False,
        "call_signatures": False,
        "demands_tools": False,
        "temperature": True,
        "max_output": 8_192,
    }
    return with_capabilities(resolve(COLUMNS[name]), **(same | capabilities))


def decided(name: str, options: Options, capabilities: dict[str, Any], tools: tuple[ToolSpec, ...] = ()) -> Any:
    request = render(talk(user("hi")), column(name, **capabilities), options=options, tools=tools)
    assert request.check() == []
    return [(decision.action, decision.reason, decision.detail) for decision in request.report.decisions]


def thinks(mode: ThinkingMode, *, default: bool = True) -> dict[str, Any]:
    return {"thinking": mode, "thinking_default": default}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    ("options", "capabilities", "expected"),
    [
        (Options(), {}, []),
        (Options(max_tokens=100, temperature=0.5, stream=True), {}, []),
        (Options(temperature=0.5), {"temperature": False}, [NO_TEMPERATURE]),
        (Options(choice=Choice.AUTO), {}, []),
        # A model that does not think.
        (Options(thinking=ON), {}, [UNSUPPORTED]),
        (Options(effort="low"), {}, [UNSUPPORTED]),
        (Options(thinking_budget=2000), {}, [UNSUPPORTED]),
        (Options(thinking=ON, effort="low", thinking_budget=2000), {}, [UNSUPPORTED]),
        (Options(thinking=OFF), {}, []),
        (Options(thinking=OFF, effort="low"), {}, []),
        # One that always does.
        (Options(thinking=ON), thinks(ThinkingMode.ALWAYS), []),
        (Options(thinking=OFF), thinks(ThinkingMode.ALWAYS), [ALWAYS_ON]),
        (Options(thinking=OFF, effort="low"), thinks(ThinkingMode.ALWAYS), [ALWAYS_ON]),
        (Options(effort="low"), thinks(ThinkingMode.ALWAYS), [NO_DEGREES]),
        (Options(thinking_budget=2000), thinks(ThinkingMode.ALWAYS), [NO_BUDGET]),
        (Options(effort="low", thinking_budget=2000), thinks(ThinkingMode.ALWAYS), [NO_DEGREES, NO_BUDGET]),
        # One that can be switched.
        (Options(thinking=ON), thinks(ThinkingMode.SWITCH), []),
        (Options(thinking=ON), thinks(ThinkingMode.SWITCH, default=False), []),
        (Options(thinking=OFF), thinks(ThinkingMode.SWITCH), []),
        (Options(thinking=OFF, effort="low", thinking_budget=2000), thinks(ThinkingMode.SWITCH), []),
        # One that thinks in degrees.
        (Options(effort="low"), thinks(ThinkingMode.EFFORT), []),
        (Options(thinking=ON, effort="low"), thinks(ThinkingMode.EFFORT), []),
        (Options(effort="low", thinking_budget=2000), thinks(ThinkingMode.EFFORT), [NO_BUDGET]),
        # Several at once come in one order.
        (Options(temperature=0.5, thinking=ON), {"temperature": False}, [NO_TEMPERATURE, UNSUPPORTED]),
    ],
)
def test_equal_capabilities_lead_to_equal_decisions_in_every_dialect(
    name: str, options: Options, capabilities: dict[str, Any], expected: object
) -> None:
    assert decided(name, options, capabilities) == expected


NOTHING: list[tuple[str, str, str]] = []
DIFFERENT: dict[str, tuple[Options, dict[str, Any], Any, dict[str, Any]]] = {
    # situation: options, capabilities, what most dialects decide, and what the format of the others makes of it
    "more tokens than the model writes": (
        Options(max_tokens=9_000),
        {},
        NOTHING,
        {"anthropic": [TOO_LONG], "gemini": [TOO_LONG], "bedrock": [TOO_LONG]},
    ),
    "fewer tokens than may be asked for": (
        Options(max_tokens=5),
        {},
        NOTHING,
        {"responses": [("adjusted", "max-tokens", "at least 16 tokens have to be allowed, not 5")]},
    ),
    "a temperature beyond any range": (
        Options(temperature=3),
        {},
        [("adjusted", "temperature", "3 is not between 0 and 2")],
        {
            "anthropic": [("adjusted", "temperature", "3 is not between 0 and 1")],
            "bedrock": [("adjusted", "temperature", "3 is not between 0 and 1")],
            "kimi": NOTHING,
            "vercel": NOTHING,
        },
    ),
    "a temperature while the model thinks": (
        Options(temperature=0.5),
        thinks(ThinkingMode.SWITCH),
        NOTHING,
        {"anthropic": [NO_TEMPERATURE_NOW], "bedrock": [NO_TEMPERATURE_NOW]},
    ),
    "a forced call while the model thinks": (
        Options(tool="read"),
        thinks(ThinkingMode.SWITCH),
        NOTHING,
        {"anthropic": [FORCED], "kimi": [FORCED], "bedrock": [FORCED]},
    ),
    "off for a model that thinks in degrees": (
        Options(thinking=OFF),
        thinks(ThinkingMode.EFFORT),
        [LITTLE],
        # The effort of the first is about more than thinking; the other has a word for off.
        {"anthropic": [ALWAYS_ON], "vercel": NOTHING},
    ),
    "a budget for a model that thinks in degrees": (
        Options(thinking_budget=2000),
        thinks(ThinkingMode.EFFORT),
        [LOW_FOR_BUDGET],
        {"anthropic": [NO_BUDGET]},
    ),
    "a budget for a model that can be switched": (
        Options(thinking_budget=2000),
        thinks(ThinkingMode.SWITCH),
        [LOW_FOR_BUDGET],
        {"anthropic": NOTHING, "gemini": NOTHING},
    ),
    "an effort beside the switch": (
        Options(thinking=ON, effort="low"),
        thinks(ThinkingMode.SWITCH),
        NOTHING,
        {
            "anthropic": [COUNTED],
            "gemini": [COUNTED],
            "kimi": [("adjusted", "effort", "the target takes no effort beside the switch for thinking")],
        },
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("situation", DIFFERENT)
def test_decisions_differ_only_where_formats_do(name: str, situation: str) -> None:
    options, capabilities, usual, otherwise = DIFFERENT[situation]
    assert decided(name, options, capabilities, (READ,)) == otherwise.get(name, usual)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_offered_tool_that_is_renamed_is_named(name: str) -> None:
    (renamed,) = decided(name, Options(), {}, (READ, ODD))
    assert renamed[:2] == ("renamed", "tool-name")
    assert renamed[2].startswith("a tool! is called a_tool_")


@pytest.mark.parametrize("name", COLUMNS)
def test_decisions_about_tools_come_first(name: str) -> None:
    capabilities = {"temperature": False, **thinks(ThinkingMode.ALWAYS)}
    decisions = decided(name, Options(temperature=1.0, thinking=OFF), capabilities, (ODD,))
    assert [reason for _, reason, _ in decisions] == ["tool-name", "temperature", "thinking-always-on"]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_history_with_calls_defines_the_tools_it_called_where_that_is_demanded(name: str) -> None:
    history = talk(user("go"), calls("a", name="read"), result("a", name="read"))
    request = render(history, column(name, demands_tools=True))
    decisions = [(one.action, one.reason, one.detail) for one in request.report.decisions]
    assert decisions == [MADE_UP]


@pytest.mark.parametrize(
    ("name", "hosted"),
    [
        ("anthropic", {"type": "web_search_20250305", "name": "web_search"}),
        ("gemini", {"googleSearch": {}}),
        ("responses", {"type": "web_search"}),
    ],
)
def test_tools_of_the_provider_are_definitions_enough(name: str, hosted: dict[str, Any]) -> None:
    history = talk(user("go"), calls("a", name="read"), result("a", name="read"))
    request = render(history, column(name, demands_tools=True), options=Options(extra={"tools": [hosted]}))
    assert request.copy()["tools"][-1].items() >= hosted.items()
    assert (len(request.body["tools"]), list(request.report.decisions)) == (1, [])


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    ("options", "tools", "told"),
    [
        (Options(choice=Choice.REQUIRED), (), "no tools are offered"),
        (Options(tool="read"), (), "no tools are offered"),
        (Options(tool="write"), (READ,), "'write' is to be called"),
    ],
)
def test_a_call_that_cannot_be_made_is_not_demanded(
    name: str, options: Options, tools: tuple[ToolSpec, ...], told: str
) -> None:
    with pytest.raises(ImpossibleRequest, match=told):
        decided(name, options, {}, tools)


ORDER = (
    "tool-name",
    "tool-choice",
    "forced-tool",
    "temperature",
    "thinking-unsupported",
    "thinking-always-on",
    "thinking-switch",
    "effort",
    "thinking-budget",
    "max-tokens",
)
ANY_OPTIONS = st.builds(
    Options,
    max_tokens=st.none() | st.integers(1, 20_000),
    temperature=st.none() | st.floats(-1, 3),
    choice=st.none() | st.sampled_from(Choice),
    tool=st.none() | st.just("read"),
    thinking=st.sampled_from(ThinkingSwitch),
    thinking_budget=st.none() | st.integers(0, 40_000),
    effort=st.none() | st.sampled_from((*SCALE, *map(str.upper, SCALE), "ultra", "off", "any", "")),
    stream=st.booleans(),
)


@pytest.mark.parametrize("name", COLUMNS)
@given(ANY_OPTIONS, st.sampled_from(ThinkingMode), st.booleans(), st.booleans())
def test_whatever_is_asked_for_the_request_is_accepted_and_nothing_is_said_twice(
    name: str, options: Options, mode: ThinkingMode, default: bool, temperature: bool
) -> None:
    capabilities = {"temperature": temperature, **thinks(mode, default=default and mode is not ThinkingMode.NEVER)}
    decisions = decided(name, options, capabilities, (READ, ODD))
    reasons = [reason for _, reason, _ in decisions]
    assert len(set(reasons)) == len(reasons)
    assert reasons == sorted(reasons, key=ORDER.index)
