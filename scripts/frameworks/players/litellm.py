"""LiteLLM: `acompletion` in a loop of one's own, as its documentation shows it."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch prices from the network

import litellm

from legato.integrations.litellm import legato_handler
from scripts.frameworks.damages import Role
from scripts.frameworks.playing import read_file

KEY = "a key of no value"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a text file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]
MODELS = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "openai": "openai/gpt-4.1",
    "openai-responses": "openai/responses/gpt-5",
    "gemini": "gemini/gemini-3-pro-preview",
    "mistral": "mistral/mistral-large-latest",
}
litellm.suppress_debug_info = True


class Player:
    """A loop around `acompletion`."""

    families = tuple(MODELS)

    def __init__(self, urls: dict[str, str]) -> None:
        self._urls = urls

    async def turn(self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool) -> list[Any]:
        """Say `text`, and run the tools until there is an answer."""
        litellm.callbacks = [legato_handler()] if legato else []
        messages = [*history, {"role": "user", "content": text}]
        asked: dict[str, Any] = {"model": MODELS[family], "tools": TOOLS, "max_tokens": 8192, "max_retries": 0}
        asked |= {"api_base": self._urls[family], "api_key": KEY}
        if thinks and family == "anthropic":
            asked["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        if family == "openai-responses":
            asked |= {"store": False, "include": ["reasoning.encrypted_content"]}
        while True:
            answer: Any = await litellm.acompletion(messages=messages, **asked)
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return messages
            for call in message.tool_calls:
                found = read_file(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": found})

    def explode(self, history: list[Any]) -> list[Any]:
        """Every result is a message."""
        return history

    def role(self, message: Any) -> Role:
        """By the role of the message."""
        role = message["role"] if isinstance(message, dict) else message.role
        return {"assistant": Role.ANSWER, "tool": Role.RESULT}.get(role, Role.SAID)

    def twin(self, message: Any) -> Any:
        """Messages have no ids."""
        return message

    def dumped(self, history: list[Any]) -> Any:
        """As `model_dump()` gives it."""
        return [one if isinstance(one, dict) else one.model_dump(exclude_none=True) for one in history]
