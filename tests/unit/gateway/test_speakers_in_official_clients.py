"""Spoken answers in the vendors' own clients: their stream parsers read them, and send back what was carried."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import anthropic
import mistralai.client as mistral
import openai
import pytest
from google import genai
from google.genai import types as genai_types

from dialect_support import make_target
from gateway_support import CLIENTS, sent_back
from legato.errors import Overloaded
from legato.gateway.carriers import Provenance, Sealer, restore
from legato.gateway.contract import Delivery
from legato.gateway.speakers import AnswerSpeaker
from legato.model import Answer, Dialect, Ending, Entry, JsonObject, Text, Thinking, ToolCall
from legato.model import Speaker as Side
from legato.wire.deltas import TextDelta, deltas_of
from official_clients import HI, answering

SEALER = Sealer(b"k" * 32)


# --- what each client makes of a stream, as the body that it would send back ------------------------------------------


def read_by_anthropic(data: bytes) -> JsonObject:
    client = anthropic.Anthropic(api_key="any", http_client=answering(data), max_retries=0)
    with client.messages.stream(model="m", max_tokens=9, messages=HI) as stream:
        message = stream.get_final_message()
    assert message.model == "asked/model-1"
    return {"role": "assistant", "content": [block.model_dump(mode="json") for block in message.content]}


def read_by_openai_chat(data: bytes) -> JsonObject:
    client = openai.OpenAI(api_key="any", http_client=answering(data), max_retries=0)
    with client.chat.completions.stream(model="m", messages=HI) as stream:
        completion = stream.get_final_completion()
    assert completion.model == "asked/model-1"
    return {"choices": [{"message": completion.choices[0].message.model_dump(mode="json")}]}


def read_by_openai_responses(data: bytes) -> JsonObject:
    client = openai.OpenAI(api_key="any", http_client=answering(data), max_retries=0)
    with client.responses.stream(model="m", input="hi") as stream:
        response = stream.get_final_response()
    assert response.model == "asked/model-1"
    return {"output": [item.model_dump(mode="json", exclude={"parsed_arguments"}) for item in response.output]}


def read_by_gemini(data: bytes) -> JsonObject:
    """As a chat of Google's client keeps it, which forgets a turn that it takes for invalid."""
    client = genai.Client(api_key="any", http_options=genai_types.HttpOptions(httpx_client=answering(data)))
    chat = client.chats.create(model="m")
    for response in chat.send_message_stream("hi"):
        assert response.model_version == "asked/model-1"
    _, *contents = chat.get_history(curated=True)
    parts = [part for content in contents for part in content.parts or ()]
    content = genai_types.Content(role="model", parts=parts)
    return {"candidates": [{"content": content.model_dump(mode="json", exclude_none=True, by_alias=True)}]}


def read_by_mistral(data: bytes) -> JsonObject:
    chunks: list[JsonObject] = []
    calls: list[JsonObject] = []
    with mistral.Mistral(api_key="any", client=answering(data)) as client:
        for event in client.chat.stream(model="m", messages=HI):
            assert event.data.model == "asked/model-1"
            delta: Any = event.data.choices[0].delta
            if isinstance(delta.content, str):
                chunks += [{"type": "text", "text": delta.content}] if delta.content else []
            else:
                chunks += [chunk.model_dump(mode="json") for chunk in delta.content or ()]
            calls += [call.model_dump(mode="json") for call in delta.tool_calls or ()]
    return {"choices": [{"message": {"role": "assistant", "content": chunks, "tool_calls": calls}}]}


class Reader(NamedTuple):
    """A client, and how it reads."""

    delivery: Delivery
    read: Callable[[bytes], JsonObject]


READERS = {
    "anthropic": Reader(CLIENTS["anthropic"], read_by_anthropic),
    "openai chat": Reader(CLIENTS["chat"], read_by_openai_chat),
    "openai responses": Reader(CLIENTS["responses"], read_by_openai_responses),
    "openai responses, unasked": Reader(CLIENTS["responses, unasked"], read_by_openai_responses),
    "google": Reader(CLIENTS["gemini"], read_by_gemini),
    "google, unasked": Reader(CLIENTS["gemini, unasked"], read_by_gemini),
    "mistral": Reader(CLIENTS["mistral"], read_by_mistral),
}
EVERY_READER = pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())

REASONING: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g+/="}
BACKENDS: dict[Dialect, tuple[Thinking, JsonObject | None]] = {
    Dialect.ANTHROPIC: (Thinking("I could … 🎼", native={"signature": "c2ln"}), None),
    Dialect.GEMINI: (Thinking("I could"), {"thoughtSignature": "c2ln"}),
    Dialect.OPENAI_RESPONSES: (Thinking("I could", native={"item": REASONING}), None),
    Dialect.OPENAI_CHAT: (Thinking("I could"), {"extra_content": {"google": {"thought_signature": "c2ln"}}}),
}
"""what a model of each family thinks, and the native data of its first call"""
EVERY_BACKEND = pytest.mark.parametrize("backend", BACKENDS)


def given(backend: Dialect, *, calls: bool) -> Answer:
    thought, native = BACKENDS[backend]
    called = (
        ToolCall("read", {"path": "ä/🎻.txt"}, "shared", native=native),
        ToolCall("list", {}, "shared"),
    )
    blocks = (thought, Text('Grüße, "you" \\ there 🎹\n'), *(called if calls else ()))
    entry = Entry(Side.AI, blocks, make_target(backend).origin(), ending=Ending.CALLS if calls else Ending.DONE)
    return Answer(entry)


def speaker(reader: Reader, backend: Dialect) -> AnswerSpeaker:
    voice = AnswerSpeaker(reader.delivery, SEALER, "answer1")
    voice.begin(make_target(backend), "acme/model-1")
    return voice


@EVERY_READER
@EVERY_BACKEND
@pytest.mark.parametrize("calls", [True, False], ids=["calls", "text"])
def test_the_client_reads_the_stream_and_brings_everything_back(reader: Reader, backend: Dialect, calls: bool) -> None:
    said, voice = given(backend, calls=calls), speaker(reader, backend)
    chunks = [voice.keep_alive()]  # before anything was said, too
    for delta in deltas_of(said, 3):
        chunks += [*voice.feed(delta), voice.keep_alive()]
    entry = sent_back(reader.read(b"".join([*chunks, *voice.finish(said)])), reader.delivery.door.dialect)
    assert entry is not None
    assert entry.text == said.text
    restored, known = restore([entry], reader.delivery.door.dialect, SEALER, "")
    assert known == {0: Provenance("answer1", "acme/model-1")}
    assert restored[0].origin == said.entry.origin
    assert [block for block in restored[0].blocks if isinstance(block, Thinking)] == [said.entry.blocks[0]]
    assert restored[0].calls == voice.entry.calls


def raises(reader: Reader, data: bytes) -> Exception:
    with pytest.raises((openai.APIError, genai.errors.APIError)) as raised:
        reader.read(data)
    return raised.value


@pytest.mark.parametrize("name", ["openai chat", "google"])
def test_the_client_is_told_of_a_failure(name: str) -> None:
    reader = READERS[name]
    voice = speaker(reader, Dialect.ANTHROPIC)
    chunks: Iterable[bytes] = [*voice.feed(TextDelta("half a sentence")), *voice.fail(Overloaded("too busy"))]
    assert "too busy" in str(raises(reader, b"".join(chunks)))


def test_a_responses_client_is_told_of_a_failure() -> None:
    voice = speaker(READERS["openai responses"], Dialect.ANTHROPIC)
    data = b"".join([*voice.feed(TextDelta("half a sentence")), *voice.fail(Overloaded("too busy"))])
    client = openai.OpenAI(api_key="any", http_client=answering(data), max_retries=0)
    *_, last = client.responses.create(model="m", input="hi", stream=True)
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert "too busy" in last.response.error.message


def test_programs_that_did_not_ask_read_the_text_first() -> None:
    data = AnswerSpeaker(
        Delivery(door=CLIENTS["anthropic"].door, model="asked/model-1", stream=False), SEALER, "answer1"
    ).whole(given(Dialect.ANTHROPIC, calls=False))
    client = anthropic.Anthropic(api_key="any", http_client=answering(data, "application/json"))
    first = client.messages.create(model="m", max_tokens=9, messages=HI).content[0]
    assert first.type == "text"
    google = speaker(READERS["google, unasked"], Dialect.ANTHROPIC).whole(given(Dialect.ANTHROPIC, calls=False))
    assert json.loads(google)["candidates"][0]["content"]["parts"][0]["text"] == 'Grüße, "you" \\ there 🎹\n'
