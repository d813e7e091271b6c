"""Streams of the AI SDK: language model parts, and UI message parts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialect_support import make_target, read_every_way, shown
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    CallKind,
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
from legato.wire.deltas import CallDelta, TextDelta, ThinkingDelta
from legato.wire.names import NameTable
from legato.wire.vercel import DIALECT

TARGET = make_target(Dialect.VERCEL)
METADATA: JsonObject = {"acme": {"signature": "s"}}
SIGNED: JsonObject = {"providerOptions": METADATA}


def decoder() -> StreamDecoder:
    return DIALECT.decoder(TARGET, NameTable(NameRule.OPENAI))


def fed(*events: JsonObject) -> StreamDecoder:
    reader = decoder()
    for event in events:
        reader.event(event)
    return reader


def part(kind: str, **fields: Any) -> JsonObject:
    return {"type": kind, **fields}


FINISH = part("finish", finishReason="stop", usage={"inputTokens": 1, "outputTokens": 2})
CALL = part("tool-call", toolCallId="c1", toolName="read", input='{"a":1}')

MODEL_STREAM: list[JsonObject] = [
    part("stream-start", warnings=[]),
    part("response-metadata", id="r1", modelId="served-1"),
    part("reasoning-start", id="0"),
    part("reasoning-delta", id="0", delta="hm"),
    part("reasoning-delta", id="0", delta="", providerMetadata=METADATA),
    part("reasoning-end", id="0"),
    part("text-start", id="0"),
    part("text-delta", id="0", delta="hel"),
    part("text-delta", id="0", delta="lo"),
    part("text-end", id="0"),
    part("tool-input-start", id="c1", toolName="read"),
    part("tool-input-delta", id="c1", delta='{"a'),
    part("tool-input-delta", id="c1", delta='":1}'),
    part("tool-input-end", id="c1"),
    {**CALL, "providerMetadata": METADATA},
    part("source", sourceType="url", id="s", url="https://a.example"),
    part("raw", rawValue={"anything": 1}),
    part("finish", finishReason={"unified": "tool-calls", "raw": "x"}, usage={"inputTokens": {"total": 3}}),
]


def test_language_model_parts_are_shown_and_give_the_answer_of_the_result() -> None:
    reader = decoder()
    assert shown(reader, *MODEL_STREAM) == [
        ThinkingDelta("hm"),
        TextDelta("hel"),
        TextDelta("lo"),
        CallDelta(0, "read"),
        CallDelta(0, "", '{"a'),
        CallDelta(0, "", '":1}'),
    ]
    body = {
        "content": [
            part("reasoning", text="hm", providerMetadata=METADATA),
            part("text", text="hello"),
            {**CALL, "providerMetadata": METADATA},
        ],
        "finishReason": "tool-calls",
        "usage": {"inputTokens": {"total": 3}},
        "response": {"id": "r1", "modelId": "served-1"},
    }
    assert reader.finish() == DIALECT.decode(body, TARGET, NameTable(NameRule.OPENAI))


def test_the_bytes_may_be_split_anywhere() -> None:
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in MODEL_STREAM) + "data: [DONE]\n\n"
    answer = read_every_way(decoder, data.encode())
    assert answer.entry == Entry(
        Speaker.AI,
        (
            Thinking("hm", native=SIGNED),
            Text("hello"),
            ToolCall("read", {"a": 1}, "c1", native=SIGNED),
        ),
        origin=TARGET.origin("served-1"),
        ending=Ending.CALLS,
    )


def test_a_call_may_come_whole() -> None:
    reader = decoder()
    assert shown(reader, CALL) == [CallDelta(0, "read", '{"a":1}')]
    reader.event(FINISH)
    answer = reader.finish()
    assert (answer.calls, answer.entry.ending, answer.usage) == (
        (ToolCall("read", {"a": 1}, "c1"),),
        Ending.CALLS,
        Usage(1, 2),
    )


def test_a_free_text_call_is_custom() -> None:
    call = ToolCall("sql", {"input": "select"}, "c1", kind=CallKind.CUSTOM)
    model = part("tool-call", toolCallId="c1", toolName="sql", input='"select"')
    interface = part("tool-input-available", toolCallId="c1", toolName="sql", input="select")
    assert fed(model, FINISH).finish().calls == (call,)
    assert fed(interface, FINISH).finish().calls == (call,)


def test_what_the_provider_executes_is_hosted_and_shown_as_no_call() -> None:
    reader = decoder()
    hosted = part("tool-call", toolCallId="ws", toolName="search", input='{"q":1}', providerExecuted=True)
    result = part("tool-result", toolCallId="ws", toolName="search", result="found")
    events = [
        part("tool-input-start", id="ws", toolName="search", providerExecuted=True),
        part("tool-input-delta", id="ws", delta='{"q":1}'),
        hosted,
        {**result, "preliminary": True, "result": "soon"},
        result,
        part("text-delta", id="1", delta="x"),
    ]
    assert shown(reader, *events) == [TextDelta("x")]
    reader.event(FINISH)
    body: JsonObject = {"content": [hosted, result, part("text", text="x")]}
    assert reader.finish().entry.blocks == DIALECT.decode(body, TARGET, NameTable(NameRule.OPENAI)).entry.blocks


def test_a_result_of_an_earlier_answers_call_is_hosted_too() -> None:
    late = part("tool-result", toolCallId="c0", toolName="search", result="found", providerExecuted=True)
    body: JsonObject = {"content": [late]}
    assert fed(late, FINISH).finish().entry.blocks == (
        DIALECT.decode(body, TARGET, NameTable(NameRule.OPENAI)).entry.blocks
    )


def test_a_ui_message_stream_is_read_too() -> None:
    answer = fed(
        part("start", messageId="m1"),
        part("start-step"),
        part("text-start", id="0"),
        part("text-delta", id="0", delta="a"),
        part("text-end", id="0"),
        part("tool-input-start", toolCallId="c1", toolName="read"),
        part("tool-input-delta", toolCallId="c1", inputTextDelta='{"a":1}'),
        part("tool-input-available", toolCallId="c1", toolName="read", input={"a": 1}),
        part("tool-output-available", toolCallId="c1", output={"n": 2}),
        part("tool-input-available", toolCallId="c2", toolName="read", input={}),
        part("tool-output-error", toolCallId="c2", errorText="broke"),
        part("finish-step"),
        part("start-step"),
        part("text-start", id="0"),
        part("text-delta", id="0", delta="b"),
        part("file", url="data:image/png;base64,aGk=", mediaType="image/png"),
        part("file", mediaType="image/png"),
        part("data-weather", data={}),
        part("finish"),
    ).finish()
    assert answer.entry.blocks == (
        Text("a"),
        HostedTool("read", {"a": 1}, {"n": 2}, "c1"),
        HostedTool("read", {}, "broke", "c2"),
        Text("b"),
        Media(MediaKind.IMAGE, "image/png", data="aGk="),
    )
    assert answer.entry.ending is Ending.DONE


def test_the_parts_of_stream_text_are_read_too() -> None:
    answer = fed(
        part("text-delta", id="0", text="a"),
        part("finish-step", finishReason="length", usage={"inputTokens": 1}, response={"id": "r", "modelId": "m"}),
        part("finish", totalUsage={"inputTokens": 1, "outputTokens": 1}),
    ).finish()
    assert answer == Answer(
        Entry(Speaker.AI, (Text("a"),), origin=TARGET.origin("m"), ending=Ending.LENGTH),
        usage=Usage(1, 1),
        served="m",
        response_id="r",
    )


def test_a_call_that_is_cut_by_the_limit_is_not_finished() -> None:
    reader = fed(
        part("tool-input-start", id="c1", toolName="read"),
        part("tool-input-delta", id="c1", delta='{"a'),
        part("finish", finishReason="length"),
    )
    assert reader.finish().calls == (ToolCall("read", {}, "c1", raw='{"a', finished=False),)


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (part("error", error={"message": "busy"}), {"message": "busy"}),
        (part("error", errorText="busy"), "busy"),
        (part("error"), "no message"),
        (part("finish", finishReason="error"), {"finishReason": "error"}),
    ],
)
def test_an_error_in_the_stream_is_a_bad_answer(event: JsonObject, error: Any) -> None:
    with pytest.raises(BadAnswer) as caught:
        fed(event)
    assert caught.value.facts["error"] == error


def test_a_stream_that_stops_early_is_a_bad_answer_but_shows_what_was_visible() -> None:
    reader = fed(part("text-delta", id="0", delta="hel"), part("abort"), {})
    with pytest.raises(BadAnswer, match="ended before"):
        reader.finish()
    partial = reader.partial()
    assert partial is not None
    assert (partial.text, partial.entry.ending) == ("hel", Ending.CUT)


def test_an_end_without_a_beginning_changes_nothing() -> None:
    reader = fed(part("text-end", id="9", providerMetadata=METADATA), part("text-delta", id="0", delta="x"), FINISH)
    assert reader.finish().entry.blocks == (Text("x"),)
