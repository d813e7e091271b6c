"""Calls and results on the wrong side of a body, and ids that are no strings, are read as what they are."""

from __future__ import annotations

from typing import Any

import pytest

from legato import parse, render
from legato.model import Speaker, Text, ToolCall, ToolResponse
from legato.wire.findings import Severity

from builders import ROUTES
from histories import SOURCES, WRONG_SIDES, Step, results_in

sources = pytest.mark.parametrize("source", SOURCES)


def told(body: dict[str, Any], source: str) -> list[tuple[Speaker, str]]:
    """Who says what, block by block."""
    found: list[tuple[Speaker, str]] = []
    for entry in parse(body, source).entries:
        for block in entry.blocks:
            match block:
                case Text():
                    found.append((entry.speaker, block.text))
                case ToolCall():
                    found.append((entry.speaker, f"{block.wire_id}: {block.arguments['path']}"))
                case ToolResponse():
                    found.append((entry.speaker, f"{block.wire_id}: {block.result}"))
                case _:
                    raise AssertionError(block)
    return found


@sources
@pytest.mark.req("REQ-915-006")
def test_calls_and_results_on_the_wrong_side_are_read_as_what_they_are(source: str) -> None:
    assert told(SOURCES[source](WRONG_SIDES), source) == [
        (Speaker.HUMAN, "hello"),
        (Speaker.AI, "call_a: a.txt"),
        (Speaker.TOOL, "call_a: A"),
        (Speaker.AI, "call_b: b.txt"),
        (Speaker.TOOL, "call_b: B"),
        (Speaker.AI, "call_c: c.txt"),
        (Speaker.TOOL, "call_c: C"),
        (Speaker.HUMAN, "and now?"),
    ]


@sources
@pytest.mark.parametrize("target", ROUTES)
@pytest.mark.req("REQ-915-008", "REQ-915-011")
def test_what_was_on_the_wrong_side_is_never_sent_back_there(source: str, target: str) -> None:
    parsed = parse(SOURCES[source](WRONG_SIDES), source)
    assert parsed.adjusted
    request = render(parsed.conversation(), target)
    assert [found for found in request.check() if found.severity is Severity.REFUSED] == []
    assert [call.completion for call in request.report.emitted] == ["success"] * 3
    assert len(results_in(request.body)) == 3


@sources
@pytest.mark.parametrize("ids", [(1, 2), (2, 1), (0, 1.5), (True, "true "), ({"a": 1}, {"a": 2})], ids=str)
def test_ids_that_are_no_strings_still_tell_results_apart(source: str, ids: tuple[Any, Any]) -> None:
    one, two = ids
    steps = [
        Step("call", "a.txt", one),
        Step("call", "b.txt", two),
        Step("result", "B", two),
        Step("result", "A", one),
    ]
    ledger = parse(SOURCES[source](steps), source).conversation().ledger
    assert [(call.arguments["path"], call.response and call.response.result) for call in ledger.in_order] == [
        ("a.txt", "A"),
        ("b.txt", "B"),
    ]


@sources
@pytest.mark.parametrize("missing", ["", None])
def test_results_without_ids_answer_calls_of_different_tools_in_their_order(source: str, missing: str | None) -> None:
    steps = [
        Step("call", "a.txt", missing, "read"),
        Step("call", "b.txt", missing, "grep"),
        Step("result", "A", missing, "read"),
        Step("result", "B", missing, "grep"),
    ]
    ledger = parse(SOURCES[source](steps), source).conversation().ledger
    assert [(call.arguments["path"], call.response and call.response.result) for call in ledger.in_order] == [
        ("a.txt", "A"),
        ("b.txt", "B"),
    ]


def test_words_around_a_result_in_an_answer_stay_where_they_stood() -> None:
    use = {"type": "tool_use", "id": "toolu_a", "name": "read", "input": {"path": "a.txt"}}
    gave = {"type": "tool_result", "tool_use_id": "toolu_a", "content": "A"}
    content = [{"type": "text", "text": "I look"}, use, gave, {"type": "text", "text": "it says A"}]
    body = {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": content}]}
    assert told(body, "anthropic/claude-sonnet-4-5") == [
        (Speaker.HUMAN, "go"),
        (Speaker.AI, "I look"),
        (Speaker.AI, "toolu_a: a.txt"),
        (Speaker.TOOL, "toolu_a: A"),
        (Speaker.AI, "it says A"),
    ]


def test_a_chat_result_in_a_request_of_responses_is_a_result() -> None:
    items = [
        {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": '{"path": "a.txt"}'},
        {"role": "tool", "tool_call_id": "call_a", "content": "A"},
    ]
    assert told({"input": items}, "openai-responses/gpt-5.1") == [
        (Speaker.AI, "call_a: a.txt"),
        (Speaker.TOOL, "call_a: A"),
    ]
