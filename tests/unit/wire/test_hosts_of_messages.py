"""Hosts that speak Anthropic's Messages beside their own API: how they think, and what they demand of answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from legato import Options, parse, render, resolve
from legato.errors import ProtocolRefused
from legato.model import Dialect, ThinkingSwitch, ToolCall
from legato.request.known_models import known_models
from legato.transcript import Conversation
from legato.transport import classify, read_complaint, wire_request
from legato.wire.hosts import hosts_speaking

from builders import ai, call, origin, result, talk, thought, user

DEEPSEEK, KIMI, KIMI_3 = "deepseek-anthropic/deepseek-v4-pro", "kimi-anthropic/kimi-k2.6", "kimi-anthropic/kimi-k3"
QWEN, MINIMAX = "qwen-anthropic/qwen3.7-plus", "minimax-anthropic/MiniMax-M3"
ON, OFF = ThinkingSwitch.ON, ThinkingSwitch.OFF
PLACEHOLDER = {"type": "thinking", "thinking": " ", "signature": ""}


def about_thinking(route: str, **options: Any) -> dict[str, Any]:
    body = render(talk(user("hi")), route, options=Options(**options)).body
    return {name: body[name] for name in ("thinking", "output_config") if name in body}


@pytest.mark.parametrize(
    ("route", "options", "sent"),
    [
        (DEEPSEEK, {}, {}),
        (DEEPSEEK, {"thinking": ON}, {"thinking": {"type": "enabled"}}),
        (DEEPSEEK, {"thinking": OFF}, {"thinking": {"type": "disabled"}}),
        (DEEPSEEK, {"effort": "medium"}, {"output_config": {"effort": "high"}}),
        (DEEPSEEK, {"thinking": OFF, "effort": "max"}, {"thinking": {"type": "disabled"}}),
        (KIMI, {"thinking": ON, "effort": "high"}, {"thinking": {"type": "enabled"}}),
        (KIMI, {"thinking": OFF}, {"thinking": {"type": "disabled"}}),
        ("kimi-anthropic/kimi-k2.7-code", {"thinking": OFF}, {}),
        (KIMI_3, {"effort": "xhigh"}, {"output_config": {"effort": "max"}}),
        (KIMI_3, {"thinking": OFF}, {"output_config": {"effort": "low"}}),
        (QWEN, {"thinking_budget": 2048}, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (MINIMAX, {}, {}),
        (MINIMAX, {"thinking": ON}, {"thinking": {"type": "enabled", "budget_tokens": 4096}}),
        ("minimax-anthropic/MiniMax-M2.7", {"thinking": OFF}, {}),
    ],
)
def test_thinking_is_switched_as_each_host_documents_it(
    route: str, options: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert about_thinking(route, **options) == sent


def handed_over() -> Conversation:
    """A conversation in which another model called a tool."""
    return talk(user("hi"), ai(call("a")), result("a"), user("go on"))


def answers(body: Mapping[str, Any]) -> list[list[Any]]:
    return [message["content"] for message in body["messages"] if message["role"] == "assistant"]


@pytest.mark.parametrize(("route", "first"), [(DEEPSEEK, PLACEHOLDER), (KIMI, PLACEHOLDER), (KIMI_3, PLACEHOLDER)])
def test_calls_of_another_model_get_a_block_that_stands_in_for_a_thought(route: str, first: dict[str, Any]) -> None:
    request = render(handed_over(), route)
    [answer] = answers(request.body)

    assert (answer[0], [block["type"] for block in answer]) == (first, ["thinking", "tool_use"])
    assert "reasoning-placeholder" in [decision.reason for decision in request.report.decisions]
    request.verify()
    [read] = [entry for entry in parse(request.copy(), route).entries if any(map(is_call, entry.blocks))]
    assert [type(block) for block in read.blocks] == [ToolCall]


def is_call(block: object) -> bool:
    return isinstance(block, ToolCall)


@pytest.mark.parametrize("route", [QWEN, MINIMAX, "zai-anthropic/glm-4.7", "anthropic/claude-opus-4-8"])
def test_no_such_block_goes_to_those_who_do_not_ask_for_it(route: str) -> None:
    [answer] = answers(render(handed_over(), route).body)
    assert [block["type"] for block in answer] == ["tool_use"]


def test_nothing_stands_in_for_a_thought_while_thinking_is_off() -> None:
    [answer] = answers(render(handed_over(), DEEPSEEK, options=Options(thinking=OFF)).body)
    assert [block["type"] for block in answer] == ["tool_use"]


@pytest.mark.parametrize("native", [{"signature": "theirs"}, {}])
def test_a_thought_of_its_own_goes_back_signed_or_not(native: dict[str, str]) -> None:
    said = ai(thought("Look first.", **native), call("a"), origin=origin(DEEPSEEK))
    [answer] = answers(render(talk(user("hi"), said, result("a")), DEEPSEEK).body)

    assert answer[0] == {"type": "thinking", "thinking": "Look first.", "signature": "", **native}


def test_thoughts_do_not_go_through_the_other_door() -> None:
    said = ai(thought("Look first."), call("a"), origin=origin("deepseek/deepseek-v4-pro"))
    [answer] = answers(render(talk(user("hi"), said, result("a")), DEEPSEEK).body)

    assert answer[0] == PLACEHOLDER


PASSED_BACK = {
    "error": {
        "message": "The `content[].thinking` in the thinking mode must be passed back to the API.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_request_error",
    }
}
MISSING = {
    "error": {
        "type": "invalid_request_error",
        "message": "thinking is enabled but reasoning_content is missing in assistant tool call message at index 156",
    },
    "type": "error",
}


@pytest.mark.parametrize(("route", "body"), [(DEEPSEEK, PASSED_BACK), (KIMI, MISSING)])
def test_a_refusal_in_the_words_of_a_host_is_known_as_a_fault_of_the_request(route: str, body: dict[str, Any]) -> None:
    request = wire_request(resolve(route), b"{}", key=None, stream=False)
    error = classify(read_complaint(json.dumps(body).encode(), {}), request, status=400)
    assert isinstance(error, ProtocolRefused)


def test_a_second_door_has_the_models_and_prices_of_the_first() -> None:
    doors = hosts_speaking(Dialect.ANTHROPIC)
    assert [known_models(host.name) for host in doors] == [known_models(host.door_of) for host in doors]
    assert resolve(DEEPSEEK).capabilities.price_input == resolve("deepseek/deepseek-v4-pro").capabilities.price_input
