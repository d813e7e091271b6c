"""A call comes back in the kind and the namespace of the tool that it is for, in a body and in a stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.model import Dialect
from legato.simulation import SimulatedProvider
from legato.simulation.model.offers import read_offers
from legato.wire.dialects import dialect_parts
from simulation_support import post

FIND: dict[str, Any] = {
    "type": "function",
    "name": "find_song",
    "parameters": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
}
PATCH: dict[str, Any] = {"type": "custom", "name": "apply_patch", "format": {"type": "text"}}
SEARCH: dict[str, Any] = {"type": "tool_search", "execution": "client"}


def namespace(name: str) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "tools": [FIND]}


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


@pytest.fixture(params=[True, False], ids=["streamed", "whole"])
def stream(request: pytest.FixtureRequest) -> bool:
    return request.param


def items(stream: bool, tools: list[dict[str, Any]], *said: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The output of a response, without the parts that only name it."""
    body = {"model": "gpt-4.1", "stream": stream, "store": False, "tools": tools, "input": list(said), **more}
    outcome = post(SimulatedProvider("openai-responses"), json.dumps(body).encode())
    assert outcome.refusal is None, outcome.reply.body
    if stream:
        events = [
            json.loads(line[6:]) for line in outcome.reply.body.decode().splitlines() if line.startswith("data: {")
        ]
        assert events[-1]["type"] == "response.completed"
        output = [event["item"] for event in events if event["type"] == "response.output_item.done"]
        assert output == events[-1]["response"]["output"]
    else:
        output = json.loads(outcome.reply.body)["output"]
    return [{name: value for name, value in item.items() if name not in ("id", "call_id", "status")} for item in output]


def test_a_custom_tool_gets_its_text(stream: bool) -> None:
    asked = user('call apply_patch with {"input": "*** Begin Patch\\n+hi\\n"}')
    assert items(stream, [PATCH], asked) == [
        {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n+hi\n"}
    ]


def test_a_custom_tool_of_the_chat_api_gets_its_text() -> None:
    body = {
        "model": "gpt-4.1",
        "tools": [{"type": "custom", "custom": {"name": "apply_patch"}}],
        "messages": [{"role": "user", "content": "use apply_patch on everything"}],
    }
    read = json.loads(post(SimulatedProvider("openai"), json.dumps(body).encode()).reply.body)
    [call] = read["choices"][0]["message"]["tool_calls"]
    assert (call["type"], call["custom"]) == ("custom", {"name": "apply_patch", "input": "everything"})


def test_a_tool_in_a_namespace_is_called_there(stream: bool) -> None:
    assert items(stream, [namespace("mcp__songs")], user("use find_song on blue")) == [
        {"type": "function_call", "namespace": "mcp__songs", "name": "find_song", "arguments": '{"title":"blue"}'}
    ]


def test_two_servers_may_have_a_tool_of_the_same_name(stream: bool) -> None:
    tools = [namespace("mcp__songs"), namespace("mcp__more")]
    asked = user("use mcp__more.find_song on blue and use find_song on red")
    called = [(item["namespace"], item["name"], item["arguments"]) for item in items(stream, tools, asked)]
    assert called == [
        ("mcp__more", "find_song", '{"title":"blue"}'),
        ("mcp__songs", "find_song", '{"title":"red"}'),
    ]


def test_a_search_for_tools_is_an_item_of_its_own_and_what_it_finds_can_be_called(stream: bool) -> None:
    asked = user('use tool_search on songs then call find_song with {"title": "blue"}')
    [searched] = items(stream, [SEARCH], asked)
    assert searched == {"type": "tool_search_call", "execution": "client", "arguments": {"query": "songs"}}

    found = {
        "type": "tool_search_output",
        "call_id": "call_1",
        "execution": "client",
        "tools": [namespace("mcp__songs")],
    }
    [called] = items(stream, [SEARCH], asked, searched | {"call_id": "call_1"}, found | {"status": "completed"})
    assert (called["namespace"], called["name"]) == ("mcp__songs", "find_song")


def test_tools_that_were_added_in_the_middle_are_offered(stream: bool) -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [PATCH]}
    [called] = items(stream, [], added, user("use apply_patch on everything"))
    assert (called["type"], called["input"]) == ("custom_tool_call", "everything")


@pytest.mark.parametrize(
    ("provider", "more"),
    [("openai", {"parallel_tool_calls": False}), ("anthropic", {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}})],
)  # fmt: skip
def test_one_call_is_made_where_only_one_is_wanted(provider: str, more: dict[str, Any]) -> None:
    schema = FIND["parameters"]
    tools = {
        "openai": [{"type": "function", "function": {"name": "find_song", "parameters": schema}}],
        "anthropic": [{"name": "find_song", "input_schema": schema}],
    }
    body = {
        "model": {"openai": "gpt-4.1", "anthropic": "claude-opus-4-8"}[provider],
        "max_tokens": 500,
        "tools": tools[provider],
        "messages": [{"role": "user", "content": "use find_song on blue and red"}],
    }
    for extra, count in (({}, 2), (more, 1)):
        reply = post(SimulatedProvider(provider), json.dumps(body | extra).encode()).reply
        assert reply.body.count(b"find_song") - reply.body.count(b"I will use") == count


def test_a_tool_that_the_provider_runs_itself_is_not_called_as_a_function() -> None:
    hosted = {"type": "web_search_20250305", "name": "web_search"}
    function = {"name": "read", "input_schema": {"type": "object"}}
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "tools": [hosted, function]}
    parsed = dialect_parts(Dialect.ANTHROPIC).parse(body)
    assert len(parsed.tools) == 2
    assert [offer.name for offer in read_offers(body, Dialect.ANTHROPIC, parsed.tools)] == ["read"]
