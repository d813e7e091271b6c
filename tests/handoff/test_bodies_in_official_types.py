"""Bodies that we render, read by the request types of the vendors' own clients: everything has the type that they say.

The clients for Anthropic and OpenAI describe requests as typed dictionaries, Google's and Mistral's as models. What a
client does not know it ignores, so this is about fields that are there and wrong, or are missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from legato import render, resolve
from legato.errors import ImpossibleRequest
from legato.model import Choice, Entry, Options, OutputFormat, SpecKind, Target, TextGrammar, ThinkingSwitch, ToolSpec
from legato.request import parse
from legato.request.request import Request

from builders import ROUTES, talk
from cases import CASES
from strategies import logs

CLIENTS = Path(__file__).parents[2].parent / "shared/samples/clients"
OFFICIAL = [route for route in ROUTES if not route.startswith(("kimi", "deepseek", "vercel", "bedrock"))]
CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TOOLS = [
    ToolSpec("read", "Read a file.", CLOSED, strict=True),
    ToolSpec("search", namespace="books"),
    ToolSpec("search", namespace="songs", strict=False),
    ToolSpec("patch", kind=SpecKind.CUSTOM, grammar=TextGrammar("regex", "a+")),
    ToolSpec("web", kind=SpecKind.HOSTED, home="openai_responses", native={"type": "web_search"}),
]


@cache
def reader(route: str) -> Callable[[dict[str, Any]], Any]:
    """What reads a body as the vendor's client types it."""
    match resolve(route).provider:
        case "anthropic":
            from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

            return TypeAdapter(MessageCreateParamsNonStreaming).validate_python
        case "openai":
            from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

            return TypeAdapter(CompletionCreateParamsNonStreaming).validate_python
        case "openai-responses":
            from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

            return TypeAdapter(ResponseCreateParamsNonStreaming).validate_python
        case "mistral":
            from mistralai.client.models import ChatCompletionRequest

            return ChatCompletionRequest.model_validate
        case _:
            return read_as_google


def read_as_google(body: dict[str, Any]) -> None:
    from google.genai.types import Content, GenerateContentConfig

    for content in body["contents"]:
        Content.model_validate(content)
    rest = {name: value for name, value in body.items() if name not in ("contents", "generationConfig")}
    GenerateContentConfig.model_validate({**body.get("generationConfig", {}), **rest})


def use_up(value: Any) -> None:
    """Read all of a value: iterables in a typed dictionary are checked only while they are read."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            use_up(item)


def faults(request: Request, route: str) -> list[str]:
    body = request.copy()
    body.pop("stream", None)  # there is a type of its own for it
    for item in body.get("input", []):
        if item["type"] == "reasoning":
            # The type demands an id. The API does not, and where nothing is stored there is none to name.
            item.setdefault("id", "rs_1")
    try:
        use_up(reader(route)(body))
    except ValidationError as error:
        found = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
        # Attachments are sent as they were given, also where what was given is no base64.
        return [f"{place}: {message}" for place, message in found if "inlineData" not in place][:5]
    return []


@pytest.mark.parametrize("route", OFFICIAL)
def test_a_wrong_body_does_not_pass(route: str) -> None:
    request = render(CASES["parallel_and_failed"](), route, tools=TOOLS)
    assert faults(request, route) == []
    wrong = request.copy()
    name = next(name for name in ("messages", "input", "contents") if name in wrong)
    wrong[name][0] = {"role": 3}
    with pytest.raises(ValidationError):
        use_up(reader(route)(wrong))


@pytest.mark.parametrize("route", OFFICIAL)
def test_the_golden_conversations_have_the_types_of_the_official_clients(route: str) -> None:
    found = {name: wrong for name in CASES if (wrong := faults(render(CASES[name](), route, tools=TOOLS), route))}
    assert found == {}


OPTIONS = st.builds(
    Options,
    max_tokens=st.none() | st.integers(1, 9_999),
    temperature=st.none() | st.sampled_from([0, 0.5, 1.0]),
    choice=st.none() | st.sampled_from(Choice),
    thinking=st.sampled_from(ThinkingSwitch),
    thinking_budget=st.none() | st.just(2_000),
    effort=st.none() | st.sampled_from(["low", "medium", "high"]),
    top_p=st.none() | st.just(0.97),
    top_k=st.none() | st.just(40),
    seed=st.none() | st.just(7),
    stop=st.sampled_from([(), ("END",)]),
    output=st.sampled_from([None, OutputFormat(), OutputFormat(schema=CLOSED, name="x", strict=True)]),
    parallel_calls=st.sampled_from([None, True, False]),
    verbosity=st.sampled_from([None, "low"]),
    metadata=st.sampled_from([{}, {"user_id": "u"}]),
    cache_ttl=st.sampled_from(["", "1h"]),
)


@pytest.mark.parametrize("route", OFFICIAL)
@settings(max_examples=10)
@given(entries=logs(max_size=6), options=OPTIONS, tools=st.lists(st.sampled_from(TOOLS), unique_by=id))
def test_any_request_has_the_types_of_the_official_clients(
    route: str, entries: list[Entry], options: Options, tools: list[ToolSpec]
) -> None:
    try:
        request = render(talk(*entries), route, options=options, tools=tools)
    except ImpossibleRequest:
        return  # a call is demanded and there are no tools
    assert faults(request, route) == []


def sent_by_clients() -> list[tuple[str, dict[str, Any], Target]]:
    providers = {"openai-chat": "openai"}
    found: list[tuple[str, dict[str, Any], Target]] = []
    for file in sorted(CLIENTS.glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines()):
            sent = json.loads(line)
            model = sent["body"].get("model") or sent["path"].partition("models/")[2].partition(":")[0]
            provider = providers.get(sent["surface"], sent["surface"])
            found.append((f"{file.stem} {number}", sent["body"], resolve(f"{provider}/{model}")))
    return found


@pytest.mark.skipif(not CLIENTS.exists(), reason="the samples are not beside this checkout")
@pytest.mark.parametrize("route", OFFICIAL)
def test_the_requests_of_real_clients_have_those_types_wherever_they_are_carried(route: str) -> None:
    found: dict[str, list[str]] = {}
    for name, body, source in sent_by_clients():
        parsed = parse(body, source)
        request = render(parsed.conversation(), route, tools=parsed.tools, options=parsed.options)
        if wrong := faults(request, route):
            found[name] = wrong
    assert found == {}
