"""OpenAI Agents SDK: its own models for OpenAI, LiteLLM's for the others."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

import tempfile
from pathlib import Path
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

from legato.integrations.openai_agents import StoreSession, legato_input_filter, read_run_state
from scripts.frameworks.damages import Role
from scripts.frameworks.tool import FILES, read_file

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
        self.own = {
            "a session in a SQLite store": self._session,
            "a run that waits for approval, read back": self._run_state,
        }

    async def turn(
        self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool, streams: bool = False
    ) -> list[Any]:
        """Say `text`."""
        settings = ModelSettings(max_tokens=8192)
        if thinks and family == "anthropic":
            settings.reasoning = Reasoning(effort="low")
        if family == "openai-responses":
            settings.store, settings.response_include = False, ["reasoning.encrypted_content"]
        agent = Agent("reader", model=self._models[family], tools=[function_tool(read_file)], model_settings=settings)
        around = RunConfig(call_model_input_filter=legato_input_filter() if legato else None)
        asked: Any = [*history, {"role": "user", "content": text}]
        if not streams:
            return (await Runner.run(agent, asked, run_config=around)).to_input_list()
        stream = Runner.run_streamed(agent, asked, run_config=around)
        async for _ in stream.stream_events():
            pass
        return stream.to_input_list()

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

    async def _session(self) -> None:
        """A turn on each family in one session, then the same items from a store that was opened again."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sessions.db"
            session = StoreSession("ada", path)
            for family in self.families:
                agent = Agent("reader", model=self._models[family], tools=[function_tool(read_file)])
                around = RunConfig(call_model_input_filter=legato_input_filter())
                done = await Runner.run(agent, "use read_file on hall.txt", session=session, run_config=around)
                if FILES["hall.txt"] not in str(done.final_output):
                    raise RuntimeError(f"on {family} a turn ended with {done.final_output!r}")
            items = await session.get_items()
            await session.close()
            again = StoreSession("ada", path)
            kept = await again.get_items()
            await again.close()
        outputs = [item["output"] for item in kept if item.get("type") == "function_call_output"]
        if kept != items or outputs != [FILES["hall.txt"]] * len(self.families):
            raise RuntimeError(f"the session was {items}, and the store gave {kept}")

    async def _run_state(self) -> None:
        """A run stops before a tool that needs an approval; Legato reads the call in its state, and in its text."""

        @function_tool(needs_approval=True)
        def remove_file(path: str) -> str:
            """Remove a file."""
            return f"{path} is gone"

        agent = Agent("remover", model=self._models["openai"], tools=[remove_file])
        done = await Runner.run(agent, "use remove_file on notes.txt")
        state = done.to_state()
        for told in (state, state.to_string()):
            calls = [(call.name, call.arguments) for entry in read_run_state(told).entries for call in entry.calls]
            if calls != [("remove_file", {"path": "notes.txt"})]:
                raise RuntimeError(f"the state was read with the calls {calls}")
        around = RunConfig(call_model_input_filter=legato_input_filter())
        items: Any = [*done.to_input_list(), {"role": "user", "content": "never mind"}]
        told = (await Runner.run(agent, items, run_config=around)).final_output
        if "never mind" not in str(told):
            raise RuntimeError(f"the run went on with {told!r}")
