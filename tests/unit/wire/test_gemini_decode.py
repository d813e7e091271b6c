"""How a response body of `generateContent` becomes an answer."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from google.genai import types as genai

from block_support import gemini
from dialect_support import SAMPLES, needs_samples
from legato.errors import BadAnswer
from legato.model import (
    Answer,
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
    ingest,
)
from legato.wire.gemini.decode import decode
from legato.wire.names import NameTable

TARGET = gemini()
NAMES = NameTable(NameRule.GEMINI)
SIGNATURE = "CokDAb4+9vue"


def body(*parts: JsonObject, finish: str | None = "STOP", **candidate: Any) -> JsonObject:
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, **candidate}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5},
        "modelVersion": "model-1-002",
        "responseId": "r1",
    }


def blocks(*parts: JsonObject, **candidate: Any) -> tuple[Any, ...]:
    return decode(body(*parts, **candidate), TARGET, NAMES).entry.blocks


def test_an_answer_keeps_order_signatures_ids_and_usage() -> None:
    whole = body(
        {"text": "hm", "thought": True},
        {"text": "I look"},
        {"functionCall": {"id": "f1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "list"}},
    )
    whole["usageMetadata"] = {
        "promptTokenCount": 30,
        "toolUsePromptTokenCount": 2,
        "cachedContentTokenCount": 20,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
    }
    assert decode(whole, TARGET, NAMES) == Answer(
        Entry(
            Speaker.AI,
            (
                Thinking("hm"),
                Text("I look"),
                ToolCall("read", {"path": "a"}, "f1", native={"thoughtSignature": SIGNATURE}),
                ToolCall("list"),
            ),
            origin=TARGET.origin("model-1-002"),
            ending=Ending.CALLS,
        ),
        Usage(input=32, output=12, cache_read=20, reasoning=7),
        "model-1-002",
        "r1",
    )


@pytest.mark.parametrize(
    ("finish", "ending"),
    [
        ("STOP", Ending.DONE),
        ("MAX_TOKENS", Ending.LENGTH),
        ("SAFETY", Ending.REFUSED),
        ("RECITATION", Ending.REFUSED),
        ("BLOCKLIST", Ending.REFUSED),
        ("PROHIBITED_CONTENT", Ending.REFUSED),
        ("OTHER", Ending.CUT),
        ("SOMETHING_NEW", Ending.CUT),
        ("FINISH_REASON_UNSPECIFIED", Ending.DONE),
        (None, Ending.DONE),
    ],
)
def test_each_finish_reason_is_an_ending(finish: str | None, ending: Ending) -> None:
    read = decode(body({"text": "x"}, finish=finish), TARGET, NAMES)
    assert (read.entry.ending, read.text) == (ending, "x")


@pytest.mark.parametrize("finish", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_a_call_that_the_provider_could_not_read_is_a_bad_answer(finish: str) -> None:
    with pytest.raises(BadAnswer, match="Malformed call: x") as caught:
        blocks({"text": "x"}, finish=finish, finishMessage="Malformed call: x")
    assert caught.value.facts["reason"] == finish


def test_names_are_restored() -> None:
    names = NameTable(NameRule.GEMINI)
    part = {"functionCall": {"name": names.project("2+2"), "args": {}}}
    assert decode(body(part), TARGET, names).calls == (ToolCall("2+2"),)


def test_pieces_of_text_are_one_unless_a_signature_is_theirs_alone() -> None:
    assert blocks(
        {"text": "a"},
        {"text": "b"},
        {"text": "c", "thoughtSignature": SIGNATURE},
        {"text": "d"},
        {"text": ""},
        {"text": "e"},
        {"text": "f", "thought": True},
        {"text": "g", "thought": True},
        {"text": "", "thoughtSignature": "AAAA"},
    ) == (
        Text("ab"),
        Text("c", native={"thoughtSignature": SIGNATURE}),
        Text("de"),
        Thinking("fg"),
        Text("", native={"thoughtSignature": "AAAA"}),
    )


def test_a_signature_without_data_is_kept_on_an_empty_block() -> None:
    assert blocks({"text": "x"}, {"thoughtSignature": SIGNATURE}, {}) == (
        Text("x"),
        Text("", native={"thoughtSignature": SIGNATURE}),
    )


def test_arguments_that_are_no_object_are_kept_raw() -> None:
    assert blocks({"functionCall": {"name": "read", "args": [1]}}) == (ToolCall("read", {}, raw="[1]"),)
    assert blocks({"functionCall": {"name": "read", "args": '{"a": 1}'}}) == (ToolCall("read", {"a": 1}),)


def test_media_of_the_model_are_kept_with_their_signature() -> None:
    assert blocks(
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}, "thoughtSignature": SIGNATURE},
        {"fileData": {"mimeType": "audio/wav", "fileUri": "gs://a/b", "displayName": "b"}},
    ) == (
        Media(MediaKind.IMAGE, "image/png", data="iVBORw0=", native={"thoughtSignature": SIGNATURE}),
        Media(MediaKind.AUDIO, "audio/wav", url="gs://a/b", name="b"),
    )


def test_code_that_the_provider_ran_is_one_block_with_both_of_its_parts() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": SIGNATURE}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    assert blocks(code, result, {"text": "2"}) == (
        HostedTool(
            "code_execution",
            {"language": "PYTHON", "code": "1+1"},
            {"outcome": "OUTCOME_OK", "output": "2"},
            native={"parts": [code, result]},
        ),
        Text("2"),
    )
    assert blocks(result) == (
        HostedTool("codeExecutionResult", {"outcome": "OUTCOME_OK", "output": "2"}, native={"parts": [result]}),
    )


def test_tools_that_the_provider_ran_side_by_side_find_their_responses() -> None:
    def ran(kind: str, key: str, **more: Any) -> JsonObject:
        return {kind: {"id": key, "toolType": "GOOGLE_SEARCH_WEB", **more}}

    parts = [
        ran("toolCall", "1", args={"queries": ["a"]}),
        ran("toolCall", "2", args={"queries": ["b"]}),
        ran("toolResponse", "1", response={"n": 1}),
        ran("toolResponse", "2", response={"n": 2}),
    ]
    assert blocks(*parts) == (
        HostedTool("google_search_web", {"queries": ["a"]}, {"n": 1}, "1", native={"parts": [parts[0], parts[2]]}),
        HostedTool("google_search_web", {"queries": ["b"]}, {"n": 2}, "2", native={"parts": [parts[1], parts[3]]}),
    )


def test_where_the_provider_looked_stands_behind_the_answer() -> None:
    grounding = {"webSearchQueries": ["q"], "groundingChunks": [{"web": {"uri": "u", "title": "t"}}]}
    pages = {"urlMetadata": [{"retrievedUrl": "u"}]}
    assert blocks({"text": "x"}, groundingMetadata=grounding, urlContextMetadata=pages) == (
        Text("x"),
        HostedTool(
            "google_search",
            {"queries": ["q"]},
            [{"uri": "u", "title": "t"}],
            native={"groundingMetadata": grounding},
        ),
        HostedTool("url_context", result=[{"retrievedUrl": "u"}], native={"urlContextMetadata": pages}),
    )
    assert blocks({"text": "x"}, groundingMetadata={}) == (Text("x"),)


@pytest.mark.parametrize(
    ("answered", "words"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "[The provider blocked this: SAFETY]"),
        ({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "not that"}}, "not that"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "[The provider blocked this: SAFETY]"),
        ({"candidates": [{"finishReason": "SAFETY", "finishMessage": "not that"}]}, "not that"),
    ],
)
def test_a_block_without_words_gets_some(answered: JsonObject, words: str) -> None:
    read = decode(answered, TARGET, NAMES)
    assert (read.entry.ending, read.entry.blocks) == (Ending.REFUSED, (Text(words),))


@pytest.mark.parametrize("answered", [{}, {"candidates": []}, body(), body({"thoughtSignature": SIGNATURE})])
def test_an_empty_answer_is_a_bad_one(answered: JsonObject) -> None:
    with pytest.raises(BadAnswer, match="empty"):
        decode(answered, TARGET, NAMES)


@pytest.mark.parametrize(
    ("error", "words"), [({"code": 429, "message": "slow down"}, "slow down"), ({"code": 500}, "no reason given")]
)
def test_an_error_object_is_a_bad_answer_with_the_error(error: JsonObject, words: str) -> None:
    with pytest.raises(BadAnswer, match=words) as caught:
        decode({"error": error}, TARGET, NAMES)
    assert caught.value.facts["error"] == error


RICH = body(
    {"text": "hm", "thought": True},
    {"text": "x", "thoughtSignature": SIGNATURE},
    {"executableCode": {"language": "PYTHON", "code": "1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
    {"functionCall": {"id": "f1", "name": "read", "args": {"snake_case": 1}}},
    groundingMetadata={"webSearchQueries": ["q"]},
)


def test_what_the_official_client_dumps_is_read_like_the_body() -> None:
    response = genai.GenerateContentResponse.model_validate_json(msgspec.json.encode(RICH))
    whole = decode(RICH, TARGET, NAMES)
    assert decode(response.model_dump(mode="json"), TARGET, NAMES) == _with_signature(whole, "CokDAb4-9vue")
    assert decode(response.model_dump(mode="json", by_alias=True), TARGET, NAMES) == _with_signature(
        whole, "CokDAb4-9vue"
    )
    assert decode(response.model_dump(), TARGET, NAMES) == whole
    assert decode(ingest(response.model_dump()), TARGET, NAMES) == whole


def _with_signature(answer: Answer, signature: str) -> Answer:
    """The client writes bytes in the other alphabet of base64."""
    assert base64.urlsafe_b64decode(signature) == base64.b64decode(SIGNATURE)
    text = msgspec.json.encode(answer).decode().replace(SIGNATURE, signature)
    return msgspec.json.decode(text, type=Answer)


@needs_samples
def test_recorded_answers_are_read() -> None:
    count = 0
    with (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").open() as lines:
        for line in lines:
            exchange = json.loads(line)
            answered = exchange.get("response")
            if not exchange["host"].endswith("googleapis.com") or not isinstance(answered, dict):
                continue
            count += 1
            parts = answered["candidates"][0]["content"]["parts"]
            read = decode(answered, TARGET, NAMES)
            assert [call.name for call in read.calls] == [
                p["functionCall"]["name"] for p in parts if "functionCall" in p
            ]
            signed = [block.native for block in read.entry.blocks if block.native is not None]
            assert len(signed) == sum("thoughtSignature" in part for part in parts)
    assert count > 50
