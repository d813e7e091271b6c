"""The official clients' arguments, answers, events and messages: what we give them and what we take from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic
import mistralai.client as mistral
import openai
import pytest
from anthropic.types import Message
from google.genai import types
from mistralai.client import models as mistral_models
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from legato import Conversation, parse, render
from legato.errors import BadAnswer, FormatError, ImpossibleRequest
from legato.model import (
    Answer,
    Dialect,
    Ending,
    Entry,
    JsonObject,
    Media,
    MediaKind,
    Options,
    Speaker,
    Text,
    Thinking,
    ThinkingSwitch,
    ToolCall,
    ToolSpec,
    Usage,
)
from legato.request import resolve
from legato.request.sdk import KNOWN
from legato.tools import ToolContext, tool
from legato.wire.dialects import dialect_parts

from builders import talk, user

CLAUDE = anthropic.Anthropic(api_key="any")
OPENAI = openai.OpenAI(api_key="any")
MISTRAL = mistral.Mistral(api_key="any")
CONVERSE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"

# --- arguments --------------------------------------------------------------------------------------------------------

METHODS: dict[str, tuple[Callable[..., object], ...]] = {
    "anthropic/claude-haiku-4-5": (CLAUDE.messages.create, CLAUDE.messages.stream, CLAUDE.messages.parse),
    "openai/gpt-4o": (OPENAI.chat.completions.create, OPENAI.chat.completions.stream, OPENAI.chat.completions.parse),
    "openai-responses/gpt-4.1": (OPENAI.responses.create, OPENAI.responses.stream, OPENAI.responses.parse),
    "mistral/mistral-large-latest": (MISTRAL.chat.complete, MISTRAL.chat.stream),
}


@pytest.mark.parametrize("route", METHODS)
def test_every_helper_of_the_official_client_takes_the_arguments(route: str) -> None:
    extra: JsonObject = {"top_p": 0.5} if "mistral" in route else {"top_p": 0.5, "new_field": 1}
    options = Options(max_tokens=64, temperature=0.5, stream=True, extra=extra)
    arguments = render(talk(user("hi")), route, system="s", tools=[ToolSpec("read")], options=options).sdk()
    for method in METHODS[route]:
        inspect.signature(method).bind(**arguments)
    assert "stream" not in arguments


def test_the_client_of_aws_is_given_the_model_and_bytes() -> None:
    picture = Media(MediaKind.IMAGE, "image/png", data="aGk=")
    hidden = Entry(
        Speaker.AI,
        (Thinking(native={"data": "aGlkZGVu"}), ToolCall("read", {"bytes": "aGk="}, "tooluse_1")),
        origin=resolve(CONVERSE).origin(),
    )
    news = talk(user("see", picture), hidden)
    news.result(next(iter(news.ledger.calls)), "it", media=[picture])
    thinking = Options(thinking=ThinkingSwitch.ON, stream=True, cache=False)
    arguments = render(news, CONVERSE, tools=[ToolSpec("read")], options=thinking).sdk()
    image = {"image": {"format": "png", "source": {"bytes": b"hi"}}}
    assert (arguments["modelId"], arguments["messages"]) == (
        CONVERSE.removeprefix("bedrock/"),
        [
            {"role": "user", "content": [{"text": "see"}, image]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"redactedContent": b"hidden"}},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"bytes": "aGk="}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "tooluse_1",
                            "content": [{"text": "it"}, image],
                            "status": "success",
                        }
                    }
                ],
            },
        ],
    )
    assert (
        parse(arguments, CONVERSE).entries == parse(render(news, CONVERSE, options=thinking).copy(), CONVERSE).entries
    )


def test_the_client_of_anthropic_gets_sampling_in_the_body() -> None:
    options = Options(max_tokens=64, temperature=0.5, extra={"top_p": 0.5, "top_k": 3})
    arguments = render(talk(user("hi")), "anthropic/claude-haiku-4-5", options=options).sdk()
    assert arguments["extra_body"] == {"temperature": 0.5, "top_p": 0.5, "top_k": 3}


@pytest.mark.parametrize(
    ("dialect", "methods"),
    [(resolve(route).dialect, methods) for route, methods in METHODS.items() if "mistral" not in route],
)
def test_a_field_is_passed_by_name_only_if_every_helper_knows_it(
    dialect: Dialect, methods: tuple[Callable[..., object], ...]
) -> None:
    for method in methods:
        assert KNOWN[dialect] <= inspect.signature(method).parameters.keys()


def test_the_config_of_googles_client_takes_what_is_put_there() -> None:
    assert KNOWN[Dialect.GEMINI] <= {field.alias for field in types.GenerateContentConfig.model_fields.values()}
    extra: JsonObject = {"generationConfig": {"topK": 3, "newSetting": 1}, "newField": {"a": 1}}
    request = render(talk(user("hi")), "gemini/gemini-3-pro-preview", system="s", options=Options(extra=extra))
    config = types.GenerateContentConfig.model_validate(request.sdk()["config"])
    assert config.top_k == 3
    assert config.http_options == types.HttpOptions(
        extra_body={"newField": {"a": 1}, "generationConfig": {"newSetting": 1}}
    )


# --- messages ---------------------------------------------------------------------------------------------------------

SIGNED: dict[str, JsonObject | None] = {
    "anthropic/claude-haiku-4-5": {"signature": "c2ln"},
    "openai-responses/gpt-5.1": {
        "item": {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Which file?"}],
            "encrypted_content": "abc",
        }
    },
    "openai/gpt-4o": None,
    "gemini/gemini-3-pro-preview": None,
    "mistral/mistral-large-latest": None,
}
MAKERS: dict[str, Callable[[JsonObject], Any]] = {
    "anthropic/claude-haiku-4-5": Message.model_validate,
    "openai-responses/gpt-5.1": Response.model_validate,
    "openai/gpt-4o": ChatCompletion.model_validate,
    "gemini/gemini-3-pro-preview": types.GenerateContentResponse.model_validate,
    "mistral/mistral-large-latest": mistral_models.ChatCompletionResponse.model_validate,
}
IDIOMS: dict[str, Callable[[Any], list[object]]] = {
    "anthropic/claude-haiku-4-5": lambda message: [{"role": "assistant", "content": message.content}],
    "openai-responses/gpt-5.1": lambda response: list(response.output),
    "openai/gpt-4o": lambda completion: [completion.choices[0].message],
    "gemini/gemini-3-pro-preview": lambda response: [response.candidates[0].content],
    "mistral/mistral-large-latest": lambda completion: [completion.choices[0].message],
}
"""how the vendors' documentation puts an answer behind the messages of the next request"""
FIRST: dict[str, object] = {route: {"role": "user", "content": "hi"} for route in MAKERS}
FIRST["gemini/gemini-3-pro-preview"] = types.Content(role="user", parts=[types.Part(text="hi")])


def printed(route: str) -> tuple[Answer, JsonObject]:
    """An answer with a thought, words and two calls, and the body in which that provider gives it."""
    signature = SIGNED[route]
    thought: tuple[Thinking, ...] = (Thinking("Which file?", native=signature),) if signature else ()
    sealed = {"thoughtSignature": "c2+/bg=="} if "gemini" in route else None
    blocks = (
        *thought,
        Text("Both."),
        ToolCall("read", {"path": "a", "limit": None}, "call12345", native=sealed),
        ToolCall("read", {"path": "b"}, "call12346"),
    )
    target = resolve(route)
    entry = Entry(Speaker.AI, blocks, origin=target.origin(target.model), ending=Ending.CALLS)
    answer = Answer(entry, Usage(1, 2), target.model, "resp_1")
    return answer, dialect_parts(target.dialect).reply(answer, target.model)


@pytest.mark.parametrize("route", MAKERS)
def test_messages_with_the_clients_objects_lose_nothing(route: str) -> None:
    answer, body = printed(route)
    parsed = parse([FIRST[route], *IDIOMS[route](MAKERS[route](body))], route)
    assert [entry.blocks for entry in parsed.entries] == [(Text("hi"),), answer.entry.blocks]
    assert parsed.notes == []


@pytest.mark.parametrize("route", MAKERS)
def test_a_whole_body_may_hold_the_clients_objects(route: str) -> None:
    answer, body = printed(route)
    field = dialect_parts(resolve(route).dialect).messages_field
    parsed = parse({"model": "m", field: (FIRST[route], *IDIOMS[route](MAKERS[route](body)))}, route)
    assert [entry.blocks for entry in parsed.entries] == [(Text("hi"),), answer.entry.blocks]


@pytest.mark.parametrize("route", MAKERS)
def test_an_answer_is_the_same_as_an_object_and_as_a_body(route: str) -> None:
    answer, body = printed(route)
    request = render(talk(user("hi")), route, tools=[ToolSpec("read")])
    assert request.decode(MAKERS[route](body)) == request.decode(body)
    assert request.decode(body).entry.blocks == answer.entry.blocks


def test_google_media_given_as_bytes_is_read_in_the_alphabet_that_all_providers_take() -> None:
    data = bytes([251, 255, 254])
    image = Media(MediaKind.IMAGE, "image/png", data="+//+")
    part = types.Part.from_bytes(data=data, mime_type="image/png")
    spelled = {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": data}}]}
    for content in (types.Content(role="user", parts=[part]), spelled):
        assert parse([content], "gemini/gemini-3-pro-preview").entries[0].blocks == (image,)


def test_google_contents_may_be_bare_texts_and_parts() -> None:
    parsed = parse(["hi", types.Part(text="there")], "gemini/gemini-3-pro-preview")
    assert [entry.blocks for entry in parsed.entries] == [(Text("hi"),), (Text("there"),)]
    assert parsed.notes == []


@dataclass
class Said:
    text: str
    type: str = "text"


@pytest.mark.parametrize("content", [({"type": "text", "text": "hi"},), [Said("hi")], "hi"])
def test_what_only_python_tells_apart_is_the_same_message(content: object) -> None:
    assert parse([{"role": "user", "content": content}], "anthropic/claude-haiku-4-5").entries[0].blocks == (
        Text("hi"),
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_lacks_is_kept_by_its_name(number: float) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"limit": number, "path": None}}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [call]}]
    [_, answer] = parse(messages, "anthropic/claude-haiku-4-5").entries
    name = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)]
    assert answer.calls[0].arguments == {"limit": name, "path": None}


def test_a_body_that_cannot_become_json_is_a_format_error() -> None:
    class Broken:
        def model_dump(self, **_: object) -> object:
            raise RuntimeError("no")

    with pytest.raises(FormatError, match="cannot become JSON"):
        parse([{"role": "user", "content": Broken()}], "openai/gpt-4o")


# --- events -----------------------------------------------------------------------------------------------------------


def test_an_event_that_is_no_object_is_a_bad_answer() -> None:
    decoder = render(talk(user("hi")), "openai/gpt-4o").decoder()
    with pytest.raises(BadAnswer, match="should be an object, not int"):
        decoder.event(5)


# --- functions --------------------------------------------------------------------------------------------------------


def test_a_plain_function_is_a_tool() -> None:
    def read_file(path: str, limit: int = 5) -> str:
        """Read a file."""
        return path[:limit]

    assert render(talk(user("hi")), "openai/gpt-4o", tools=[read_file]).body == (
        render(talk(user("hi")), "openai/gpt-4o", tools=[tool(read_file)]).body
    )


def test_a_bound_method_is_a_tool_without_its_self() -> None:
    class Shelf:
        def find(self, title: str) -> str:
            """Find a book."""
            return title

    [spelled] = render(Conversation(), "anthropic/claude-haiku-4-5", tools=[Shelf().find]).body["tools"]
    assert (spelled["name"], list(spelled["input_schema"]["properties"])) == ("find", ["title"])


def test_what_the_runtime_gives_is_not_shown_to_the_model() -> None:
    def wait(seconds: int, context: ToolContext) -> None:
        """Wait."""

    [spelled] = render(Conversation(), "openai/gpt-4o", tools=[wait]).body["tools"]
    assert list(spelled["function"]["parameters"]["properties"]) == ["seconds"]


def test_a_function_that_cannot_be_called_by_name_is_no_tool() -> None:
    def gather(*paths: str) -> None: ...

    with pytest.raises(ImpossibleRequest, match="cannot be passed by name"):
        render(Conversation(), "openai/gpt-4o", tools=[gather])
