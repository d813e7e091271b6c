"""What a tool gave is kept, whatever JSON a program put in the place of text and parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from legato import carry, parse
from legato.model import Text, ToolResponse

Body: TypeAlias = dict[str, Any]

OBJECT = ({"celsius": 21}, '{"celsius":21}')
NUMBER = (21, "21")
TRUTH = (True, "true")
STRINGS = (["21 degrees"], "21 degrees")


def typed(kind: str) -> list[tuple[Any, str]]:
    """A part alone, a part with something else than text in it, and one that nobody knows."""
    return [
        ({"type": kind, "text": "21 degrees"}, "21 degrees"),
        ([{"type": kind, "text": {"celsius": 21}}], f'{{"type":"{kind}","text":{{"celsius":21}}}}'),
        ([{"type": "reading", "celsius": 21}], '{"type":"reading","celsius":21}'),
    ]


def anthropic(content: Any) -> Body:
    use = {"type": "tool_use", "id": "toolu_a", "name": "measure", "input": {}}
    gave = {"type": "tool_result", "tool_use_id": "toolu_a", "content": content}
    return {"messages": [{"role": "assistant", "content": [use]}, {"role": "user", "content": [gave]}]}


def chat(content: Any) -> Body:
    call = {"id": "call_a", "type": "function", "function": {"name": "measure", "arguments": "{}"}}
    return {
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_a", "content": content},
        ]
    }


def responses(output: Any) -> Body:
    call = {"type": "function_call", "call_id": "call_a", "name": "measure", "arguments": "{}"}
    return {"input": [call, {"type": "function_call_output", "call_id": "call_a", "output": output}]}


def gemini(response: Any) -> Body:
    call = {"functionCall": {"name": "measure", "args": {}}}
    gave = {"functionResponse": {"name": "measure", "response": response}}
    return {"contents": [{"role": "model", "parts": [call]}, {"role": "user", "parts": [gave]}]}


def bedrock(content: Any) -> Body:
    use = {"toolUse": {"toolUseId": "a", "name": "measure", "input": {}}}
    gave = {"toolResult": {"toolUseId": "a", "content": content}}
    return {"messages": [{"role": "assistant", "content": [use]}, {"role": "user", "content": [gave]}]}


def vercel(value: Any) -> Body:
    call = {"type": "tool-call", "toolCallId": "a", "toolName": "measure", "input": {}}
    output = {"type": "content", "value": value}
    gave = {"type": "tool-result", "toolCallId": "a", "toolName": "measure", "output": output}
    return {"messages": [{"role": "assistant", "content": [call]}, {"role": "tool", "content": [gave]}]}


SOURCES: dict[str, tuple[Callable[[Any], Body], list[tuple[Any, str]]]] = {
    "anthropic/claude-sonnet-4-5": (anthropic, [OBJECT, NUMBER, TRUTH, STRINGS, *typed("text")]),
    "openai/gpt-4o": (
        chat,
        [
            OBJECT,
            NUMBER,
            TRUTH,
            STRINGS,
            *typed("text"),
            *typed("output_text"),
            ([{"text": "21 degrees"}], "21 degrees"),
        ],
    ),
    "openai-responses/gpt-5.1": (responses, [OBJECT, NUMBER, TRUTH, STRINGS, *typed("input_text")]),
    "gemini/gemini-2.5-pro": (gemini, [("21 degrees", "21 degrees"), NUMBER, TRUTH, ([21, 22], "[21,22]")]),
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0": (
        bedrock,
        [
            OBJECT,
            NUMBER,
            TRUTH,
            STRINGS,
            ({"text": "21 degrees"}, "21 degrees"),
            ([{"text": {"celsius": 21}}], '{"text":{"celsius":21}}'),
        ],
    ),
    "vercel/openai/gpt-4o": (vercel, [("21 degrees", "21 degrees"), OBJECT, NUMBER, STRINGS, *typed("text")]),
}
ODD = [
    pytest.param(source, make(value), told, id=f"{source.partition('/')[0]}-{value}")
    for source, (make, values) in SOURCES.items()
    for value, told in values
]


@pytest.mark.parametrize(("source", "body", "told"), ODD)
@pytest.mark.req("REQ-915-006")
def test_a_result_of_any_shape_is_told_to_another_provider(source: str, body: Body, told: str) -> None:
    if source == "openai/gpt-4o":
        assert carry(body, source, "openai-responses/gpt-5.1").body["input"][-1]["output"] == told
    else:
        assert carry(body, source, "openai/gpt-4o").body["messages"][-1]["content"] == told


@pytest.mark.parametrize("source", SOURCES)
def test_a_result_that_is_null_is_empty(source: str) -> None:
    (response,) = parse(SOURCES[source][0](None), source).entries[-1].blocks
    assert isinstance(response, ToolResponse)
    assert not response.result


def test_what_is_kept_as_its_json_is_named_with_its_place() -> None:
    parsed = parse(anthropic([{"type": "reading"}, 21]), "anthropic/claude-sonnet-4-5")
    assert parsed.adjusted == [
        "messages[1].content[0].content[0]: a part of type 'reading' is kept as its JSON",
        "messages[1].content[0].content[1]: what is neither text nor a part is kept as its JSON",
    ]


def test_the_texts_of_a_chat_answer_may_be_plain_strings() -> None:
    parsed = parse({"messages": [{"role": "assistant", "content": ["ONE", " TWO"]}]}, "openai/gpt-4o")
    assert (parsed.entries[0].blocks, parsed.notes) == ((Text("ONE TWO"),), [])
