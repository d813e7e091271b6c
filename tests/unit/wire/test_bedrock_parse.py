"""Converse requests read back into conversations, also those that others wrote or that were refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from legato import parse, render
from legato.model import (
    Block,
    Choice,
    Entry,
    HostedTool,
    Media,
    MediaKind,
    Options,
    OutputFormat,
    Speaker,
    SpecKind,
    Text,
    ThinkingSwitch,
    ToolCall,
    ToolResponse,
)
from rule_targets import target_of_exchange

CLAUDE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
EXCHANGES = Path(__file__).resolve().parents[4] / "shared" / "samples" / "provider-exchanges"
PDF = {"document": {"name": "plan 0-1", "format": "pdf", "source": {"bytes": "JVBERi0="}}}
POINT = {"cachePoint": {"type": "default"}}


def read(*messages: Any, **around: Any) -> Any:
    return parse({"messages": list(messages), **around}, CLAUDE)


def test_results_come_before_what_was_said_beside_them() -> None:
    parsed = read(
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {}}}]},
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "tooluse_1",
                        "content": [{"text": "a"}, {"json": {"b": 1}}, PDF],
                        "status": "error",
                    }
                },
                {"text": "and?"},
                POINT,
            ],
        },
    )
    assert [entry.speaker for entry in parsed.entries] == [Speaker.HUMAN, Speaker.AI, Speaker.TOOL, Speaker.HUMAN]
    (response,) = parsed.entries[2].blocks
    assert isinstance(response, ToolResponse)
    assert (response.error, response.tool_name, response.media) == (
        'a\n{"b":1}',
        "read",
        (Media(MediaKind.DOCUMENT, "application/pdf", data="JVBERi0=", name="plan"),),
    )
    assert parsed.notes == []


def test_a_content_that_is_a_text_is_read_as_one() -> None:
    parsed = read({"role": "user", "content": "hi"}, system="Be brief.")
    assert ([entry.blocks for entry in parsed.entries], parsed.system) == ([(Text("hi"),)], "Be brief.")


def test_what_the_service_ran_itself_stays_in_the_answer() -> None:
    ran = {"toolUse": {"toolUseId": "tooluse_9", "name": "search", "input": {}, "type": "server_tool_use"}}
    gave = {"toolResult": {"toolUseId": "tooluse_9", "type": "nova_grounding_result", "content": [{"text": "x"}]}}
    messages = [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": [ran, gave, {"text": "so"}]},
        {"role": "user", "content": [{"text": "and?"}]},
    ]
    parsed = read(*messages, toolConfig={"tools": [{"systemTool": {"name": "search"}}]})
    assert [type(block) for block in parsed.entries[1].blocks] == [HostedTool, HostedTool, Text]
    request = render(parsed.conversation(), CLAUDE, tools=parsed.tools, options=Options(cache=False))
    request.verify()
    assert request.copy()["messages"] == messages


def test_what_is_not_understood_is_noted_with_its_place() -> None:
    parsed = read(
        {"role": "user", "content": [{"text": "hi"}, {"newBlock": {"a": 1}}]},
        {"role": "tool", "content": [{"text": "x"}]},
        {"role": "assistant", "content": []},
        toolConfig={"tools": [{"toolSpec": {"inputSchema": {}}}]},
    )
    assert parsed.notes == [
        "messages[0].content[1]: a newBlock block is not understood and was left out",
        "messages[1]: a message of role 'tool' is not understood and was left out",
        "messages[2]: the message is empty",
        "toolConfig.tools[0]: a tool without a name was left out",
    ]


@pytest.mark.parametrize(
    ("own", "options"),
    [
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2048}},
            Options(thinking=ThinkingSwitch.ON, thinking_budget=2048),
        ),
        (
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            Options(thinking=ThinkingSwitch.ON, effort="low"),
        ),
        (
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}},
            Options(thinking=ThinkingSwitch.ON, effort="high"),
        ),
        ({"reasoningConfig": {"type": "disabled"}}, Options(thinking=ThinkingSwitch.OFF)),
        ({"reasoning_effort": "low"}, Options(effort="low")),
    ],
)
def test_thinking_is_read_in_the_words_of_every_maker(own: Any, options: Options) -> None:
    read_options = read({"role": "user", "content": [{"text": "hi"}]}, additionalModelRequestFields=own).options
    assert (read_options.thinking, read_options.thinking_budget, read_options.effort, read_options.extra) == (
        options.thinking,
        options.thinking_budget,
        options.effort,
        {},
    )


def test_options_tools_and_marks_are_read() -> None:
    spec = {"name": "read", "inputSchema": {"json": {"type": "object"}}, "strict": True}
    parsed = read(
        {"role": "user", "content": [{"text": "hi"}, {"cachePoint": {"type": "default", "ttl": "1h"}}]},
        modelId="us.amazon.nova-2-lite-v1:0",
        inferenceConfig={"maxTokens": 9, "temperature": 0.5, "stopSequences": ["END"], "new": 1},
        toolConfig={
            "tools": [{"toolSpec": spec}, {"systemTool": {"name": "ground"}}, POINT],
            "toolChoice": {"any": {}},
        },
        outputConfig={
            "textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": '{"type":"object"}'}}}
        },
    )
    options = parsed.options
    assert (options.max_tokens, options.temperature, options.stop, options.choice, options.cache_ttl) == (
        9,
        0.5,
        ("END",),
        Choice.REQUIRED,
        "1h",
    )
    assert (options.output, options.extra) == (
        OutputFormat(schema={"type": "object"}),
        {"inferenceConfig": {"new": 1}},
    )
    assert [(tool.name, tool.kind, tool.strict) for tool in parsed.tools] == [
        ("read", SpecKind.FUNCTION, True),
        ("ground", SpecKind.HOSTED, None),
    ]
    assert parsed.model == "us.amazon.nova-2-lite-v1:0"


# --- recorded ---------------------------------------------------------------------------------------------------------


def meaning(entries: list[Entry]) -> list[tuple[Speaker, list[Block]]]:
    """Who says what, whatever ids the calls have."""
    return [(entry.speaker, [_without_id(block) for block in entry.blocks]) for entry in entries]


def _without_id(block: Block) -> Block:
    return replace(block, wire_id="") if isinstance(block, ToolCall | ToolResponse) else block


@pytest.mark.skipif(not EXCHANGES.is_dir(), reason="the recorded exchanges are not on this machine")
def test_recorded_requests_come_home_with_their_meaning() -> None:
    kept = 0
    for line in (EXCHANGES / "accepted_tool_turns.jsonl").read_text(encoding="utf-8").splitlines():
        exchange = json.loads(line)
        target = target_of_exchange(exchange["host"], exchange["path"], "")
        if not exchange["host"].startswith("bedrock-runtime") or target is None:
            continue
        parsed = parse(exchange["request"], target)
        assert parsed.notes == []
        request = render(parsed.conversation(), target, tools=parsed.tools, options=parsed.options)
        request.verify()
        again = parse(request.copy(), target)
        assert meaning(again.entries) == meaning(parsed.entries)
        kept += 1
    assert kept >= 15
