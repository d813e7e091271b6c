"""One framework whole, in a process of its own, against simulated providers on a port: the other ones are for
`make frameworks`. What each hook does to a request is tested without its framework."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from legato.errors import UnknownTarget
from legato.integrations import langchain
from legato.integrations.google_adk import legato_before_model
from legato.integrations.langchain import legato_middleware, legato_pre_model_hook
from legato.integrations.litellm import legato_handler
from legato.integrations.naming import find_target
from legato.integrations.openai_agents import legato_input_filter
from scripts.clients.thoughts import thoughts_that_came_home
from scripts.frameworks.damages import Damage
from scripts.frameworks.judging import Verdict, judged
from scripts.frameworks.stage import Framework, is_streamed, open_framework

from builders import origin

CLAUDE = "anthropic/claude-sonnet-4-5"
OPEN_CALL: list[dict[str, Any]] = [
    {"role": "user", "content": "read it"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
    },
    {"role": "user", "content": "never mind"},
]


@pytest.fixture(scope="module")
def pydantic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Framework]:
    log = tmp_path_factory.mktemp("frameworks") / "pydantic_ai.log"
    with open_framework(Path(sys.executable), "pydantic_ai", log) as framework:
        yield framework


def play(framework: Framework, damage: Damage, *, legato: bool) -> Verdict:
    framework.order("history", family="anthropic", thinks=False)
    played = framework.order("play", family="anthropic", source="anthropic", damage=damage, legato=legato)
    return judged(played, damage)[0]


@pytest.mark.parametrize(
    ("damage", "alone"),
    [
        (Damage.LATE, Verdict.REFUSED),
        (Damage.DUPLICATE, Verdict.REFUSED),
        (Damage.CANCELLED, Verdict.RAISED),
        (Damage.TRIMMED, Verdict.LOST),
    ],
)
def test_a_damaged_history_of_pydantic_ai_is_answered_with_legato(
    pydantic: Framework, damage: Damage, alone: Verdict
) -> None:
    assert [play(pydantic, damage, legato=on) for on in (False, True)] == [alone, Verdict.ANSWERED]


def test_pydantic_ai_changes_its_provider_at_every_turn_and_nothing_is_refused(pydantic: Framework) -> None:
    for streams in (False, True):
        travelled = pydantic.order("travel", turns=11, legato=True, streams=streams)
        assert (travelled.error, travelled.refusals, len(travelled.asked)) == ("", [], 22)
        assert {is_streamed(seen) for seen in travelled.asked} == {streams}


@pytest.mark.parametrize("family", ["anthropic", "openai-responses", "gemini"])
def test_thoughts_come_home_through_pydantic_ai(pydantic: Framework, family: str) -> None:
    counts = [thoughts_that_came_home(pydantic.order("stay", family=family, legato=on).asked) for on in (False, True)]
    assert counts == [6, 6]


# --- hooks ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What the hook of LiteLLM, which is not installed here, makes of the arguments of a request of some kind."""
    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "litellm.integrations", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "litellm.integrations.custom_logger", SimpleNamespace(CustomLogger=object))
    handler = legato_handler()

    def ask(kind: str = "acompletion", **arguments: Any) -> Any:
        return anyio.run(handler.async_pre_call_deployment_hook, arguments, SimpleNamespace(value=kind))

    return ask


def test_the_hook_of_litellm_closes_calls_and_leaves_alone_what_it_does_not_know(asked: Callable[..., Any]) -> None:
    told = asked(model=CLAUDE, messages=OPEN_CALL, tools=[{}], thinking={"type": "enabled", "budget_tokens": 2048})
    assert [message["role"] for message in told["messages"]] == ["user", "assistant", "tool", "user"]
    assert told["messages"][2]["tool_call_id"] == told["messages"][1]["tool_calls"][0]["id"]
    loop = [*OPEN_CALL[:2], {"role": "tool", "tool_call_id": "call_1", "content": "done"}]
    told = asked(model=CLAUDE, messages=loop, tools=[{}], thinking={"type": "enabled", "budget_tokens": 2048})
    assert "thinking" not in told  # another model began this loop of tools
    assert asked(model="my-own/model", messages=OPEN_CALL) is None
    assert asked(model=CLAUDE, input="an embedding") is None
    assert asked("amoderation", model=CLAUDE, messages=OPEN_CALL) is None


def test_the_hook_of_litellm_leaves_messages_in_claude_s_form_in_it(asked: Callable[..., Any]) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    person = {"role": "user", "content": "read it"}
    messages = [person, {"role": "assistant", "content": [thought, call]}, {"role": "user", "content": "never mind"}]
    thinks = {"type": "enabled", "budget_tokens": 2048}
    told = asked("anthropic_messages", model=CLAUDE, messages=messages, tools=[{}], thinking=thinks)
    result, words = told["messages"][2]["content"]
    assert told["messages"][:2] == messages[:2]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_1")
    assert words == {"type": "text", "text": "never mind"}
    done = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "notes"}]}
    whole = [*messages[:2], done]
    assert asked("anthropic_messages", model=CLAUDE, messages=whole, tools=[{}])["messages"] == whole
    # LiteLLM makes a completion of them for others, for which the hook is asked again.
    assert asked("anthropic_messages", model="mistral/mistral-large-latest", messages=messages, tools=[{}]) is None


class Request:
    """What LangChain gives to a middleware, as far as it is used."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def __getattr__(self, name: str) -> Any:
        return self.fields[name]

    def override(self, **fields: Any) -> Request:
        return Request(**{**self.fields, **fields})


class ChatModel:
    """A chat model of LangChain, as far as it is used."""

    thinking = None

    def _get_ls_params(self) -> dict[str, str]:
        return {"ls_provider": "anthropic", "ls_model_name": "claude-sonnet-4-5"}


def test_the_hooks_of_langchain_change_the_request_and_not_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {
        "langchain.agents.middleware": SimpleNamespace(AgentMiddleware=object),
        "langchain_core.messages": SimpleNamespace(messages_from_dict=lambda messages: messages),
    }
    monkeypatch.setattr(langchain, "import_module", lambda name: modules[name])
    call = {"name": "read", "args": {}, "id": "call_1", "type": "tool_call"}
    messages = [{"type": "human", "content": "a"}, {"type": "ai", "content": "", "tool_calls": [call]}]
    messages.append({"type": "human", "content": "never mind"})
    state = {"messages": messages}
    bound = SimpleNamespace(bound=ChatModel())
    hooked = legato_pre_model_hook(bound)(state)["llm_input_messages"]
    request = Request(messages=messages, model=ChatModel(), tools=["read"])
    wrapped = legato_middleware().wrap_model_call(request, lambda given: given.messages)

    async def handler(given: Any) -> Any:
        return given.messages

    awaited = anyio.run(legato_middleware(CLAUDE).awrap_model_call, request, handler)
    assert [message["type"] for message in hooked] == ["human", "ai", "tool", "human"]
    assert hooked == wrapped == awaited
    assert len(state["messages"]) == 3


def test_the_filter_of_the_agents_sdk_closes_calls() -> None:
    data_kind = import_module("dataclasses").make_dataclass("ModelInputData", ["input", "instructions"])
    items = [
        {"role": "user", "content": "a"},
        {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"},
        {"role": "user", "content": "never mind"},
    ]
    model = SimpleNamespace(model="gpt-5")
    agent = SimpleNamespace(
        model="gpt-5", model_settings=SimpleNamespace(), tools=[1], handoffs=[], mcp_servers=[], other=model
    )
    data = SimpleNamespace(agent=agent, model_data=data_kind(items, "Be brief."))
    told = legato_input_filter()(data)
    assert [item.get("type") for item in told.input if "call_id" in item] == ["function_call", "function_call_output"]
    assert told.instructions == "Be brief."
    assert len(items) == 3


def test_the_callback_of_adk_changes_the_contents_of_the_request() -> None:
    types = import_module("google.genai.types")
    call = types.Part(function_call=types.FunctionCall(id="adk-1", name="read", args={}))
    contents = [
        types.Content(role="user", parts=[types.Part(text="a")]),
        types.Content(role="model", parts=[call]),
        types.Content(role="user", parts=[types.Part(text="never mind")]),
    ]
    config = types.GenerateContentConfig()
    request = SimpleNamespace(model=CLAUDE, contents=list(contents), config=config, tools_dict={"read": 1})
    assert legato_before_model()(SimpleNamespace(), request) is None
    assert [bool(part.function_response) for content in request.contents for part in content.parts].count(True) == 1
    assert request.contents[0] is contents[0]


@pytest.mark.parametrize(
    ("provider", "model", "route"),
    [
        ("google-gla", "gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("mistralai", "mistral-large-latest", "mistral/mistral-large-latest"),
        ("", "claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
        ("openai", "gpt-4o", "openai/gpt-4o"),
        ("vertex_ai", "claude-sonnet-4-5", "vertex-anthropic/claude-sonnet-4-5"),
        ("google-vertex", "claude-sonnet-4-5", "vertex-anthropic/claude-sonnet-4-5"),
        ("google_vertexai", "gemini-2.5-pro", "vertex/gemini-2.5-pro"),
        ("bedrock_converse", "us.anthropic.claude-sonnet-4-5", "bedrock/us.anthropic.claude-sonnet-4-5"),
        ("fireworks_ai", "accounts/fireworks/models/kimi-k2", "fireworks/accounts/fireworks/models/kimi-k2"),
    ],
)
def test_a_framework_s_words_for_a_model_name_a_route(provider: str, model: str, route: str) -> None:
    assert find_target(None, provider, model).route == route
    assert find_target(route, "", "").origin() == origin(route)


def test_a_model_that_no_one_knows_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(UnknownTarget, match="pass the route yourself"):
        find_target(None, "my-own", "some-model")
