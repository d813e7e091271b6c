"""How a streamed response of `generateContent` becomes deltas and an answer."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from block_support import gemini
from dialect_support import SAMPLES, needs_samples, read_every_way, shown
from legato.errors import BadAnswer
from legato.model import Answer, Ending, JsonObject, NameRule, Text, ToolCall, Usage
from legato.wire.deltas import CallDelta, TextDelta, ThinkingDelta
from legato.wire.gemini.decode import decode
from legato.wire.gemini.partial import PartialArguments
from legato.wire.gemini.stream import Decoder
from legato.wire.names import NameTable

TARGET = gemini()
NAMES = NameTable(NameRule.GEMINI)
SIGNATURE = "CokDAb4+9vue"


def chunk(*parts: JsonObject, finish: str | None = None, **more: Any) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "model-1-002", "responseId": "r1", **more}


def sse(*chunks: JsonObject) -> bytes:
    return b"".join(b"data: %s\r\n\r\n" % msgspec.json.encode(item) for item in chunks)


def decoder() -> Decoder:
    return Decoder(TARGET, NAMES)


def after(*chunks: JsonObject) -> Decoder:
    reading = decoder()
    for item in chunks:
        reading.event(item)
    return reading


def arriving(*pieces: JsonObject, **more: Any) -> JsonObject:
    return chunk({"functionCall": {"partialArgs": list(pieces), **more}})


def test_a_stream_gives_deltas_and_then_the_answer() -> None:
    chunks = [
        chunk({"text": "hm", "thought": True}, usageMetadata={"promptTokenCount": 3}),
        chunk({"text": "I "}),
        chunk({"text": "look"}),
        chunk({"functionCall": {"id": "f", "name": "read", "args": {"p": 1}}, "thoughtSignature": SIGNATURE}),
        chunk({"text": ""}, finish="STOP", usageMetadata={"promptTokenCount": 3, "candidatesTokenCount": 5}),
        {"usageMetadata": {"trafficType": "ON_DEMAND"}},
    ]
    reading = decoder()
    assert shown(reading, *chunks) == [
        ThinkingDelta("hm"),
        TextDelta("I "),
        TextDelta("look"),
        CallDelta(0, "read", '{"p":1}'),
    ]
    answer = reading.finish()
    assert answer == read_every_way(decoder, sse(*chunks))
    assert (answer.entry.ending, answer.usage) == (Ending.CALLS, Usage(input=3, output=5))
    whole = chunk(
        {"text": "hm", "thought": True},
        {"text": "I look"},
        {"functionCall": {"id": "f", "name": "read", "args": {"p": 1}}, "thoughtSignature": SIGNATURE},
        finish="STOP",
        usageMetadata={"promptTokenCount": 3, "candidatesTokenCount": 5},
    )
    assert answer == decode(whole, TARGET, NAMES)


def test_a_later_piece_without_signature_does_not_take_one_away() -> None:
    reading = after(chunk({"text": "a", "thoughtSignature": SIGNATURE}), chunk({"text": "b"}, finish="STOP"))
    assert reading.finish().entry.blocks == (Text("a", native={"thoughtSignature": SIGNATURE}), Text("b"))


def test_arguments_may_arrive_value_by_value() -> None:
    reading = decoder()
    chunks = [
        chunk({"functionCall": {"name": "cook", "willContinue": True}, "thoughtSignature": SIGNATURE}),
        arriving({"jsonPath": "$.steps[0].do", "stringValue": "st", "willContinue": True}, willContinue=True),
        arriving({"jsonPath": "$.steps[0].do", "stringValue": "ir"}, willContinue=True),
        arriving({"jsonPath": "$.steps[1].minutes", "numberValue": 5}, willContinue=True),
        chunk({"functionCall": {}}),
        chunk({"functionCall": {"name": "list", "partialArgs": [{"jsonPath": "$.all", "boolValue": True}]}}),
        chunk(finish="STOP"),
    ]
    assert shown(reading, *chunks) == [
        CallDelta(0, "cook"),
        CallDelta(0, "", '{"steps":[{"do":"stir"},{"minutes":5}]}'),
        CallDelta(1, "list"),
        CallDelta(1, "", '{"all":true}'),
    ]
    assert reading.finish().calls == (
        ToolCall("cook", {"steps": [{"do": "stir"}, {"minutes": 5}]}, native={"thoughtSignature": SIGNATURE}),
        ToolCall("list", {"all": True}),
    )


def test_a_call_that_never_said_it_was_complete_is_so_when_the_answer_ends_well() -> None:
    begun = (
        chunk({"functionCall": {"name": "cook", "willContinue": True}}),
        arriving({"jsonPath": "$.a", "stringValue": "x"}, willContinue=True),
    )
    assert after(*begun, chunk(finish="STOP")).finish().calls == (ToolCall("cook", {"a": "x"}),)
    assert after(*begun, chunk(finish="MAX_TOKENS")).finish().calls == (ToolCall("cook", {}, finished=False),)
    partial = after(*begun).partial()
    assert partial is not None
    assert (partial.entry.ending, partial.calls) == (Ending.CUT, (ToolCall("cook", {}, finished=False),))
    assert after(arriving({"jsonPath": "$.a"}), chunk({"text": "x"}, finish="STOP")).finish().calls == ()


def test_paths_of_arguments_are_read_in_every_spelling() -> None:
    arguments = PartialArguments()
    for piece in (
        {"jsonPath": "$.a.b", "stringValue": "1"},
        {"json_path": "$['c d'][\"e\"]", "number_value": 2},
        {"jsonPath": "$.f[2]", "nullValue": "NULL_VALUE"},
        {"jsonPath": "$.a.b.c", "boolValue": False},
        {"jsonPath": "$[0]", "numberValue": 1},
        {"jsonPath": "$..", "numberValue": 1},
        {"jsonPath": "", "numberValue": 1},
        "nonsense",
    ):
        arguments.add(piece)
    assert arguments.value == {"a": {"b": {"c": False}}, "c d": {"e": 2}, "f": [None, None, None]}


def test_a_stream_that_breaks_off_is_a_bad_answer_with_a_visible_part() -> None:
    reading = after(chunk({"text": "half"}))
    with pytest.raises(BadAnswer, match="ended before"):
        reading.finish()
    partial = reading.partial()
    assert partial is not None
    assert (partial.text, partial.entry.ending) == ("half", Ending.CUT)
    assert after().partial() is None


def test_a_streamed_error_is_a_bad_answer_with_the_error() -> None:
    with pytest.raises(BadAnswer, match="overloaded") as caught:
        decoder().feed(sse(chunk({"text": "x"}), {"error": {"code": 503, "message": "overloaded"}}))
    assert caught.value.facts["error"] == {"code": 503, "message": "overloaded"}


@needs_samples
def test_recorded_streams_are_read_however_they_are_split() -> None:
    calls: dict[str, JsonObject] = {}
    for path in (SAMPLES / "vercel-ai-streams").glob("packages__google__*.chunks.txt"):
        chunks = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        answer = read_every_way(decoder, sse(*chunks))
        calls |= {call.name: call.arguments for call in answer.calls}
        assert answer.entry.ending in (Ending.DONE, Ending.CALLS)
    assert calls["weather"] == {"location": "San Francisco"}
    assert calls["read_theme"] == {}
    assert [item["itemid"] for item in calls["writeItems"]["operations"]] == ["apple_001", "banana_001"]
    assert len(calls["cookRecipe"]["recipe"]["steps"]) == 10


@needs_samples
def test_recorded_responses_of_the_api_are_read_from_their_bytes() -> None:
    recording = (
        SAMPLES / "opencode-recordings" / "packages__llm__test__fixtures__recordings__gemini__streams-tool-call.json"
    )
    data = json.loads(recording.read_text())["interactions"][0]["response"]["body"].encode()
    answer = read_every_way(decoder, data)
    assert [(call.name, call.arguments) for call in answer.calls] == [("get_weather", {"city": "Paris"})]
    streamed = 0
    with (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").open() as lines:
        for line in lines:
            exchange = json.loads(line)
            if exchange["host"].endswith("googleapis.com") and isinstance(exchange.get("response"), str):
                streamed += 1
                assert read_every_way(decoder, exchange["response"].encode()).entry.blocks
    assert streamed == 3


def finished(pieces: list[JsonObject]) -> Answer | BadAnswer:
    try:
        return after(*pieces).finish()
    except BadAnswer as bad:
        return bad


@needs_samples
def test_recorded_sessions_are_read_piece_by_piece() -> None:
    read = 0
    for path in (SAMPLES / "gemini-cli").glob("*.responses"):
        for line in path.read_text().splitlines():
            recorded = json.loads(line) if line.strip() else {}
            if not str(recorded.get("method", "")).startswith("generateContent"):
                continue
            pieces = recorded["response"] if isinstance(recorded["response"], list) else [recorded["response"]]
            answer = finished(pieces)
            if isinstance(answer, BadAnswer):
                assert "empty" in answer.message or answer.facts["reason"] == "MALFORMED_FUNCTION_CALL"
                continue
            read += 1
            expected = [
                part["functionCall"]["name"]
                for piece in pieces
                for candidate in piece.get("candidates", [])
                for part in candidate.get("content", {}).get("parts", [])
                if "functionCall" in part
            ]
            assert [call.name for call in answer.calls] == expected
    assert read > 200
