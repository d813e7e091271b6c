"""How an answer is written as a response of the Messages API."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from block_support import claude
from dialect_support import read_every_way
from legato.model import (
    Answer,
    Block,
    Code,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    NameRule,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from legato.wire.anthropic import DIALECT
from legato.wire.anthropic.decode import decode
from legato.wire.anthropic.stream import Decoder
from legato.wire.names import NameTable

TARGET = claude()
NAMES = NameTable(NameRule.ANTHROPIC)
EVENT = TypeAdapter[Any](RawMessageStreamEvent)
USE: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
CITATION = {
    "type": "web_search_result_location",
    "cited_text": "x",
    "encrypted_index": "e",
    "title": "t",
    "url": "https://a.example",
}


def answer(*blocks: Block, ending: Ending | None = Ending.DONE, usage: Usage | None = None) -> Answer:
    entry = Entry(Speaker.AI, blocks, origin=TARGET.origin("model-1"), ending=ending)
    return Answer(entry, usage or Usage(input=20, output=5, cache_read=8, cache_write=4), "model-1", "msg_1")


ANSWERS = [
    answer(Text("hello " * 40)),
    answer(
        Thinking("hm " * 50, native={"signature": "sig"}),
        Thinking(native={"data": "secret"}),
        Text("I look", native={"citations": [CITATION]}),
        ToolCall("read", {"path": "a" * 100}, "toolu_1"),
        ToolCall("list", {}, "toolu_2"),
        ending=Ending.CALLS,
        usage=Usage(input=3, output=9, reasoning=4),
    ),
    answer(
        HostedTool("web_search", {"query": "q"}, [], "srvtoolu_1", native={"blocks": [USE, FOUND]}),
        ToolCall("read", {}, "t", native={"caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}}),
        ending=Ending.CALLS,
    ),
    answer(Text("so"), ToolCall("read", {}, "toolu_1", raw='{"p', finished=False), ending=Ending.LENGTH),
    answer(Text("no"), ending=Ending.REFUSED),
    answer(Text("wait"), ending=Ending.PAUSED),
]


@pytest.mark.parametrize("given", ANSWERS)
def test_a_reply_is_read_back_as_the_same_answer(given: Answer) -> None:
    assert decode(DIALECT.reply(given, "model-1"), TARGET, NAMES) == given
    assert read_every_way(lambda: Decoder(TARGET, NAMES), b"".join(DIALECT.reply_stream(given, "model-1"))) == given


@pytest.mark.parametrize("given", ANSWERS)
def test_the_official_client_takes_a_reply(given: Answer) -> None:
    message = Message.model_validate(DIALECT.reply(given, "model-1"))
    assert (message.model, message.usage.input_tokens) == (
        "model-1",
        DIALECT.reply(given, "model-1")["usage"]["input_tokens"],
    )
    types: list[str] = []
    for piece in DIALECT.reply_stream(given, "model-1"):
        name, data, *end = piece.split(b"\n")
        types.append(EVENT.validate_json(data.removeprefix(b"data: ")).type)
        assert (name, end) == (f"event: {types[-1]}".encode(), [b"", b""])
    assert [types[0], *types[-2:]] == ["message_start", "message_delta", "message_stop"]


def test_usage_counts_the_cache_apart() -> None:
    assert DIALECT.reply(answer(Text("x")), "m")["usage"] == {
        "input_tokens": 8,
        "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 8,
        "output_tokens": 5,
    }


def test_what_has_no_form_here_is_text() -> None:
    given = answer(
        Code("x", "py"),
        Media(MediaKind.IMAGE, "image/png", data="aa=="),
        HostedTool("search", {"q": 1}, "found"),
        Thinking("unsigned"),
        ToolCall("read"),
        ending=None,
    )
    body = DIALECT.reply(given, "m")
    assert body["content"] == [
        {"type": "text", "text": "```py\nx\n```", "citations": None},
        {"type": "text", "text": "[image omitted: image/png, which this model cannot take]", "citations": None},
        {"type": "text", "text": '[The provider ran search {"q":1}, which gave:]\nfound', "citations": None},
        {"type": "thinking", "thinking": "unsigned", "signature": ""},
        {"type": "tool_use", "id": body["content"][4]["id"], "name": "read", "input": {}},
    ]
    assert body["content"][4]["id"].startswith("toolu_")
    assert body["stop_reason"] == "tool_use"


def test_a_bare_answer_gets_an_id_and_zero_usage() -> None:
    body = DIALECT.reply(Answer(Entry(Speaker.AI, (Text("x"),))), "m")
    assert (len(body["id"]), body["stop_reason"], body["usage"]["output_tokens"]) == (32, "end_turn", 0)
    assert msgspec.json.decode(b"".join(DIALECT.reply_stream(ANSWERS[0], "m")).split(b"data: ")[1].split(b"\n")[0])[
        "message"
    ]["usage"] == {
        "input_tokens": 8,
        "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 8,
        "output_tokens": 0,
    }
