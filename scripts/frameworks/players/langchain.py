"""LangChain: agents of `create_agent`."""

# This runs in an environment of its own.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_mistralai import ChatMistralAI
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from legato.formats import read
from legato.integrations.langchain import legato_middleware
from scripts.frameworks.damages import Role
from scripts.frameworks.tool import FILES, read_file

KEY: Any = "a key of no value"


class Player:
    """Agents of LangChain, one for each family."""

    families = ("anthropic", "openai", "openai-responses", "gemini", "mistral")

    def __init__(self, urls: dict[str, str]) -> None:
        self._urls = urls
        self.own = {
            "checkpoints in memory, with a call left open": self._checkpoints_in_memory,
            "checkpoints in SQLite, with a call left open": self._checkpoints_in_sqlite,
        }

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

    async def turn(
        self, history: list[Any], text: str, family: str, *, legato: bool, thinks: bool, streams: bool = False
    ) -> list[Any]:
        """Say `text`."""
        middleware = [legato_middleware()] if legato else []
        agent = create_agent(self._model(family, thinks=thinks), tools=[read_file], middleware=middleware)
        asked: Any = {"messages": [*history, HumanMessage(text)]}
        if not streams:
            return (await agent.ainvoke(asked))["messages"]
        kept: list[Any] = []
        async for mode, part in agent.astream(asked, stream_mode=["messages", "values"]):
            kept = part["messages"] if mode == "values" else kept
        return kept

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

    async def _checkpoints_in_memory(self) -> None:
        self._go_on_from(InMemorySaver())

    async def _checkpoints_in_sqlite(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.db"
            with SqliteSaver.from_conn_string(str(path)) as saver:
                self._go_on_from(saver)
            found = [call.name for entry in read(path).entries for call in entry.calls]
            if found != ["read_file"] * (2 * len(self.families) + 1):
                raise RuntimeError(f"the file of checkpoints was read with the calls {found}")

    def _go_on_from(self, saver: Any) -> None:
        """A turn on each family, streamed from one thread; then a call that was left open, and a turn on each again."""
        thread: Any = {"configurable": {"thread_id": "one"}}
        agents = [
            create_agent(
                self._model(family, thinks=False), [read_file], middleware=[legato_middleware()], checkpointer=saver
            )
            for family in self.families
        ]
        for agent in agents:
            asked: Any = {"messages": [HumanMessage("use read_file on notes.txt and hall.txt")]}
            for _ in agent.stream(asked, thread, stream_mode="messages"):
                pass
            told = str(agent.get_state(thread).values["messages"][-1].text)
            if FILES["hall.txt"] not in told:
                raise RuntimeError(f"a turn ended with {told!r}")
        call: Any = {"name": "read_file", "args": {"path": "notes.txt"}, "id": "toolu_01"}
        left: Any = {"messages": [HumanMessage("use read_file on notes.txt"), AIMessage("", tool_calls=[call])]}
        agents[0].update_state(thread, left, as_node="model")
        for agent in agents:
            hello: Any = {"messages": [HumanMessage("hello again")]}
            told = str(agent.invoke(hello, thread)["messages"][-1].text)
            if "hello again" not in told:
                raise RuntimeError(f"after a call that was left open, a turn ended with {told!r}")
