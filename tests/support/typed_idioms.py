# pyright: strict
"""How programs with type checkers use Legato and the official clients: no cast, no ignore, nothing unknown.

`make check` reads this file with pyright's strict rules, and `test_official_clients` runs it. `assert_type` says which
overload a checker has to choose: `request.sdk()` holds no `stream`, so what stands in the call decides.
"""

from __future__ import annotations

from typing import Any, assert_type

from anthropic import Anthropic, Stream
from anthropic.types import Message, RawMessageStreamEvent
from google import genai
from google.genai.types import GenerateContentResponse
from mistralai.client import Mistral
from openai import OpenAI
from openai import Stream as OpenAIStream
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent

from legato import Conversation, Entry, Options, Request, parse, render

CLAUDE = "anthropic/claude-haiku-4-5"
GPT, RESPONSES = "openai/gpt-5.1", "openai-responses/gpt-5.1"
GEMINI = "gemini/gemini-3-pro-preview"
MISTRAL = "mistral/mistral-large-latest"
FILES = {"a.txt": "hello a", "b.txt": "hello b"}


def read_file(path: str) -> str:
    """Read a text file.

    Args:
        path: which one
    """
    return FILES[path]


def _request(talk: Conversation, route: str, *, stream: bool = False, temperature: float | None = None) -> Request:
    options = Options(max_tokens=4000, stream=stream, temperature=temperature)
    return render(talk, route, tools=[read_file], options=options)


def ask_claude(client: Anthropic, talk: Conversation) -> Entry:
    """Whole."""
    request = _request(talk, CLAUDE, temperature=0.5)
    response = client.messages.create(**request.sdk(), stream=False)
    assert_type(response, Message)
    return talk.record(request.decode(response))


def stream_claude(client: Anthropic, talk: Conversation) -> Entry:
    """Streamed, by `create` and by the helper."""
    request = _request(talk, CLAUDE, temperature=0.5, stream=True)
    decoder = request.decoder()
    events = client.messages.create(**request.sdk(), stream=True)
    assert_type(events, Stream[RawMessageStreamEvent])
    for event in events:
        decoder.event(event)
    with client.messages.stream(**request.sdk()) as helper:
        assert_type(helper.get_final_text(), str)
    return talk.record(decoder.finish())


def ask_gpt(client: OpenAI, talk: Conversation) -> Entry:
    """Whole, by chat completions."""
    request = _request(talk, GPT)
    response = client.chat.completions.create(**request.sdk(), stream=False)
    assert_type(response, ChatCompletion)
    return talk.record(request.decode(response))


def stream_gpt(client: OpenAI, talk: Conversation) -> Entry:
    """Streamed, by chat completions."""
    request = _request(talk, GPT, stream=True)
    decoder = request.decoder()
    chunks = client.chat.completions.create(**request.sdk(), stream=True)
    assert_type(chunks, OpenAIStream[ChatCompletionChunk])
    for chunk in chunks:
        decoder.event(chunk)
    return talk.record(decoder.finish())


def ask_responses(client: OpenAI, talk: Conversation) -> Entry:
    """Whole, by responses."""
    request = _request(talk, RESPONSES)
    response = client.responses.create(**request.sdk(), stream=False)
    assert_type(response, Response)
    return talk.record(request.decode(response))


def stream_responses(client: OpenAI, talk: Conversation) -> Entry:
    """Streamed, by responses."""
    request = _request(talk, RESPONSES, stream=True)
    decoder = request.decoder()
    events = client.responses.create(**request.sdk(), stream=True)
    assert_type(events, OpenAIStream[ResponseStreamEvent])
    for event in events:
        decoder.event(event)
    return talk.record(decoder.finish())


def ask_gemini(client: genai.Client, talk: Conversation) -> Entry:
    """Whole."""
    request = _request(talk, GEMINI)
    response = client.models.generate_content(**request.sdk())
    assert_type(response, GenerateContentResponse)
    return talk.record(request.decode(response))


def stream_gemini(client: genai.Client, talk: Conversation) -> Entry:
    """Streamed."""
    request = _request(talk, GEMINI)
    decoder = request.decoder()
    for chunk in client.models.generate_content_stream(**request.sdk()):
        decoder.event(chunk)
    return talk.record(decoder.finish())


def ask_mistral(client: Mistral, talk: Conversation) -> Entry:
    """Whole."""
    request = _request(talk, MISTRAL, temperature=0.5)
    return talk.record(request.decode(client.chat.complete(**request.sdk())))


def stream_mistral(client: Mistral, talk: Conversation) -> Entry:
    """Streamed."""
    request = _request(talk, MISTRAL, temperature=0.5, stream=True)
    decoder = request.decoder()
    with client.chat.stream(**request.sdk()) as events:
        for event in events:
            decoder.event(event)
    return talk.record(decoder.finish())


def take_over(client: OpenAI) -> Conversation:
    """A history with the client's own objects in it, as OpenAI's documentation writes it."""
    items: list[Any] = [{"role": "user", "content": "Hello"}]
    response = client.responses.create(model="gpt-5.1", input=items)
    items += response.output
    return parse(items, RESPONSES).conversation()
