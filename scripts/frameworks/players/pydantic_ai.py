"""Pydantic AI."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import replace
from typing import Any, ClassVar

from pydantic_ai import Agent
from pydantic_ai.capabilities import Hooks
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, RetryPromptPart, ToolReturnPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.mistral import MistralModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.mistral import MistralProvider
from pydantic_ai.providers.openai import OpenAIProvider

from legato.integrations.pydantic_ai import legato_request, settle_model_messages
from scripts.frameworks.damages import Role
from scripts.frameworks.tool import read_file

KEY = "a key of no value"


class Player:
    """Agents of Pydantic AI, one for each family."""

    families = ("anthropic", "openai", "openai-responses", "gemini", "mistral")
    own: ClassVar[dict[str, Any]] = {}

    def __init__(self, urls: dict[str, str]) -> None:
        openai = OpenAIProvider(base_url=urls["openai"], api_key=KEY)
        gemini = urls["gemini"].removesuffix("/v1beta")
        mistral = urls["mistral"].removesuffix("/v1")
        self._models: dict[str, Any] = {
            "anthropic": AnthropicModel(
                "claude-sonnet-4-5", provider=AnthropicProvider(base_url=urls["anthropic"], api_key=KEY)
            ),
            "openai": OpenAIChatModel("gpt-4.1", provider=openai),
            "openai-responses": OpenAIResponsesModel("gpt-5", provider=openai),
            "gemini": GoogleModel("gemini-3-pro-preview", provider=GoogleProvider(base_url=gemini, api_key=KEY)),
            "mistral": MistralModel("mistral-large-latest", provider=MistralProvider(base_url=mistral, api_key=KEY)),
        }

    async def turn(
        self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool, streams: bool = False
    ) -> list[Any]:
        """Say `text`."""
        capabilities = [Hooks(before_model_request=legato_request())] if legato else []
        history = settle_model_messages(history, self._models[family]) if legato else history
        agent = Agent(self._models[family], tools=[read_file], capabilities=capabilities)
        settings: Any = {"max_tokens": 4096}
        if thinks and family == "anthropic":
            settings = {"max_tokens": 8192, "anthropic_thinking": {"type": "enabled", "budget_tokens": 2048}}
        # Not `run_stream`, which takes the words before a call for the end of the run.
        handler = _read if streams else None
        done = await agent.run(text, message_history=history, model_settings=settings, event_stream_handler=handler)
        return done.all_messages()

    def explode(self, history: list[Any]) -> list[Any]:
        """Requests with one part each."""
        return [
            one
            for message in history
            for one in (
                [replace(message, parts=[part]) for part in message.parts]
                if isinstance(message, ModelRequest)
                else [message]
            )
        ]

    def role(self, message: Any) -> Role:
        """By the kind of the message, or of its one part."""
        if isinstance(message, ModelResponse):
            return Role.ANSWER
        is_result = isinstance(message.parts[0], ToolReturnPart | RetryPromptPart)
        return Role.RESULT if is_result else Role.SAID

    def twin(self, message: Any) -> Any:
        """Messages have no ids."""
        return message

    def dumped(self, history: list[Any]) -> Any:
        """As a program stores it."""
        return ModelMessagesTypeAdapter.dump_python(history, mode="json")


async def _read(_: Any, events: AsyncIterable[Any]) -> None:
    async for _event in events:
        pass
