"""LangChain: its message objects, formatted by its Anthropic integration."""

# What this imports lives in another environment than the one that is checked.
# pyright: reportMissingImports=false

from __future__ import annotations

import json
from typing import Any

from langchain_anthropic.chat_models import _format_messages
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

DISTRIBUTION = "langchain-anthropic"
MODEL = "claude-sonnet-4-5"


def load(messages: list[dict[str, Any]]) -> list[Any]:
    return [_load(message) for message in messages]


def _load(message: dict[str, Any]) -> Any:
    match message["role"]:
        case "assistant":
            calls = [
                {
                    "name": call["function"]["name"],
                    "args": json.loads(call["function"]["arguments"]),
                    "id": call["id"],
                    "type": "tool_call",
                }
                for call in message["tool_calls"]
            ]
            return AIMessage(content=message["content"], tool_calls=calls)
        case "tool":
            return ToolMessage(content=message["content"], tool_call_id=message["tool_call_id"])
        case _:
            return HumanMessage(content=message["content"])


def convert(objects: list[Any]) -> object:
    return _format_messages(objects, model=MODEL)


CONVERTERS = {"LangChain": (convert, False)}
