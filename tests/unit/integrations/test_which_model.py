"""Which model a framework asks, where that does not stand in its name: fakes for tests, and defaults that were changed."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import Hooks, ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from legato.errors import UnknownTarget
from legato.integrations.langchain import legato_middleware
from legato.integrations.openai_agents import settle_run_items
from legato.integrations.pydantic_ai import legato_history, legato_request, settle_model_messages

LATE = [
    {"role": "user", "content": "a"},
    {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"},
    {"role": "user", "content": "b"},
    {"type": "function_call_output", "call_id": "call_1", "output": "c"},
]


@pytest.mark.parametrize(
    "hook", [Hooks(before_model_request=legato_request()), ProcessHistory(legato_history())], ids=["request", "history"]
)
def test_a_test_of_an_agent_is_shown_its_history_as_it_is(hook: Any) -> None:
    seen: list[ModelMessage] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(messages)
        return ModelResponse([TextPart("done")])

    before = ModelResponse([TextPart("hello")], provider_name="anthropic", model_name="claude-haiku-4-5")
    agent = Agent(FunctionModel(answer), capabilities=[hook])
    asyncio.run(agent.run("go on", message_history=[ModelRequest([UserPromptPart("hello")]), before]))
    assert seen[1] is before


def test_a_history_for_a_model_of_a_test_has_no_open_calls() -> None:
    history = [ModelRequest([UserPromptPart("read it")]), ModelResponse([ToolCallPart("read", {}, "call_1")])]
    agent = Agent(TestModel(call_tools=[]), capabilities=[Hooks(before_model_request=legato_request())])
    settled = settle_model_messages(history, agent.model)
    assert asyncio.run(agent.run("never mind", message_history=settled)).output


def test_a_fake_model_of_langchain_is_shown_everything_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "legato.integrations.langchain.import_module", lambda name: SimpleNamespace(AgentMiddleware=object)
    )
    fake = type("FakeChatModel", (), {"__module__": "langchain_core.language_models.fake_chat_models"})
    request = SimpleNamespace(model=type("FakeOfAProgram", (fake,), {"__module__": "mine"})(), messages=[object()])
    assert legato_middleware().wrap_model_call(request, lambda given: given) is request


def test_a_name_of_the_agents_sdk_is_asked_by_the_api_that_the_program_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settle_run_items(LATE, "gpt-4.1") == LATE  # an output may come late in the Responses API
    shared = SimpleNamespace(get_use_responses_by_default=lambda: False)
    monkeypatch.setitem(sys.modules, "agents.models._openai_shared", shared)
    settled = settle_run_items(LATE, "openai/gpt-4.1")
    assert [item.get("type", item.get("role")) for item in settled] == [
        *("user", "function_call", "function_call_output", "user")
    ]


def test_a_model_of_the_agents_sdk_that_has_no_name_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(UnknownTarget, match="pass the route yourself"):
        settle_run_items(LATE, object())
