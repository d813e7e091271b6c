"""LangChain: agents of `create_agent`."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_mistralai import ChatMistralAI
from langchain_openai import ChatOpenAI

from legato.integrations.langchain import legato_middleware
from scripts.frameworks.damages import Role
from scripts.frameworks.playing import read_file

KEY: Any = "a key of no value"


class Player:
    """Agents of LangChain, one for each family."""

    families = ("anthropic", "openai", "openai-responses", "gemini", "mistral")

    def __init__(self, urls: dict[str, str]) -> None:
        self._urls = urls

    def _model(self, family: str, *, thinks: bool) -> Any:
        urls = self._urls
        common: dict[str, Any] = {"api_key": KEY, "max_retries": 0}
        match family:
            case "anthropic":
                budget: Any = {"type": "enabled", "budget_tokens": 2048} if thinks else None
                return ChatAnthropic(
                    model="claude-sonnet-4-5", base_url=urls[family], max_tokens=4096, thinking=budget, **common
                )
            case "openai":
                return ChatOpenAI(model="gpt-4.1", base_url=urls[family], **common)
            case "openai-responses":
                encrypted: Any = {"include": ["reasoning.encrypted_content"], "store": False}
                return ChatOpenAI(model="gpt-5", base_url=urls[family], use_responses_api=True, **encrypted, **common)
            case "gemini":
                base = urls[family].removesuffix("/v1beta")
                return ChatGoogleGenerativeAI(model="gemini-3-pro-preview", base_url=base, **common)
            case _:
                return ChatMistralAI(model_name="mistral-large-latest", endpoint=urls[family], api_key=KEY)

    async def turn(self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool) -> list[Any]:
        """Say `text`."""
        middleware = [legato_middleware()] if legato else []
        agent = create_agent(self._model(family, thinks=thinks), tools=[read_file], middleware=middleware)
        done = await agent.ainvoke({"messages": [*history, HumanMessage(text)]})
        return done["messages"]

    def explode(self, history: list[Any]) -> list[Any]:
        """Every result is a message."""
        return history

    def role(self, message: Any) -> Role:
        """By the class of the message."""
        if isinstance(message, AIMessage):
            return Role.ANSWER
        return Role.RESULT if isinstance(message, ToolMessage) else Role.SAID

    def twin(self, message: Any) -> Any:
        """It has an id of its own: a graph keeps one of two with the same."""
        return message.model_copy(update={"id": None})

    def dumped(self, history: list[Any]) -> Any:
        """As `model_dump()` gives it."""
        return [message.model_dump(mode="json") for message in history]
