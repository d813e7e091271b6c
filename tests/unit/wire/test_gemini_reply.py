"""How an answer is written as a response of `generateContent`."""

from __future__ import annotations

import pytest
from google.genai import types as genai

from block_support import gemini
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
from legato.wire.gemini import DIALECT
from legato.wire.gemini.decode import decode
from legato.wire.gemini.stream import Decoder
from legato.wire.names import NameTable
from legato.wire.sse import SSEParser

TARGET = gemini()
NAMES = NameTable(NameRule.GEMINI)
SIGNED: JsonObject = {"thoughtSignature": "CokDAb4+9vue"}


def answer(*blocks: Block, ending: Ending | None = Ending.DONE, usage: Usage | None = None) -> Answer:
    entry = Entry(Speaker.AI, blocks, origin=TARGET.origin("model-1"), ending=ending)
    return Answer(entry, usage or Usage(input=20, output=5), "model-1", "r1")


RAN: list[JsonObject] = [
    {"executableCode": {"language": "PYTHON", "code": "1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
]
ANSWERS = [
    answer(Text("hello " * 40)),
    answer(
        Thinking("hm " * 50),
        Text("I look " * 20, native=SIGNED),
        ToolCall("read", {"path": "a"}, "f1", native=SIGNED),
        ToolCall("list"),
        ending=Ending.CALLS,
        usage=Usage(input=30, output=9, cache_read=20, reasoning=4),
    ),
    answer(
        HostedTool(
            "code_execution",
            {"language": "PYTHON", "code": "1"},
            {"outcome": "OUTCOME_OK", "output": "2"},
            native={"parts": RAN},
        ),
        Media(MediaKind.IMAGE, "image/png", data="iVBORw0="),
        Text("so"),
        HostedTool("google_search", {"queries": ["q"]}, [], native={"groundingMetadata": {"webSearchQueries": ["q"]}}),
    ),
    answer(Text("so"), ToolCall("read", {}, raw='{"p', finished=False), ending=Ending.LENGTH),
    answer(Text("no"), ending=Ending.REFUSED),
]


@pytest.mark.parametrize("given", ANSWERS)
def test_a_reply_is_read_back_as_the_same_answer(given: Answer) -> None:
    assert decode(DIALECT.reply(given, "model-1"), TARGET, NAMES) == given
    assert read_every_way(lambda: Decoder(TARGET, NAMES), b"".join(DIALECT.reply_stream(given, "model-1"))) == given


@pytest.mark.parametrize("given", ANSWERS)
def test_the_official_client_takes_a_reply(given: Answer) -> None:
    response = genai.GenerateContentResponse.model_validate(DIALECT.reply(given, "model-1"))
    assert response.usage_metadata is not None
    assert (response.model_version, response.usage_metadata.prompt_token_count) == (
        "model-1",
        given.usage and given.usage.input,
    )
    parser = SSEParser()
    events = [event for piece in DIALECT.reply_stream(given, "model-1") for event in parser.feed(piece)]
    chunks = [genai.GenerateContentResponse.model_validate_json(event) for event in events]
    ends = [chunk.candidates[0].finish_reason is not None for chunk in chunks if chunk.candidates]
    assert ends == [False] * (len(chunks) - 1) + [True]


def test_what_has_no_form_here_is_text() -> None:
    given = answer(
        Code("x", "py"),
        Media(MediaKind.IMAGE, "image/png", url="file:///a"),
        HostedTool("search", {"q": 1}, "found"),
        ending=None,
    )
    assert DIALECT.reply(given, "m")["candidates"][0] == {
        "content": {
            "role": "model",
            "parts": [
                {"text": "```py\nx\n```"},
                {"text": "[image omitted: image/png, which this model cannot take]"},
                {"text": '[The provider ran search {"q":1}, which gave:]\nfound'},
            ],
        },
        "index": 0,
        "finishReason": "STOP",
    }


def test_a_bare_answer_gets_an_id_and_zero_usage() -> None:
    body = DIALECT.reply(Answer(Entry(Speaker.AI, (Text("x"),))), "m")
    assert len(body["responseId"]) == 32
    assert body["usageMetadata"] == {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0}
