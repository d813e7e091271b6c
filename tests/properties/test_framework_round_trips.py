"""A framework's history that is read and written again is the history that it was, whatever is beside the words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from legato.integrations import langchain
from legato.integrations.langchain import read_langchain_messages, write_langchain_messages
from legato.integrations.pydantic_ai import read_model_messages, write_model_messages

DATA = Path(__file__).parents[1] / "data" / "frameworks"
WORDS = st.text("ab \n é", min_size=1, max_size=6)
VALUES = st.one_of(WORDS, st.integers(0, 9), st.just({"rows": [1, 2]}), st.just([]), st.none())
TIMES = st.integers(0, 2_000_000_000).map(lambda second: datetime.fromtimestamp(second, UTC))
SAID = st.one_of(
    WORDS,
    st.just([BinaryContent(b"png", media_type="image/png")]),
    st.just(["look", ImageUrl("https://example.org/a.png")]),
)
ARGUMENTS = st.sampled_from([{"path": "a"}, {}, '{"path": "b"}', '{"path":', "[1]", None])
MODELS = st.sampled_from(
    [("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-4.1"), ("google", "gemini-3-pro-preview"), (None, None)]
)


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[ModelMessage]:
    """What a person says, answers with calls and what came of them, and a last answer."""
    provider, model = draw(MODELS)
    rules = draw(st.sampled_from([None, "Be brief."]))
    named: dict[str, Any] = {"model_name": model, "provider_name": provider, "provider_response_id": f"msg_{number}"}

    def request(parts: list[Any]) -> ModelRequest:
        return ModelRequest(parts, instructions=rules, timestamp=draw(TIMES), run_id=f"run_{number}")

    def response(parts: list[Any]) -> ModelResponse:
        usage = RequestUsage(input_tokens=draw(st.integers(0, 9)), output_tokens=1)
        return ModelResponse(parts, usage=usage, timestamp=draw(TIMES), metadata={"turn": number}, **named)

    first: list[Any] = [SystemPromptPart("Be kind.")] if draw(st.booleans()) else []
    messages: list[ModelMessage] = [request([*first, UserPromptPart(draw(SAID), timestamp=draw(TIMES))])]
    for step in range(draw(st.integers(0, 2))):
        calls = [
            ToolCallPart("my.tool", draw(ARGUMENTS), f"id-{number}-{step}-{one}")
            for one in range(draw(st.integers(1, 3)))
        ]
        thought = ThinkingPart("hm", signature="c2ln", provider_name=provider)
        messages.append(response([*([thought] if draw(st.booleans()) else []), *calls]))
        messages.append(request([_outcome(call, draw(st.booleans()), draw(VALUES)) for call in calls]))
    return [*messages, response([TextPart(draw(WORDS), id=f"text_{number}")])]


def _outcome(call: ToolCallPart, failed: bool, value: Any) -> ToolReturnPart:
    if failed:
        return ToolReturnPart(call.tool_name, "no such file", call.tool_call_id, outcome="retried")
    return ToolReturnPart(call.tool_name, value, call.tool_call_id, metadata={"took": 3})


def histories() -> st.SearchStrategy[list[ModelMessage]]:
    """Histories as a program loads them."""
    return st.tuples(*map(turns, range(3))).map(
        lambda held: ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json([*chain(*held)]))
    )


@given(history=histories())
def test_a_history_of_pydantic_ai_comes_back_as_it_was(history: list[ModelMessage]) -> None:
    document = read_model_messages(history)
    assert document.notes == []
    assert write_model_messages(document) == history


@given(history=histories())
def test_what_is_said_in_legato_follows_a_history_of_pydantic_ai(history: list[ModelMessage]) -> None:
    talk = read_model_messages(history).conversation()
    talk.human("and now?")
    *before, last = write_model_messages(talk, before=history)
    assert before == history
    assert [part.content for part in last.parts] == ["and now?"]


def recorded(name: str) -> dict[str, list[Any]]:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("family", recorded("pydantic_ai"))
def test_a_recorded_history_of_pydantic_ai_comes_back_as_it_was(family: str) -> None:
    history = ModelMessagesTypeAdapter.validate_python(recorded("pydantic_ai")[family])
    assert write_model_messages(read_model_messages(history)) == history


@pytest.mark.parametrize("family", recorded("langchain"))
def test_recorded_messages_of_langchain_come_back_as_they_were(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = SimpleNamespace(messages_from_dict=lambda messages: [message["data"] for message in messages])
    monkeypatch.setattr(langchain, "import_module", lambda name: loads)
    messages = recorded("langchain")[family]
    document = read_langchain_messages(messages)
    assert write_langchain_messages(document) == messages
    talk = document.conversation()
    talk.human("and now?")
    *before, last = write_langchain_messages(talk, before=messages)
    assert (before, last["content"]) == (messages, "and now?")
