"""Whose request a body is: its shapes say so before the name of its model does."""

from __future__ import annotations

from typing import Any

import pytest

from legato.formats import Level, lint_document, read
from legato.formats.wire.shapes import wire_format
from session_files import gave, text, use, whole

USER: dict[str, Any] = {"role": "user", "content": "hi"}
SYSTEM: dict[str, Any] = {"role": "system", "content": "Be brief."}
CHAT_TOOL = {"type": "function", "function": {"name": "get", "parameters": {"type": "object"}}}
ANTHROPIC_TOOL = {"name": "get", "input_schema": {"type": "object"}}
CLAUDE = "claude-sonnet-4-5"


def body(*messages: dict[str, Any], model: str = CLAUDE, **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": list(messages or (USER,)), **fields}


@pytest.mark.parametrize(
    "value",
    [
        body(SYSTEM, USER, model="anthropic/claude-opus-4.7", max_tokens=80, tools=[CHAT_TOOL]),
        body(SYSTEM, USER, model="anthropic/claude-opus-4.7", max_tokens=80),
        body(SYSTEM, USER, max_tokens=80, tools=[CHAT_TOOL]),
        body(USER, max_tokens=80, response_format={"type": "json_object"}),
        body(USER, {"role": "tool", "tool_call_id": "c", "content": "ok"}, max_tokens=80),
        body(
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]}, max_tokens=9
        ),
        body(USER),
    ],
)
def test_a_claude_model_asked_in_the_form_of_chat_is_chat(value: dict[str, Any]) -> None:
    assert wire_format(value) == ("openai-chat", f"messages, and the model {value['model']}")


@pytest.mark.parametrize(
    "value",
    [
        body(USER, {"role": "assistant", "content": [use("toolu_1")]}),
        body(USER, {"role": "user", "content": [gave("toolu_1")]}, model="m"),
        body(system="Be brief."),
        body(system=[text("Be brief.")], model="anthropic/claude-opus-4.7"),
        body(tools=[ANTHROPIC_TOOL]),
        body(stop_sequences=["END"]),
        body({"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}]}),
        body(SYSTEM, USER, max_tokens=100),
    ],
)
def test_a_body_in_the_form_of_anthropic_is_one_without_max_tokens_too(value: dict[str, Any]) -> None:
    found = wire_format(value)
    assert found is not None
    assert found[0] == "anthropic"


def test_thoughts_of_mistral_are_no_thoughts_of_anthropic() -> None:
    thought = {"type": "thinking", "thinking": [text("hm")]}
    found = wire_format(body(USER, {"role": "assistant", "content": [thought]}, model="magistral-medium-latest"))
    assert found == ("mistral", "messages, and the model magistral-medium-latest")


@pytest.mark.parametrize("block", [{"toolUse": {"name": "get"}}, {"toolResult": {"content": []}}, {"cachePoint": {}}])
def test_blocks_of_bedrock_are_told_by_their_key(block: dict[str, Any]) -> None:
    found = wire_format(body({"role": "user", "content": [{"text": "hi"}, block]}))
    assert found == ("bedrock", "content blocks named by a key")


def test_the_missing_max_tokens_of_anthropic_is_found_where_the_caller_says_that_it_is_one() -> None:
    data = whole(body())
    missing = ("anthropic/max-tokens", "max_tokens")

    for found in (lint_document(read(data), "anthropic"), lint_document(read(data, format="anthropic"))):
        assert [(finding.rule, finding.place) for finding in found] == [missing]
    assert lint_document(read(data), "anthropic")[0].repair == "repair --from anthropic adds it"


def test_the_missing_max_tokens_is_a_risk_where_a_claude_may_be_asked_by_anyone() -> None:
    found = lint_document(read(whole(body())))
    assert [(finding.rule, finding.level, finding.targets) for finding in found] == [
        ("anthropic/max-tokens", Level.RISK, ("anthropic",))
    ]
    for other in (body(model="anthropic/claude-opus-4.7"), body(SYSTEM, USER), body(tools=[CHAT_TOOL]), body(n=1)):
        assert lint_document(read(whole(other))) == []
    assert lint_document(read(whole([USER]))) == []


def test_a_chat_request_of_another_model_is_not_judged_as_one_of_anthropic() -> None:
    assert lint_document(read(whole(body(model="gpt-4o"))), "anthropic") == []
    assert lint_document(read(whole(body(SYSTEM, USER, tools=[CHAT_TOOL]))), "anthropic") == []
