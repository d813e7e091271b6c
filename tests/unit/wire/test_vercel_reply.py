"""Answers as results and streams of a language model, read back by our decoders."""

from __future__ import annotations

import pytest

from dialect_support import make_target, read_every_way
from legato.model import (
    Answer,
    Block,
    CallKind,
    Code,
    Dialect,
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
from legato.wire.contract import StreamDecoder
from legato.wire.names import NameTable
from legato.wire.vercel import DIALECT

TARGET = make_target(Dialect.VERCEL)
SIGNED: JsonObject = {"providerOptions": {"acme": {"signature": "s"}}}
IDENTITY: JsonObject = {"toolCallId": "ws_1", "toolName": "search"}


def answer(*blocks: Block, ending: Ending = Ending.DONE, response_id: str = "r1") -> Answer:
    entry = Entry(Speaker.AI, blocks, origin=TARGET.origin("served-1"), ending=ending)
    return Answer(entry, usage=Usage(10, 5, 4, 2, 3), served="served-1", response_id=response_id)


def decoder() -> StreamDecoder:
    return DIALECT.decoder(TARGET, NameTable(NameRule.OPENAI))


ANSWERS = {
    "text": answer(Text("hello " * 20), Text("again", native=SIGNED)),
    "calls": answer(
        Thinking("a" * 50, native=SIGNED),
        Thinking("", native=SIGNED),
        Text("let me see"),
        ToolCall("read", {"path": "x" * 50}, "call_1", native=SIGNED),
        ToolCall("sql", {"input": "select " * 9}, "call_2", kind=CallKind.CUSTOM),
        ToolCall("bare", {}, "call_3"),
        ToolCall("broken", {}, "call_4", raw="[1]"),
        ending=Ending.CALLS,
    ),
    "cut call": answer(ToolCall("read", {}, "call_1", raw='{"a', finished=False), ending=Ending.LENGTH),
    "refused": answer(Text("I will not"), ending=Ending.REFUSED),
    "filtered": answer(ending=Ending.REFUSED),
    "cut": answer(Text("hel"), ending=Ending.CUT),
    "media": answer(
        Media(MediaKind.IMAGE, "image/png", data="aGk="),
        Media(MediaKind.IMAGE, "image/png", url="https://a.example/b.png", native=SIGNED),
    ),
    "hosted": answer(
        HostedTool(
            "search",
            {"q": "x"},
            "none",
            "ws_1",
            native={
                "parts": [
                    {"type": "tool-call", **IDENTITY, "input": {"q": "x"}, "providerExecuted": True, **SIGNED},
                    {"type": "tool-result", **IDENTITY, "output": {"type": "error-text", "value": "none"}},
                ]
            },
        ),
        Text("found"),
    ),
}


@pytest.mark.parametrize("said", ANSWERS.values(), ids=ANSWERS.keys())
def test_a_reply_is_read_back_as_the_same_answer(said: Answer) -> None:
    assert DIALECT.decode(DIALECT.reply(said, "served-1"), TARGET, NameTable(NameRule.OPENAI)) == said
    assert read_every_way(decoder, b"".join(DIALECT.reply_stream(said, "served-1"))) == said


def test_an_answer_from_elsewhere_is_printed_with_what_this_dialect_has() -> None:
    foreign = answer(
        Thinking("hm", native={"signature": "s"}),
        HostedTool("search", {"q": 1}, {"n": 1}, "ws_9"),
        HostedTool("wait"),
        Code("1", "python"),
        Media(MediaKind.IMAGE, "image/png"),
        ToolCall("read", {}),
    )
    content = DIALECT.reply(foreign, "asked-1")["content"]
    made_up = [part["toolCallId"] for part in content if part.get("toolName") in ("wait", "read")]
    assert all(call_id.startswith("call_") for call_id in made_up)
    assert [{key: value for key, value in part.items() if key != "toolCallId"} for part in content] == [
        {"type": "reasoning", "text": "hm"},
        {"type": "tool-call", "toolName": "search", "input": '{"q":1}', "providerExecuted": True},
        {"type": "tool-result", "toolName": "search", "result": {"n": 1}},
        {"type": "tool-call", "toolName": "wait", "input": "{}", "providerExecuted": True},
        {"type": "tool-result", "toolName": "wait", "result": ""},
        {"type": "text", "text": "```python\n1\n```"},
        {"type": "text", "text": "[image omitted: image/png, which this model cannot take]"},
        {"type": "tool-call", "toolName": "read", "input": "{}"},
    ]


def test_usage_and_reason_are_grouped() -> None:
    body = DIALECT.reply(ANSWERS["calls"], "asked-1")
    assert body["finishReason"] == {"unified": "tool-calls", "raw": "tool-calls"}
    assert body["usage"] == {
        "inputTokens": {"total": 10, "noCache": 4, "cacheRead": 4, "cacheWrite": 2},
        "outputTokens": {"total": 5, "text": 2, "reasoning": 3},
    }
    assert body["response"] == {"id": "r1", "modelId": "asked-1"}
