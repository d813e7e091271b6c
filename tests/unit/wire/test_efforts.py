"""One scale of effort: what each family of models is sent for each word, and what the words of each dialect mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import parse, render
from legato.model import Choice, Options, ThinkingSwitch, ToolSpec
from legato.wire.findings import Severity
from legato.wire.options.efforts import SCALE, effort_for, effort_of_budget, effort_word

from builders import OTHER_ROUTES, ROUTES, calls, result, talk, user

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"

TABLE: dict[str, tuple[object, ...]] = {
    # route: what is sent for none, minimal, low, medium, high, xhigh, max; a number is a budget, True and False are
    # the switch alone, None is nothing at all
    "openai/o3": ("low", "low", "low", "medium", "high", "high", "high"),
    "openai/gpt-5": ("minimal", "minimal", "low", "medium", "high", "high", "high"),
    "openai/gpt-5-pro": ("high", "high", "high", "high", "high", "high", "high"),
    "openai/gpt-5-codex": ("low", "low", "low", "medium", "high", "high", "high"),
    "openai/gpt-5.1": ("none", "low", "low", "medium", "high", "high", "high"),
    "openai/gpt-5.1-codex-max": ("low", "low", "low", "medium", "high", "xhigh", "xhigh"),
    "openai-responses/gpt-5.2": ("none", "low", "low", "medium", "high", "xhigh", "xhigh"),
    "openai-responses/gpt-5.2-pro": ("medium", "medium", "medium", "medium", "high", "xhigh", "xhigh"),
    "openai/gpt-4o": (None, None, None, None, None, None, None),
    "anthropic/claude-sonnet-4-5": (False, 1_024, 2_048, 8_000, 8_000, 8_000, 8_000),
    "anthropic/claude-opus-4-6": (False, "low", "low", "medium", "high", "max", "max"),
    "anthropic/claude-opus-4-8": (False, "low", "low", "medium", "high", "xhigh", "max"),
    "anthropic/claude-opus-5": (False, "low", "low", "medium", "high", "xhigh", "max"),
    "anthropic/claude-fable-5-1": (None, "low", "low", "medium", "high", "xhigh", "max"),
    "gemini/gemini-2.5-pro": (128, 1_024, 2_048, 8_192, 16_384, 24_576, 32_768),
    "gemini/gemini-2.5-flash": (0, 1_024, 2_048, 8_192, 16_384, 24_576, 24_576),
    "gemini/gemini-3-pro-preview": ("low", "low", "low", "high", "high", "high", "high"),
    "gemini/gemini-3-flash-preview": ("minimal", "minimal", "low", "medium", "high", "high", "high"),
    "kimi/kimi-k2-thinking": (None, None, None, None, None, None, None),
    "kimi/kimi-k2.5": (False, "low", "low", "medium", "high", "high", "high"),
    "kimi/kimi-k3": ("low", "low", "low", "high", "high", "max", "max"),
    "deepseek/deepseek-reasoner": (None, None, None, None, None, None, None),
    "deepseek/deepseek-v4-pro": (False, "low", "low", "high", "high", "max", "max"),
}


def sent(body: Mapping[str, Any]) -> object:
    """What a request says about thinking: a word, a budget, or the switch."""
    thinking = body.get("generationConfig", {}).get("thinkingConfig", {})
    reasoning = body.get("reasoning")
    word = (
        body.get("reasoning_effort")
        or body.get("output_config", {}).get("effort")
        or (reasoning.get("effort") if isinstance(reasoning, dict) else reasoning)
        or thinking.get("thinkingLevel")
    )
    if word is not None:
        return word
    switch = body.get("thinking", {})
    budget = thinking.get("thinkingBudget", switch.get("budget_tokens"))
    return budget if budget is not None or not switch else switch["type"] != "disabled"


@pytest.mark.parametrize("route", TABLE)
def test_every_family_gets_its_own_word_for_every_effort(route: str) -> None:
    given_words = [render(talk(user("hi")), route, options=Options(effort=word)) for word in SCALE]
    assert [request.check() for request in given_words] == [[]] * len(SCALE)
    assert tuple(sent(request.body) for request in given_words) == TABLE[route]


def test_the_page_about_configuration_shows_this_table() -> None:
    shown = {
        cells[0].strip("`"): cells[1:]
        for line in PAGE.read_text(encoding="utf-8")
        .partition("### How hard to think")[2]
        .partition("## ")[0]
        .splitlines()
        if "/" in (cells := [cell.strip() for cell in line.strip("|").split("|")])[0] and len(cells) > 1
    }
    assert shown == {route: [as_shown(printed) for printed in row] for route, row in TABLE.items()}


def as_shown(printed: object) -> str:
    if isinstance(printed, int):
        return f"{printed:,}" if printed else "off"
    return "–" if printed is None else str(printed)


ALWAYS_THINKING = ("anthropic/claude-fable-5-1", "kimi/kimi-k2-thinking", "deepseek/deepseek-reasoner")


@pytest.mark.parametrize("route", TABLE)
def test_a_wish_that_is_not_met_to_the_letter_is_told(route: str) -> None:
    for word, printed in zip(SCALE, TABLE[route], strict=True):
        is_off = word == "none" and printed in (None, False, 0) and route not in ALWAYS_THINKING
        request = render(talk(user("hi")), route, options=Options(effort=word))
        assert bool(request.report.decisions) is not (printed == word or is_off)


@pytest.mark.parametrize(
    ("budget", "word"),
    [(1, "low"), (2_048, "low"), (2_049, "medium"), (8_192, "medium"), (8_193, "high"), (99_999, "high")],
)
def test_a_budget_is_an_effort_where_thinking_has_degrees(budget: int, word: str) -> None:
    assert effort_of_budget(budget) == word
    assert sent(render(talk(user("hi")), "openai/o3", options=Options(thinking_budget=budget)).body) == word


@pytest.mark.parametrize(
    ("model", "asked", "budget"),
    [
        ("gemini-2.5-pro", 5, 128),
        ("gemini-2.5-pro", 30_000, 30_000),
        ("gemini-2.5-pro", 99_999, 32_768),
        ("gemini-2.5-flash", 5, 5),
        ("gemini-2.5-flash", 30_000, 24_576),
        ("gemini-2.5-flash-lite", 5, 512),
        ("gemini-2.5-flash-lite", 0, 0),
        ("gemini-2.5-pro", 0, 128),
    ],
)
def test_a_budget_is_one_that_the_model_takes(model: str, asked: int, budget: int) -> None:
    request = render(talk(user("hi")), f"gemini/{model}", options=Options(thinking_budget=asked))
    assert (sent(request.body), request.check()) == (budget, [])
    assert bool(request.report.decisions) is (budget != asked)


def test_a_model_that_was_made_before_thinking_is_not_spoken_to_about_it() -> None:
    for options in (Options(thinking=ThinkingSwitch.OFF), Options(thinking=ThinkingSwitch.ON), Options(effort="low")):
        assert "generationConfig" not in render(talk(user("hi")), "gemini/gemini-2.0-flash", options=options).body


CLIENTS: dict[str, dict[str, Any]] = {
    "gemini/gemini-3-pro-preview": {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}},
    },
    "openai/gpt-5": {
        "model": "gpt-5",
        "messages": [{"role": "user", "content": "hi"}],
        "reasoning_effort": "high",
    },
    "openai-responses/gpt-5": {
        "model": "gpt-5",
        "input": [{"role": "user", "content": "hi"}],
        "reasoning": {"effort": "high"},
    },
    "anthropic/claude-opus-4-8": {
        "model": "claude-opus-4-8",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "output_config": {"effort": "high"},
    },
}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_same_wish_of_every_client_is_the_same_option(client: str) -> None:
    assert parse(CLIENTS[client], client).options.effort == "high"


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("route", TABLE)
def test_an_effort_crosses_to_every_family(client: str, route: str) -> None:
    request = render(talk(user("hi")), route, options=Options(effort=parse(CLIENTS[client], client).options.effort))
    assert sent(request.body) == TABLE[route][SCALE.index("high")]


@pytest.mark.parametrize("word", ["none", "NONE", "off"])
def test_none_switches_thinking_off(word: str) -> None:
    body = render(talk(user("hi")), "deepseek/deepseek-v4-pro", options=Options(effort=word)).body
    assert (body["thinking"], "reasoning_effort" in body) == ({"type": "disabled"}, False)


def test_an_effort_that_nobody_knows_is_left_out_and_named() -> None:
    request = render(talk(user("hi")), "openai/gpt-5", options=Options(effort="turbo"))
    assert "reasoning_effort" not in request.body
    assert [decision.reason for decision in request.report.decisions] == ["effort"]


@given(st.sampled_from(SCALE), st.lists(st.sampled_from(SCALE), unique=True))
def test_what_is_sent_is_a_word_of_the_family_and_never_weaker_than_it_has_to_be(word: str, known: list[str]) -> None:
    effort = effort_for(word, known)
    strengths = [SCALE.index(one) for one in known if one != "none"]
    if effort is None:
        assert not strengths
        return
    assert effort in known
    assert SCALE.index(effort) >= min(SCALE.index(word), max(strengths, default=0))


@given(st.text())
def test_reading_a_word_twice_is_reading_it_once(text: str) -> None:
    assert effort_word(effort_word(text)) == effort_word(text)


FAMILIES = tuple(dict.fromkeys((*ROUTES, *OTHER_ROUTES, *TABLE)))
ANY_OPTIONS = st.builds(
    Options,
    max_tokens=st.none() | st.integers(1, 40_000),
    temperature=st.none() | st.floats(-1, 3),
    choice=st.none() | st.sampled_from(Choice),
    tool=st.none() | st.just("read"),
    thinking=st.sampled_from(ThinkingSwitch),
    thinking_budget=st.none() | st.integers(0, 40_000),
    effort=st.none() | st.sampled_from((*SCALE, "HIGH", "Medium", "ultra", "off", "any", "")),
    stream=st.booleans(),
)


@pytest.mark.parametrize("route", FAMILIES)
@given(ANY_OPTIONS)
def test_whatever_is_asked_of_a_model_the_request_is_one_that_it_accepts(route: str, options: Options) -> None:
    history = talk(user("go"), calls("a", name="read"), result("a", name="read"))
    request = render(history, route, options=options, tools=(ToolSpec("read"),))
    assert [violation for violation in request.check() if violation.severity is Severity.REFUSED] == []
