"""Pydantic AI: its message objects, mapped by its Anthropic model; the repair is the one its agents run each time."""

# What this imports lives in another environment than the one that is checked.
# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

DISTRIBUTION = "pydantic-ai-slim"
MODEL = AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(api_key="none"))
PARAMETERS = ModelRequestParameters()
LOOP = asyncio.new_event_loop()


def load(messages: list[dict[str, Any]]) -> list[Any]:
    """Results of one answer stand in one request, as its own agents record them."""
    loaded: list[Any] = []
    names: dict[str, str] = {}
    for message in messages:
        match message["role"]:
            case "assistant":
                parts: list[Any] = [TextPart(message["content"])]
                for call in message["tool_calls"]:
                    function = call["function"]
                    names[call["id"]] = function["name"]
                    parts.append(ToolCallPart(function["name"], json.loads(function["arguments"]), call["id"]))
                loaded.append(ModelResponse(parts=parts))
            case "tool":
                part = ToolReturnPart(names[message["tool_call_id"]], message["content"], message["tool_call_id"])
                if isinstance(last := loaded[-1], ModelRequest):
                    last.parts = [*last.parts, part]
                else:
                    loaded.append(ModelRequest(parts=[part]))
            case _:
                loaded.append(ModelRequest(parts=[UserPromptPart(message["content"])]))
    return loaded


def convert(objects: list[Any]) -> object:
    mapping = MODEL._map_message(objects, PARAMETERS, {})
    return _finished(mapping)


def repair_and_convert(objects: list[Any]) -> object:
    return convert(repair_messages(objects))


def _finished(work: Coroutine[Any, Any, object]) -> object:
    """What `work` returns. Nothing in it waits, so no event loop has to be paid for, unless it does."""
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value
    return LOOP.run_until_complete(work)


CONVERTERS = {"Pydantic AI": (convert, False), "Pydantic AI, repairing": (repair_and_convert, True)}
