"""Which API a path belongs to, and what is asked there."""

from __future__ import annotations

import pytest

from legato.gateway.contract import CallIdForm, Door
from legato.gateway.surfaces import find_door
from legato.model import Dialect
from legato.serving.contract import is_upgrade
from legato.transport.contract import Ask
from legato.transport.operations import Operation

CHAT, RESPONSES = Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES
ANTHROPIC, GEMINI = Dialect.ANTHROPIC, Dialect.GEMINI
ANSWER, COUNT, MODELS, MODEL = Operation.ANSWER, Operation.COUNT, Operation.MODELS, Operation.MODEL
KIMI = "kimi/kimi-k2-thinking"


def asked(method: str, path: str, headers: dict[str, str] | None = None, **query: str) -> Ask:
    return Ask(method=method, path=path, headers=headers or {}, body=b"", query=query)


def found(method: str, path: str, headers: dict[str, str] | None = None, **query: str) -> Door:
    door = find_door(asked(method, path, headers, **query))
    assert door is not None
    return door


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("POST /v1/messages", (ANTHROPIC, ANSWER, "")),
        ("POST /v1/messages/count_tokens", (ANTHROPIC, COUNT, "")),
        ("POST /v1/chat/completions", (CHAT, ANSWER, "")),
        ("POST /chat/completions", (CHAT, ANSWER, "")),
        ("POST /v1/responses", (RESPONSES, ANSWER, "")),
        ("POST /responses/", (RESPONSES, ANSWER, "")),
        ("POST /v1/responses/compact", (RESPONSES, Operation.COMPACT, "")),
        ("POST /v1/responses/input_tokens", (RESPONSES, COUNT, "")),
        ("GET /v1/responses/resp_1", (RESPONSES, Operation.STORED, "resp_1")),
        ("GET /v1/responses/resp_1/input_items", (RESPONSES, Operation.INPUTS, "resp_1")),
        ("POST /v1/responses/resp_1/cancel", (RESPONSES, Operation.CANCEL, "resp_1")),
        ("DELETE /v1/responses/resp_1", (RESPONSES, Operation.FORGET, "resp_1")),
        ("POST /v1beta/models/gemini-2.5-pro:generateContent", (GEMINI, ANSWER, "gemini-2.5-pro")),
        ("POST /v1/models/gemini-2.5-pro:generateContent", (GEMINI, ANSWER, "gemini-2.5-pro")),
        ("POST /v1alpha/models/gemini-2.5-pro:countTokens", (GEMINI, COUNT, "gemini-2.5-pro")),
        (f"POST /v1beta/models/{KIMI}:streamGenerateContent", (GEMINI, ANSWER, KIMI)),
        ("GET /v1/models", (CHAT, MODELS, "")),
        ("HEAD /v1/models", (CHAT, MODELS, "")),
        (f"GET /v1/models/{KIMI}", (CHAT, MODEL, KIMI)),
        ("GET /v1/models/openrouter/qwen3:free", (CHAT, MODEL, "openrouter/qwen3:free")),
        ("GET /v1beta/models/openrouter/qwen3:free", (GEMINI, MODEL, "openrouter/qwen3:free")),
        ("GET /v1beta/models", (GEMINI, MODELS, "")),
        ("GET /v1beta/models/gemini-2.5-pro", (GEMINI, MODEL, "gemini-2.5-pro")),
    ],
)
def test_every_path_of_every_api_is_known(request_: str, expected: tuple[Dialect, Operation, str]) -> None:
    method, path = request_.split()
    for prefix in ("", "/careful", "/my/own"):
        door = found(method, prefix + path)
        assert (door.dialect, door.operation, door.name) == expected
        assert door.prefix == prefix.strip("/")


@pytest.mark.parametrize(
    "request_",
    [
        "GET /",
        "GET /v1/messages",
        "POST /v1/models",
        "GET /v1/responses",
        "GET /v1/chat/completions",
        "POST /v1/embeddings",
        "POST /v1/completions",
        "POST /v1beta/models/gemini-2.5-pro:embedContent",
        "GET /v1/responses/resp_1/else",
        "POST /v1/models/m:free",
        "HEAD /v1/messages",
        "GET /v1/responses/resp_1/cancel",
    ],
)
def test_nothing_is_found_where_no_api_begins(request_: str) -> None:
    method, path = request_.split()
    assert find_door(asked(method, path)) is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"anthropic-version": "2023-06-01"}, ANTHROPIC),
        ({"x-goog-api-key": "k"}, GEMINI),
        ({"x-goog-api-client": "google-genai-sdk"}, GEMINI),
        ({"authorization": "Bearer k"}, CHAT),
    ],
)
def test_models_are_listed_for_whoever_asks(headers: dict[str, str], expected: Dialect) -> None:
    assert found("GET", "/v1/models", headers).dialect is expected


def test_the_path_says_whether_gemini_streams_and_the_query_in_which_form() -> None:
    path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
    assert (found("POST", path, alt="sse").streams, found("POST", path, alt="sse").as_array) == (True, False)
    assert (found("POST", path).streams, found("POST", path).as_array) == (True, True)
    whole = found("POST", path.replace("streamG", "g"))
    assert (whole.streams, whole.as_array) == (False, False)


def test_calls_have_ids_in_the_form_that_the_client_expects() -> None:
    assert found("POST", "/v1/messages").call_ids is CallIdForm.ANTHROPIC
    assert found("POST", "/v1/responses").call_ids is CallIdForm.OPENAI
    mistral = found("POST", "/v1/chat/completions", {"user-agent": "mistral-client-python/2.0"})
    assert (mistral.call_ids, mistral.unsplit_calls, mistral.joins_usage) == (CallIdForm.MISTRAL, True, True)
    other = found("POST", "/v1/chat/completions", {"user-agent": "OpenAI/Python 2.0"})
    assert (other.call_ids, other.unsplit_calls, other.joins_usage) == (CallIdForm.OPENAI, False, False)


def test_codex_alone_looks_for_an_overflow_in_the_stream() -> None:
    assert found("POST", "/v1/responses", {"x-codex-window-id": "w"}).is_codex
    assert not found("POST", "/v1/responses").is_codex


def test_an_upgrade_to_a_websocket_is_known() -> None:
    assert is_upgrade(asked("GET", "/v1/responses", {"upgrade": "WebSocket"}))
    assert not is_upgrade(asked("GET", "/v1/responses", {"upgrade": "h2c"}))
    assert not is_upgrade(asked("GET", "/v1/responses"))
