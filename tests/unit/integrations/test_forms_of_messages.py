"""What says the right thing in the wrong form is written anew: attachments, calls and results that one API alone reads.

What a provider refuses of it was seen with each framework against simulated providers.
"""

from __future__ import annotations

from dataclasses import make_dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from legato.integrations import langchain
from legato.integrations.google_adk import settle_adk_contents
from legato.integrations.langchain import settle_langchain_messages
from legato.integrations.litellm import settle_litellm_messages
from legato.integrations.openai_agents import legato_input_filter, settle_run_items
from legato.integrations.pydantic_ai import settle_model_messages
from legato.request import resolve

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CLAUDE, GPT, GEMINI = "anthropic/claude-sonnet-4-5", "openai/gpt-4.1", "gemini/gemini-3-pro-preview"
MISTRAL = "mistral/mistral-large-latest"
WORDS = {"type": "text", "text": "look"}
OF_CLAUDE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
OF_LANGCHAIN = {"type": "image", "base64": PNG, "mime_type": "image/png"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"path": "a"}'}}
MOVED = "(The media of this result follow in the next message.)"


@pytest.fixture(autouse=True)
def _without_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """LangChain is not installed here: its messages stay the dumps that it loads."""
    loads = SimpleNamespace(messages_from_dict=lambda messages: messages)
    monkeypatch.setattr(langchain, "import_module", lambda name: loads)


def in_langchain(content: list[Any]) -> list[dict[str, Any]]:
    return [{"type": "human", "content": content}, {"type": "ai", "content": "x"}, {"type": "human", "content": "b"}]


@pytest.mark.parametrize("route", [GPT, GEMINI, MISTRAL])
def test_an_attachment_in_claude_s_form_gets_that_of_langchain_for_others(route: str) -> None:
    first = settle_langchain_messages(in_langchain([WORDS, OF_CLAUDE]), route)[0]
    assert first["data"]["content"] == [WORDS, OF_LANGCHAIN]


@pytest.mark.parametrize(("part", "route"), [(OF_CLAUDE, CLAUDE), (OF_LANGCHAIN, GPT), (OF_LANGCHAIN, GEMINI)])
def test_an_attachment_in_a_form_that_is_read_stays(part: dict[str, Any], route: str) -> None:
    history = in_langchain([WORDS, part])
    assert settle_langchain_messages(history, route)[0] is history[0]


@pytest.mark.parametrize("route", [CLAUDE, GPT, GEMINI])
def test_an_attachment_in_claude_s_form_gets_that_of_litellm(route: str) -> None:
    history = [{"role": "user", "content": [WORDS, OF_CLAUDE]}]
    [settled] = settle_litellm_messages(history, route)
    assert [part["type"] for part in settled["content"]] == ["text", "image_url"]


def test_an_image_in_a_result_is_moved_behind_it_where_results_hold_none() -> None:
    call = {"name": "f", "args": {"path": "a"}, "id": "call_1", "type": "tool_call"}
    history = [
        {"type": "human", "content": "a"},
        {"type": "ai", "content": "", "tool_calls": [call]},
        {"type": "tool", "tool_call_id": "call_1", "content": [WORDS, OF_LANGCHAIN]},
    ]
    result, behind = settle_langchain_messages(history, GPT)[2:]
    assert result["data"]["content"] == f"look\n{MOVED}"
    assert behind["data"]["content"] == [{"type": "text", "text": "[Media from the result of f:]"}, OF_LANGCHAIN]
    [kept] = settle_langchain_messages(history, CLAUDE)[2:]
    assert kept["data"]["content"] == [WORDS, OF_LANGCHAIN]


def test_an_image_in_a_result_of_adk_is_moved_behind_an_answer_where_that_order_is_asked_for() -> None:
    from google.genai import types

    image = types.FunctionResponsePart.model_validate({"inlineData": {"mimeType": "image/png", "data": PNG}})
    response = types.FunctionResponse(id="call_1", name="f", response={"result": "look"}, parts=[image])
    contents = [
        types.Content(role="user", parts=[types.Part(text="a")]),
        types.Content(
            role="model", parts=[types.Part(function_call=types.FunctionCall(id="call_1", name="f", args={}))]
        ),
        types.Content(role="user", parts=[types.Part(function_response=response)]),
    ]
    settled = settle_adk_contents(contents, MISTRAL)
    assert [content.role for content in settled] == ["user", "model", "user", "model", "user"]
    assert [name for part in settled[-1].parts for name in part.model_dump(exclude_none=True)] == [
        "text",
        "inline_data",
    ]


def test_an_image_in_a_result_of_pydantic_ai_stays_because_it_moves_them_itself() -> None:
    image = BinaryContent(b"png", media_type="image/png")
    history = [
        ModelRequest([UserPromptPart("a")]),
        ModelResponse([ToolCallPart("f", {"path": "a"}, "call_1")], model_name="gpt-4.1", provider_name="openai"),
        ModelRequest([ToolReturnPart("f", ["look", image], "call_1")]),
        ModelResponse([TextPart("x")], model_name="gpt-4.1", provider_name="openai"),
    ]
    settled = settle_model_messages(history, GPT)
    assert all(new is old for new, old in zip(settled, history, strict=True))


@pytest.mark.parametrize("more", [[], [ModelResponse([TextPart("x")])]], ids=["it is the last", "it was answered"])
def test_no_answer_is_put_behind_an_image_in_a_result_that_pydantic_ai_moves_itself(more: list[ModelMessage]) -> None:
    image = BinaryContent(b"png", media_type="image/png")
    called = ModelResponse([ToolCallPart("f", {}, "a" * 9)], model_name="mistral-large-latest", provider_name="mistral")
    history = [ModelRequest([UserPromptPart("a")]), called, ModelRequest([ToolReturnPart("f", image, "a" * 9)]), *more]
    settled = settle_model_messages(history, MISTRAL)
    assert [message.kind for message in settled] == [message.kind for message in history]


@pytest.mark.parametrize("route", [CLAUDE, GPT, GEMINI, "deepseek/deepseek-chat"])
def test_arguments_that_are_no_json_become_an_object(route: str) -> None:
    broken = {**CALL, "function": {"name": "f", "arguments": '{"path":'}}
    history = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [broken]},
        {"role": "tool", "tool_call_id": "call_1", "content": "r"},
    ]
    settled = settle_litellm_messages(history, route)
    assert settled[1]["tool_calls"][0]["function"]["arguments"] == '{"raw_arguments":"{\\"path\\":"}'


def test_an_answer_that_says_nothing_is_left_out_unless_it_holds_what_is_not_understood() -> None:
    def settled(middle: dict[str, Any]) -> list[str]:
        history = [{"role": "user", "content": "a"}, {"role": "assistant", **middle}, {"role": "user", "content": "b"}]
        return [message["role"] for message in settle_litellm_messages(history, GPT)]

    assert settled({"content": None}) == ["user", "user"]
    assert settled({"content": [{"type": "new_kind", "value": 1}]}) == ["user", "assistant", "user"]


def test_a_result_on_the_wrong_side_gets_the_role_of_one() -> None:
    history = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "tool_call_id": "call_1", "content": "r"},
        {"role": "user", "content": "b"},
    ]
    assert [message["role"] for message in settle_litellm_messages(history, GPT)] == [
        "user",
        "assistant",
        "tool",
        "user",
    ]


def test_what_litellm_keeps_of_the_thoughts_of_responses_goes_back_there_without_the_id_that_binds_it() -> None:
    sealed = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    bare = {"type": "reasoning", "id": "rs_2", "summary": []}
    answer = {"role": "assistant", "content": "x", "reasoning_items": [sealed, bare]}
    history = [{"role": "user", "content": "a"}, answer, {"role": "user", "content": "b"}]
    sent = {route: settle_litellm_messages(history, route)[1] for route in ("openai/responses/gpt-5", GPT, CLAUDE)}
    plain = {"role": "assistant", "content": "x"}
    there = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    assert sent == {"openai/responses/gpt-5": {**plain, "reasoning_items": [there]}, GPT: plain, CLAUDE: plain}


# --- items ------------------------------------------------------------------------------------------------------------

CALLS_OF_RESPONSES: dict[str, list[dict[str, Any]]] = {
    "free text": [
        {"type": "custom_tool_call", "call_id": "call_1", "name": "g", "input": "free text"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "r"},
    ],
    "shell": [
        {"type": "local_shell_call", "id": "l1", "call_id": "call_1", "status": "completed",
         "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "local_shell_call_output", "id": "call_1", "output": "r"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("calls", CALLS_OF_RESPONSES.values(), ids=CALLS_OF_RESPONSES)
@pytest.mark.parametrize("route", [GPT, CLAUDE, GEMINI])
def test_calls_that_only_responses_has_and_their_results_become_those_of_functions(
    calls: list[dict[str, Any]], route: str
) -> None:
    items = [{"role": "user", "content": "a"}, *calls, {"role": "user", "content": "b"}]
    settled = settle_run_items(items, resolve(route))
    assert [item.get("type") for item in settled if "call_id" in item] == ["function_call", "function_call_output"]
    assert calls[0] in settle_run_items(items, resolve("openai-responses/gpt-5"))


def test_a_thought_that_was_not_stored_stays_away_from_a_request_that_stores_nothing() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    words = {"type": "output_text", "text": "x", "annotations": []}
    answer = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": [words]}
    items = [{"role": "user", "content": "a"}, thought, answer, {"role": "user", "content": "b"}]

    def sent(store: bool | None) -> list[Any]:
        agent = SimpleNamespace(
            model="gpt-5", model_settings=SimpleNamespace(store=store), tools=[], handoffs=[], mcp_servers=[]
        )
        given = make_dataclass("ModelInputData", ["input"])(items)
        return legato_input_filter()(SimpleNamespace(agent=agent, model_data=given)).input

    assert thought in sent(None)
    assert thought not in sent(store=False)
