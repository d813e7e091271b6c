"""The floor: what a converter costs that trusts its input.

Two short functions, as somebody would write them who needs Anthropic bodies from a good history and nothing else. They
pair nothing, check nothing, close nothing and rename nothing; they only join what the API wants in one message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from legato.model import Entry, Speaker, Text, ToolCall, ToolResponse
from legato.model.tools import ToolSpec


def body_of_entries(entries: Iterable[Entry], model: str, system: str, tools: Iterable[ToolSpec]) -> dict[str, Any]:
    """Recorded entries as an Anthropic body."""
    messages: list[dict[str, Any]] = []
    last = ""
    content: list[dict[str, Any]] = []
    for entry in entries:
        role = "assistant" if entry.speaker is Speaker.AI else "user"
        if role != last:
            content = []
            messages.append({"role": role, "content": content})
            last = role
        for block in entry.blocks:
            if type(block) is ToolResponse:
                content.append({"type": "tool_result", "tool_use_id": block.wire_id, "content": block.result})
            elif type(block) is ToolCall:
                content.append({"type": "tool_use", "id": block.wire_id, "name": block.name, "input": block.arguments})
            elif type(block) is Text:
                content.append({"type": "text", "text": block.text})
    return _body(messages, model, system, tools)


def body_of_chat(chat: Iterable[dict[str, Any]], model: str, system: str, tools: Iterable[ToolSpec]) -> dict[str, Any]:
    """Chat messages as an Anthropic body."""
    messages: list[dict[str, Any]] = []
    last = ""
    content: list[dict[str, Any]] = []
    for message in chat:
        sender = message["role"]
        role = "assistant" if sender == "assistant" else "user"
        if role != last:
            content = []
            messages.append({"role": role, "content": content})
            last = role
        text = message["content"]
        if sender == "tool":
            content.append({"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text})
            continue
        if text:
            content.append({"type": "text", "text": text})
        for call in message.get("tool_calls", ()):
            function = call["function"]
            given = orjson.loads(function["arguments"])
            content.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": given})
    return _body(messages, model, system, tools)


def _body(messages: list[dict[str, Any]], model: str, system: str, tools: Iterable[ToolSpec]) -> dict[str, Any]:
    return {
        "model": model,
        "max_tokens": 32_000,
        "system": system,
        "tools": [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools
        ],
        "messages": messages,
    }
