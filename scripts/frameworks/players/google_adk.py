"""Google ADK: Gemini by itself, the others through `LiteLlm`."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

import os
from typing import Any, ClassVar

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch prices from the network
os.environ["GOOGLE_API_KEY"] = "a key of no value"

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event
from google.adk.models.google_llm import Gemini
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from legato.integrations.google_adk import legato_before_model
from scripts.frameworks.damages import Role
from scripts.frameworks.tool import read_file

KEY = "a key of no value"
APP, USER = "reader", "ada"


class Player:
    """Agents of ADK, one for each family."""

    families = ("anthropic", "openai", "openai-responses", "gemini", "mistral")
    own: ClassVar[dict[str, Any]] = {}

    def __init__(self, urls: dict[str, str]) -> None:
        self._urls = urls

    def _model(self, family: str, *, thinks: bool) -> Any:
        match family:
            case "gemini":
                return Gemini(model="gemini-3-pro-preview", base_url=self._urls[family].removesuffix("/v1beta"))
            case "anthropic":
                name, budget = "anthropic/claude-sonnet-4-5", {"type": "enabled", "budget_tokens": 2048}
                more: dict[str, Any] = {"thinking": budget} if thinks else {}
            case "openai":
                name, more = "openai/gpt-4.1", {}
            case "openai-responses":
                name, more = "openai/responses/gpt-5", {}
            case _:
                name, more = "mistral/mistral-large-latest", {}
        return LiteLlm(model=name, api_base=self._urls[family], api_key=KEY, max_tokens=8192, **more)

    async def turn(
        self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool, streams: bool = False
    ) -> list[Any]:
        """Say `text` in a session that holds `history`, which is a list of events."""
        agent = Agent(
            name="reader",
            model=self._model(family, thinks=thinks),
            tools=[read_file],
            before_model_callback=legato_before_model() if legato else None,
        )
        sessions = InMemorySessionService()
        session = await sessions.create_session(app_name=APP, user_id=USER)
        for event in history:
            await sessions.append_event(session, event.model_copy(deep=True))
        runner = Runner(app_name=APP, agent=agent, session_service=sessions)
        said = types.Content(role="user", parts=[types.Part(text=text)])
        mode = RunConfig(streaming_mode=StreamingMode.SSE if streams else StreamingMode.NONE)
        async for event in runner.run_async(user_id=USER, session_id=session.id, new_message=said, run_config=mode):
            if event.error_code:
                raise RuntimeError(f"{event.error_code}: {event.error_message}")
        kept = await sessions.get_session(app_name=APP, user_id=USER, session_id=session.id)
        return [] if kept is None else list(kept.events)

    def explode(self, history: list[Any]) -> list[Any]:
        """Events with one result each."""
        return [one for event in history for one in _one_by_one(event)]

    def role(self, message: Any) -> Role:
        """By what the event holds."""
        if any(part.function_response for part in message.content.parts):
            return Role.RESULT
        return Role.ANSWER if message.content.role == "model" else Role.SAID

    def twin(self, message: Any) -> Any:
        """It has an id of its own."""
        return message.model_copy(update={"id": f"{message.id}-again"})

    def dumped(self, history: list[Any]) -> Any:
        """As `Session.model_dump_json()` has it."""
        return [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in history]


def _one_by_one(event: Event) -> list[Event]:
    if event.content is None or not event.content.parts:
        return []
    if not any(part.function_response for part in event.content.parts):
        return [event]
    return [
        event.model_copy(
            update={"id": f"{event.id}{at}", "content": event.content.model_copy(update={"parts": [part]})}
        )
        for at, part in enumerate(event.content.parts)
    ]
