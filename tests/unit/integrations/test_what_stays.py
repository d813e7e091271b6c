"""What a framework and the provider's own client put right between them stays the very message that it was.

A message written anew says the same and has lost what is beside that: marks of a cache, how closely to look at an image,
what a provider's own search found in a form that only it can read.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types
from pydantic_ai.messages import (
    CachePoint,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)

from legato.integrations import langchain
from legato.integrations.google_adk import settle_adk_contents
from legato.integrations.pydantic_ai import settle_model_messages

CLAUDE, GPT, GEMINI = "anthropic/claude-sonnet-4-5", "openai/gpt-4.1", "gemini/gemini-3-pro-preview"
RESPONSES, MISTRAL = "openai-responses/gpt-5", "mistral/mistral-large-latest"
NAMES = {
    CLAUDE: ("anthropic", "claude-sonnet-4-5"),
    RESPONSES: ("openai", "gpt-5"),
    GEMINI: ("google", "gemini-3-pro-preview"),
}


def searched(route: str) -> ModelResponse:
    """An answer for which the provider's own tool ran."""
    provider, model = NAMES[route]
    thought = [ThinkingPart("", id="rs_1", signature="sealed", provider_name=provider)] if route == RESPONSES else []
    return ModelResponse(
        [
            *thought,
            NativeToolCallPart("web_search", {"query": "q"}, "ws_1", provider_name=provider),
            NativeToolReturnPart(
                "web_search", [{"url": "u", "encrypted_content": "E"}], "ws_1", provider_name=provider
            ),
            TextPart("found it"),
        ],
        provider_name=provider,
        model_name=model,
        provider_response_id="resp_1" if route == RESPONSES else None,
    )


@pytest.mark.parametrize("route", NAMES)
def test_what_a_provider_s_own_tool_found_goes_back_to_it_as_it_is(route: str) -> None:
    history = [ModelRequest([UserPromptPart("search")]), searched(route)]
    settled = settle_model_messages(history, route)
    assert [one is other for one, other in zip(settled, history, strict=True)] == [True, True]


@pytest.mark.parametrize("route", [GPT, MISTRAL])
def test_others_read_in_words_what_it_found(route: str) -> None:
    _, answer = settle_model_messages([ModelRequest([UserPromptPart("search")]), searched(CLAUDE)], route)
    assert [type(part) for part in answer.parts] == [TextPart]
    assert "web_search" in answer.parts[0].content
    assert "found it" in answer.parts[0].content


def test_its_own_provider_reads_it_in_words_where_the_answer_has_to_be_written_anew() -> None:
    found = searched(CLAUDE)
    called = ModelResponse(
        [*found.parts, ToolCallPart("read", {}, "not an id!")],
        provider_name="anthropic",
        model_name="claude-sonnet-4-5",
    )
    settled = settle_model_messages([ModelRequest([UserPromptPart("search")]), called], CLAUDE)
    words = "".join(part.content for part in settled[1].parts if isinstance(part, TextPart))
    assert "encrypted_content" in words


@pytest.mark.parametrize("route", [CLAUDE, GPT, RESPONSES, GEMINI])
def test_a_prompt_with_the_address_of_an_image_keeps_what_is_beside_it(route: str) -> None:
    closely = ImageUrl("https://example.com/cat.png", vendor_metadata={"detail": "low"})
    history = [ModelRequest([UserPromptPart(["look", closely, CachePoint()])]), ModelResponse([TextPart("a cat")])]
    assert settle_model_messages(history, route)[0] is history[0]


CUT = {"name": "read", "args": '{"path": "no', "id": "toolu_1", "error": None, "type": "invalid_tool_call"}
OF_LANGCHAIN: list[dict[str, Any]] = [
    {"type": "chat", "role": "user", "content": "hello", "id": "c1"},
    {"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [CUT], "usage_metadata": {"input_tokens": 3}},
    {"type": "human", "content": "go on"},
]


def written_again(history: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, *, goes_on: bool) -> list[Any]:
    """What is written of a history that was read, be it of the document or of a conversation that goes on."""
    loads = SimpleNamespace(messages_from_dict=lambda messages: [one["data"] for one in messages])
    monkeypatch.setattr(langchain, "import_module", lambda name: loads)  # LangChain is not installed here
    document = langchain.read_langchain_messages(history)
    if not goes_on:
        return langchain.write_langchain_messages(document)
    return langchain.write_langchain_messages(document.conversation(), before=history)


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_history_of_langchain_with_a_call_that_was_cut_off_is_written_as_it_was(
    goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written_again(OF_LANGCHAIN, monkeypatch, goes_on=goes_on) == OF_LANGCHAIN


def test_code_that_gemini_ran_stays_in_adk_for_gemini_and_is_told_to_others() -> None:
    code = types.Part(executable_code=types.ExecutableCode(code="print(1)", language=types.Language.PYTHON))
    outcome = types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="1")
    answer = types.Content(role="model", parts=[code, types.Part(code_execution_result=outcome)])
    asked = [types.Content(role="user", parts=[types.Part(text=text)]) for text in ("run it", "and now?")]
    contents = [asked[0], answer, asked[1]]
    events = [SimpleNamespace(model_version="gemini-3-pro-preview", content=answer)]
    assert settle_adk_contents(contents, "gemini-3-pro-preview", events)[1] is answer
    [told] = settle_adk_contents(contents, CLAUDE, events)[1].parts
    assert "print(1)" in told.text
    assert "OUTCOME_OK" in told.text


IN_PARTS = [
    {"type": "executable_code", "executable_code": "print(1)", "language": 1, "id": "x"},
    {"type": "code_execution_result", "code_execution_result": "1", "outcome": 1, "tool_call_id": "x"},
]
IN_STANDARD_PARTS = [
    {"type": "server_tool_call", "name": "code_interpreter", "args": {"code": "print(1)"}, "id": "x"},
    {"type": "server_tool_result", "tool_call_id": "x", "output": "1", "status": "success"},
]


@pytest.mark.parametrize("parts", [IN_PARTS, IN_STANDARD_PARTS], ids=["Gemini's parts", "LangChain's parts"])
def test_what_a_provider_ran_stays_in_langchain_for_it_and_is_told_to_others(
    parts: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made_by = {"model_name": "gemini-3-pro-preview", "model_provider": "google_genai"}
    answer = {"type": "ai", "content": [*parts, {"type": "text", "text": "one"}], "response_metadata": made_by}
    history = [{"type": "human", "content": "run it"}, answer, {"type": "human", "content": "and now?"}]
    for goes_on in (False, True):
        assert written_again(history, monkeypatch, goes_on=goes_on) == history
    assert langchain.settle_langchain_messages(history, GEMINI)[1] is answer
    told = langchain.settle_langchain_messages(history, MISTRAL)[1]["content"]
    assert "print(1)" in told
    assert told.endswith("one")
