"""Replies that were written while their deltas arrived, read by the stream parsers of the vendors' own clients."""

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

from legato.model import (
    Answer,
    Block,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    Speaker,
    Text,
    Thinking,
    ToolCall,
)
from legato.wire.contract import ReplyWriter
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta, deltas_of
from legato.wire.dialects import dialect_parts
from official_clients import HI, answering


class Read(NamedTuple):
    """What a client makes of a stream."""

    thinking: str
    text: str
    calls: list[tuple[str, JsonObject]]


def read_by_anthropic(chunks: Iterable[bytes]) -> Read:
    client = anthropic.Anthropic(api_key="any", http_client=answering(b"".join(chunks)))
    with client.messages.stream(model="model-1", max_tokens=9, messages=HI) as stream:
        message = stream.get_final_message()
    assert message.model == "model-1"
    return Read(
        "".join(block.thinking for block in message.content if block.type == "thinking"),
        "".join(block.text for block in message.content if block.type == "text"),
        [(block.name, dict(block.input)) for block in message.content if block.type == "tool_use"],
    )


def read_by_openai_chat(chunks: Iterable[bytes]) -> Read:
    client = openai.OpenAI(api_key="any", http_client=answering(b"".join(chunks)))
    with client.chat.completions.stream(model="model-1", messages=HI) as stream:
        completion = stream.get_final_completion()
    assert completion.model == "model-1"
    message: Any = completion.choices[0].message
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
    return Read(getattr(message, "reasoning_content", ""), message.content or "", calls)


def read_by_openai_responses(chunks: Iterable[bytes]) -> Read:
    client = openai.OpenAI(api_key="any", http_client=answering(b"".join(chunks)))
    thinking = ""
    with client.responses.stream(model="model-1", input="hi") as stream:
        for event in stream:
            if event.type == "response.reasoning_summary_text.delta":
                thinking += event.delta
        response = stream.get_final_response()
    assert response.model == "model-1"
    calls = [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
    return Read(thinking, response.output_text, calls)


def read_by_gemini(chunks: Iterable[bytes]) -> Read:
    options = genai_types.HttpOptions(httpx_client=answering(b"".join(chunks)))
    client = genai.Client(api_key="any", http_options=options)
    parts: list[Any] = []
    for response in client.models.generate_content_stream(model="model-1", contents="hi"):
        assert response.model_version == "model-1"
        content = response.candidates[0].content if response.candidates else None
        parts += (content.parts if content else None) or []
    return Read(
        "".join(part.text for part in parts if part.thought),
        "".join(part.text for part in parts if part.text and not part.thought),
        [(part.function_call.name, part.function_call.args) for part in parts if part.function_call],
    )


def read_by_mistral(chunks: Iterable[bytes]) -> Read:
    read = Read("", "", [])
    with mistral.Mistral(api_key="any", client=answering(b"".join(chunks))) as client:
        for event in client.chat.stream(model="model-1", messages=HI):
            for choice in event.data.choices:
                delta: Any = choice.delta
                if isinstance(delta.content, str):
                    read = read._replace(text=read.text + delta.content)
                elif delta.content:
                    said = "".join(piece.text for chunk in delta.content for piece in chunk.thinking)
                    read = read._replace(thinking=read.thinking + said)
                for call in delta.tool_calls or ():
                    read.calls.append((call.function.name, json.loads(call.function.arguments)))
    return read


class Reader(NamedTuple):
    """A client, and the writer that speaks to it."""

    dialect: Dialect
    read: Callable[[Iterable[bytes]], Read]
    unsplit_calls: bool = False
    native: JsonObject | None = None
    """what a thought must carry to be read as one"""

    def writer(self) -> ReplyWriter:
        return dialect_parts(self.dialect).writer("model-1", "resp_1", unsplit_calls=self.unsplit_calls)


READERS = {
    "anthropic": Reader(Dialect.ANTHROPIC, read_by_anthropic, native={"signature": "c2ln"}),
    "openai chat": Reader(Dialect.OPENAI_CHAT, read_by_openai_chat),
    "openai responses": Reader(Dialect.OPENAI_RESPONSES, read_by_openai_responses),
    "google": Reader(Dialect.GEMINI, read_by_gemini),
    "mistral": Reader(Dialect.OPENAI_CHAT, read_by_mistral, unsplit_calls=True, native={"chunk": True}),
}
EVERY_READER = pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
THOUGHT, SAID = "I could … use 🎼", 'Grüße, "you" \\ there 🎹\n'
CALLS = [("read", {"path": "ä/🎻.txt", "lines": [1, 2]}), ("list", {}), ("read", {"path": "b"})]
EVERYTHING = Read(THOUGHT, SAID, CALLS)


def answer(*blocks: Block) -> Answer:
    ending = Ending.CALLS if any(isinstance(block, ToolCall) for block in blocks) else Ending.DONE
    return Answer(Entry(Speaker.AI, blocks, ending=ending), served="model-1", response_id="resp_1")


def everything(reader: Reader) -> Answer:
    calls = [ToolCall(name, arguments, f"call_{place}") for place, (name, arguments) in enumerate(CALLS)]
    return answer(Thinking(THOUGHT, native=reader.native), Text(SAID), *calls)


def written(reader: Reader, deltas: Iterable[Delta], said: Answer) -> list[bytes]:
    writer = reader.writer()
    return [*writer.start(), *(chunk for delta in deltas for chunk in writer.feed(delta)), *writer.finish(said)]


@EVERY_READER
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_thoughts_text_and_parallel_calls_are_read(reader: Reader, piece: int) -> None:
    said = everything(reader)
    assert reader.read(written(reader, deltas_of(said, piece), said)) == EVERYTHING


@EVERY_READER
def test_a_stream_is_read_that_was_written_from_the_deltas_of_a_decoder(reader: Reader) -> None:
    said = everything(reader)
    shown: list[Delta] = [delta for delta in deltas_of(said, 3) if not isinstance(delta, BlockStart | BlockDone)]
    if reader.native == {"chunk": True}:
        shown.insert(0, BlockStart(Thinking(native=reader.native)))  # one of two forms, which nothing else tells
    assert reader.read(written(reader, shown, said)) == EVERYTHING


@EVERY_READER
def test_calls_that_grow_side_by_side_are_read(reader: Reader) -> None:
    said = everything(reader)
    deltas = list(deltas_of(said, 3))
    before = [delta for delta in deltas if call_of(delta) < 0]
    queues = [[delta for delta in deltas if call_of(delta) == call] for call in range(len(CALLS))]
    mixed = [queue[turn] for turn in range(max(map(len, queues))) for queue in queues if turn < len(queue)]
    assert reader.read(written(reader, [*before, *mixed], said)) == EVERYTHING


def call_of(delta: Delta) -> int:
    match delta:
        case CallDelta():
            return delta.index
        case BlockStart() | BlockDone():
            return delta.call
        case TextDelta() | ThinkingDelta():
            return -1


@EVERY_READER
def test_a_character_that_arrives_in_halves_is_read_whole(reader: Reader) -> None:
    halves = ["so \ud83c", "\udfbc", " and a lone \ud83c"]
    said = answer(Text("so 🎼 and a lone \ufffd"))
    assert reader.read(written(reader, map(TextDelta, halves), said)) == Read("", said.text, [])


def test_hosted_tools_are_read_as_their_provider_tells_them() -> None:
    use: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    ran: JsonObject = {"executableCode": {"language": "PYTHON", "code": "1"}}
    action = {"type": "search", "query": "q"}
    item: JsonObject = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action}
    hosted = {
        "anthropic": HostedTool("web_search", {"query": "q"}, [], "srvtoolu_1", native={"blocks": [use, found]}),
        "openai responses": HostedTool("web_search", {"action": action}, native={"item": item}),
        "google": HostedTool("code_execution", native={"parts": [ran]}),
    }
    for name, block in hosted.items():
        said = answer(Text("I look. "), block, Text("found"))
        assert READERS[name].read(written(READERS[name], deltas_of(said), said)) == Read("", "I look. found", [])
        late = [TextDelta("I look. "), BlockDone(block), TextDelta("found")]
        assert READERS[name].read(written(READERS[name], late, said)) == Read("", "I look. found", [])


def test_a_signature_that_comes_late_is_still_read() -> None:
    said = answer(Thinking("hm", native={"signature": "c2ln"}), Text("so"))
    chunks = written(READERS["anthropic"], [ThinkingDelta("hm"), TextDelta("so")], said)
    client = anthropic.Anthropic(api_key="any", http_client=answering(b"".join(chunks)))
    with client.messages.stream(model="model-1", max_tokens=9, messages=HI) as stream:
        content = stream.get_final_message().content
    assert [(block.type, getattr(block, "signature", None)) for block in content] == [
        ("thinking", "c2ln"),
        ("text", None),
    ]
