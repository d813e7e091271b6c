"""OpenAI Agents SDK: its own models for OpenAI, LiteLLM's for the others."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from agents.extensions.models.litellm_model import LitellmModel
from openai import AsyncOpenAI
from openai.types.shared import Reasoning

from legato.integrations.openai_agents import legato_input_filter
from scripts.frameworks.damages import Role
from scripts.frameworks.playing import read_file

KEY = "a key of no value"
set_tracing_disabled(True)


class Player:
    """Agents of the SDK, one for each family."""

    families = ("anthropic", "openai", "openai-responses", "gemini", "mistral")

    def __init__(self, urls: dict[str, str]) -> None:
        client = AsyncOpenAI(base_url=urls["openai"], api_key=KEY, max_retries=0)
        self._models: dict[str, Any] = {
            "anthropic": LitellmModel("anthropic/claude-sonnet-4-5", base_url=urls["anthropic"], api_key=KEY),
            "openai": OpenAIChatCompletionsModel("gpt-4.1", client),
            "openai-responses": OpenAIResponsesModel("gpt-5", client),
            "gemini": LitellmModel("gemini/gemini-3-pro-preview", base_url=urls["gemini"], api_key=KEY),
            "mistral": LitellmModel("mistral/mistral-large-latest", base_url=urls["mistral"], api_key=KEY),
        }

    async def turn(self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool) -> list[Any]:
        """Say `text`."""
        settings = ModelSettings(max_tokens=8192)
        if thinks and family == "anthropic":
            settings.reasoning = Reasoning(effort="low")
        if family == "openai-responses":
            settings.store, settings.response_include = False, ["reasoning.encrypted_content"]
        agent = Agent("reader", model=self._models[family], tools=[function_tool(read_file)], model_settings=settings)
        around = RunConfig(call_model_input_filter=legato_input_filter() if legato else None)
        done = await Runner.run(agent, [*history, {"role": "user", "content": text}], run_config=around)
        return done.to_input_list()

    def explode(self, history: list[Any]) -> list[Any]:
        """Every result is an item."""
        return history

    def role(self, message: Any) -> Role:
        """By the type of the item."""
        if message.get("type") == "function_call_output":
            return Role.RESULT
        return Role.SAID if message.get("role") == "user" else Role.ANSWER

    def twin(self, message: Any) -> Any:
        """Outputs have no ids."""
        return dict(message)

    def dumped(self, history: list[Any]) -> Any:
        """Items are plain already."""
        return history
