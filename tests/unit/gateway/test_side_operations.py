"""Models and counts, in the shapes that the vendors' own clients validate."""

from __future__ import annotations

import base64
from typing import Any

import anthropic
import mistralai.client as mistral
import msgspec
import openai
import pytest
from google import genai
from google.genai import types

from legato import parse
from legato.errors import UnknownTarget
from legato.gateway.contract import CallIdForm, Door
from legato.gateway.side_operations import count_body, count_tokens, counted_request, models_body
from legato.model import Dialect, JsonObject, Target
from legato.request import resolve
from legato.request.tokens import Estimator
from legato.transport.contract import whole_response
from legato.transport.operations import Operation
from official_clients import HI, Answering

from builders import ROUTES

KIMI = "kimi/kimi-k2-thinking"
OFFERED: dict[str, Target] = {"careful": resolve("anthropic/claude-opus-4-8"), KIMI: resolve(KIMI)}


def door(dialect: Dialect, operation: Operation, name: str = "", call_ids: CallIdForm = CallIdForm.OPENAI) -> Door:
    return Door(dialect=dialect, operation=operation, name=name, call_ids=call_ids)


def answering(body: JsonObject) -> Answering:
    return Answering(whole_response(200, msgspec.json.encode(body)))


# --- models -----------------------------------------------------------------------------------------------------------


def test_anthropics_client_lists_what_is_offered() -> None:
    here = answering(models_body(door(Dialect.ANTHROPIC, Operation.MODELS), OFFERED))
    client = anthropic.Anthropic(api_key="any", http_client=here.client(), _strict_response_validation=True)
    listed = list(client.models.list())
    assert [(model.id, model.display_name, model.type, model.lifecycle) for model in listed] == [
        ("careful", "careful", "model", "active"),
        (KIMI, KIMI, "model", "active"),
    ]
    assert listed[1].max_input_tokens == OFFERED[KIMI].capabilities.window
    assert listed[1].created_at is not None


def test_openais_client_lists_what_is_offered() -> None:
    for dialect in (Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES):
        here = answering(models_body(door(dialect, Operation.MODELS), OFFERED))
        client = openai.OpenAI(api_key="any", http_client=here.client(), _strict_response_validation=True)
        assert [(model.id, model.object, model.owned_by) for model in client.models.list()] == [
            ("careful", "model", "anthropic"),
            (KIMI, "model", "kimi"),
        ]


def test_googles_client_lists_what_is_offered() -> None:
    here = answering(models_body(door(Dialect.GEMINI, Operation.MODELS), OFFERED))
    client = genai.Client(api_key="any", http_options=types.HttpOptions(httpx_client=here.client()))
    listed = list(client.models.list())
    assert [model.name for model in listed] == ["models/careful", f"models/{KIMI}"]
    assert listed[1].input_token_limit == OFFERED[KIMI].capabilities.window
    assert "generateContent" in (listed[1].supported_actions or [])


def test_mistrals_client_lists_what_is_offered() -> None:
    here = answering(models_body(door(Dialect.OPENAI_CHAT, Operation.MODELS, "", CallIdForm.MISTRAL), OFFERED))
    with mistral.Mistral(api_key="any", client=here.client()) as client:
        listed: Any = client.models.list().data
    assert [(type(card).__name__, card.id) for card in listed] == [
        ("BaseModelCard", "careful"),
        ("BaseModelCard", KIMI),
    ]


def test_one_model_is_told_by_itself() -> None:
    here = answering(models_body(door(Dialect.ANTHROPIC, Operation.MODEL, KIMI), OFFERED))
    client = anthropic.Anthropic(api_key="any", http_client=here.client(), _strict_response_validation=True)
    assert client.models.retrieve("any").id == KIMI
    here = answering(models_body(door(Dialect.OPENAI_CHAT, Operation.MODEL, "careful"), OFFERED))
    assert openai.OpenAI(api_key="any", http_client=here.client()).models.retrieve("any").id == "careful"


def test_a_model_that_is_not_offered_is_unknown() -> None:
    with pytest.raises(UnknownTarget, match="'gone'"):
        models_body(door(Dialect.ANTHROPIC, Operation.MODEL, "gone"), OFFERED)


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.OPENAI_CHAT, Dialect.GEMINI])
def test_a_gateway_that_offers_nothing_says_so(dialect: Dialect) -> None:
    body = models_body(door(dialect, Operation.MODELS), {})
    assert (body.get("data") or body.get("models") or []) == []


# --- counts -----------------------------------------------------------------------------------------------------------


def test_clients_read_a_count() -> None:
    here = answering(count_body(door(Dialect.ANTHROPIC, Operation.COUNT), 123))
    claude = anthropic.Anthropic(api_key="any", http_client=here.client(), _strict_response_validation=True)
    assert claude.messages.count_tokens(model="any", messages=HI).input_tokens == 123
    here = answering(count_body(door(Dialect.OPENAI_RESPONSES, Operation.COUNT), 123))
    gpt = openai.OpenAI(api_key="any", http_client=here.client(), _strict_response_validation=True)
    assert gpt.responses.input_tokens.count(model="any", input="hi").input_tokens == 123
    here = answering(count_body(door(Dialect.GEMINI, Operation.COUNT), 123))
    google = genai.Client(api_key="any", http_options=types.HttpOptions(httpx_client=here.client()))
    assert google.models.count_tokens(model="any", contents="hi").total_tokens == 123


def counted(body: JsonObject, source: str, route: str = "openai/gpt-4o") -> int:
    return count_tokens(parse(counted_request(body), source), resolve(route), Estimator(len))


@pytest.mark.parametrize("route", ROUTES)
def test_a_request_is_counted_as_its_target_would_get_it(route: str) -> None:
    body = {"model": "any", "messages": [{"role": "user", "content": "x" * 500}]}
    tool = {"name": "read", "description": "y" * 300, "input_schema": {"type": "object"}}
    plain = counted(body, "anthropic/claude-opus-4-8", route)
    assert plain > 500
    assert counted(body | {"tools": [tool]}, "anthropic/claude-opus-4-8", route) > plain + 300
    assert counted(body | {"system": "z" * 400}, "anthropic/claude-opus-4-8", route) > plain + 400


def test_a_lone_function_response_is_counted() -> None:
    part = {"functionResponse": {"name": "read_file", "response": {"output": "word " * 100}}}
    body = {"contents": [{"role": "user", "parts": [part]}]}
    for route in ("gemini/gemini-2.5-flash", "anthropic/claude-opus-4-8", "mistral/mistral-large-latest"):
        assert counted(body, "gemini/gemini-2.5-flash", route) > 500


def test_a_request_inside_a_request_is_counted_with_its_tools() -> None:
    whole = {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "read", "description": "y" * 300}]}],
    }
    assert counted({"generateContentRequest": whole}, "gemini/gemini-2.5-flash") > 300


def test_a_picture_is_not_counted_by_its_bytes() -> None:
    data = base64.b64encode(bytes(range(256)) * 400).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    picture = {"type": "image", "source": source}
    body = {"model": "any", "messages": [{"role": "user", "content": [picture, {"type": "text", "text": "what?"}]}]}
    assert 1_600 < counted(body, "anthropic/claude-opus-4-8", "anthropic/claude-opus-4-8") < 3_000
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [picture]}
    body = {"model": "any", "messages": [{"role": "user", "content": [result]}]}
    assert 1_600 < counted(body, "anthropic/claude-opus-4-8", "anthropic/claude-opus-4-8") < 3_000


def test_options_that_the_target_refuses_do_not_keep_a_request_from_being_counted() -> None:
    body = {
        "model": "any",
        "messages": [{"role": "user", "content": "hi"}],
        "tool_choice": {"type": "tool", "name": "gone"},
    }
    assert counted(body, "anthropic/claude-opus-4-8") > 0


def test_what_a_provider_counted_before_corrects_the_count() -> None:
    parsed, target = parse({"model": "any", "messages": HI}, "openai/gpt-4o"), resolve("openai/gpt-4o")
    careful = Estimator()
    before = count_tokens(parsed, target, careful)
    careful.observe(target.route, 1000, 500)
    assert count_tokens(parsed, target, careful) > before
