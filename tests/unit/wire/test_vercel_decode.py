"""What the AI SDK gives for one step, as answers."""

from __future__ import annotations

from typing import Any

import pytest

from dialect_support import make_target
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    Block,
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
from legato.wire.names import NameTable
from legato.wire.vercel import DIALECT

TARGET = make_target(Dialect.VERCEL)
METADATA: JsonObject = {"acme": {"signature": "s"}}
SIGNED: JsonObject = {"providerOptions": METADATA}


def decode(body: JsonObject) -> Answer:
    return DIALECT.decode(body, TARGET, NameTable(NameRule.OPENAI))


def blocks(*content: JsonObject) -> tuple[Block, ...]:
    return decode({"content": list(content)}).entry.blocks


def called(**more: Any) -> JsonObject:
    return {"type": "tool-call", "toolCallId": "call_1", "toolName": "read", "input": "{}", **more}


def test_a_generate_result_is_an_answer_with_its_metadata_in_place() -> None:
    answer = decode(
        {
            "content": [
                {"type": "reasoning", "text": "hm", "providerMetadata": METADATA},
                {"type": "text", "text": "hi"},
                {"type": "source", "sourceType": "url", "id": "1", "url": "https://a.example"},
                called(input='{"path":"x"}', providerMetadata=METADATA),
            ],
            "finishReason": {"unified": "tool-calls", "raw": "tool_use"},
            "usage": {
                "inputTokens": {"total": 10, "noCache": 4, "cacheRead": 4, "cacheWrite": 2},
                "outputTokens": {"total": 5, "text": 2, "reasoning": 3},
            },
            "response": {"id": "r1", "modelId": "served-1"},
            "warnings": [],
        }
    )
    assert answer == Answer(
        Entry(
            Speaker.AI,
            (
                Thinking("hm", native=SIGNED),
                Text("hi"),
                ToolCall("read", {"path": "x"}, "call_1", native=SIGNED),
            ),
            origin=TARGET.origin("served-1"),
            ending=Ending.CALLS,
        ),
        usage=Usage(10, 5, 4, 2, 3),
        served="served-1",
        response_id="r1",
    )


def test_usage_of_older_versions_stands_side_by_side() -> None:
    usage = {"inputTokens": 10, "outputTokens": 5, "reasoningTokens": 3, "cachedInputTokens": 4, "totalTokens": None}
    answer = decode({"content": [{"type": "text", "text": "x"}], "usage": usage, "finishReason": "stop"})
    assert answer.usage == Usage(10, 5, 4, 0, 3)


@pytest.mark.parametrize(
    ("reason", "ending"),
    [
        ("stop", Ending.DONE),
        ("tool-calls", Ending.DONE),
        ("length", Ending.LENGTH),
        ("content-filter", Ending.REFUSED),
        ("unknown", Ending.DONE),
        ("other", Ending.CUT),
        ("something-new", Ending.CUT),
        (None, Ending.DONE),
        ({"unified": "interrupted"}, Ending.CUT),
    ],
)
def test_the_finish_reason_says_how_the_answer_ended(reason: Any, ending: Ending) -> None:
    assert decode({"content": [{"type": "text", "text": "x"}], "finishReason": reason}).entry.ending is ending


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ('{"a":1}', ToolCall("read", {"a": 1}, "call_1")),
        ({"a": 1}, ToolCall("read", {"a": 1}, "call_1")),
        ("", ToolCall("read", {}, "call_1")),
        ('{"a', ToolCall("read", {}, "call_1", raw='{"a', finished=False)),
        ("[1]", ToolCall("read", {}, "call_1", raw="[1]")),
        ('"select"', ToolCall("read", {"input": "select"}, "call_1", kind=CallKind.CUSTOM)),
    ],
)
def test_arguments_are_json_text_or_a_value(source: Any, call: ToolCall) -> None:
    assert blocks(called(input=source)) == (call,)


def test_a_projected_tool_name_is_restored() -> None:
    names = NameTable(NameRule.OPENAI)
    wire = names.project("files.read")
    answer = DIALECT.decode({"content": [called(toolName=wire)]}, TARGET, names)
    assert answer.calls == (ToolCall("files.read", {}, "call_1"),)


def test_what_the_provider_executed_is_a_hosted_tool_with_its_parts() -> None:
    result: JsonObject = {"type": "tool-result", "toolCallId": "call_1", "toolName": "read", "result": {"n": 1}}
    answer = decode({"content": [called(providerExecuted=True, providerMetadata=METADATA), result]})
    identity = {"toolCallId": "call_1", "toolName": "read"}
    assert answer.entry.blocks == (
        HostedTool(
            "read",
            {},
            {"n": 1},
            "call_1",
            native={
                "parts": [
                    {"type": "tool-call", **identity, "input": {}, "providerExecuted": True, **SIGNED},
                    {"type": "tool-result", **identity, "output": {"type": "json", "value": {"n": 1}}},
                ]
            },
        ),
    )
    assert answer.entry.ending is Ending.DONE


def test_a_hosted_call_may_still_wait_and_a_hosted_result_may_come_later() -> None:
    waiting = blocks(called(providerExecuted=True))
    assert [(type(block), block.native is not None) for block in waiting] == [(HostedTool, True)]
    late = {"type": "tool-result", "toolCallId": "c0", "toolName": "read", "result": "x", "providerExecuted": True}
    assert blocks(late, {**late, "toolCallId": "c1", "preliminary": True}) == (
        HostedTool(
            "read",
            {},
            "x",
            "c0",
            native={
                "parts": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c0",
                        "toolName": "read",
                        "output": {"type": "text", "value": "x"},
                    }
                ]
            },
        ),
    )


def test_a_call_that_the_sdk_ran_on_the_way_is_hosted_and_goes_back_to_nobody() -> None:
    messages = [
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, called(input={"x": 1})]},
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call_1",
                    "toolName": "read",
                    "output": {"type": "text", "value": "fine"},
                }
            ],
        },
        {"role": "assistant", "content": "b"},
    ]
    expected = (Text("a"), HostedTool("read", {"x": 1}, "fine", "call_1"), Text("b"))
    assert decode({"messages": messages}).entry.blocks == expected
    assert decode({"response": {"messages": messages, "modelId": "m"}}).entry.blocks == expected


@pytest.mark.parametrize(
    ("result", "output"),
    [
        ({"result": "no", "isError": True}, {"type": "error-text", "value": "no"}),
        ({"type": "tool-error", "error": {"code": 1}}, {"type": "error-json", "value": {"code": 1}}),
        ({"output": [1]}, {"type": "json", "value": [1]}),
        ({}, {"type": "text", "value": ""}),
    ],
)
def test_the_output_of_a_hosted_tool_is_kept_in_the_form_of_a_message(result: JsonObject, output: JsonObject) -> None:
    part: JsonObject = {"type": "tool-result", "toolCallId": "call_1", "toolName": "read", **result}
    (block,) = blocks(called(providerExecuted=True), part)
    assert block.native is not None
    assert block.native["parts"][1]["output"] == output


def test_messages_hold_arguments_as_values() -> None:
    message = {"role": "assistant", "content": [called(input="select 1"), called(toolCallId="c2", input={"a": 1})]}
    assert decode({"messages": [message]}).calls == (
        ToolCall("read", {"input": "select 1"}, "call_1", kind=CallKind.CUSTOM),
        ToolCall("read", {"a": 1}, "c2"),
    )


@pytest.mark.parametrize(
    ("part", "media"),
    [
        ({"mediaType": "image/png", "data": "aGk="}, Media(MediaKind.IMAGE, "image/png", data="aGk=")),
        (
            {"mediaType": "image", "data": {"type": "data", "data": "aGk="}},
            Media(MediaKind.IMAGE, "image/png", data="aGk="),
        ),
        (
            {"mediaType": "blob", "data": "aGk="},
            Media(MediaKind.DOCUMENT, "application/octet-stream", data="aGk="),
        ),
        (
            {"mediaType": "audio/wav", "data": {"type": "url", "url": "https://a.example/b"}},
            Media(MediaKind.AUDIO, "audio/wav", url="https://a.example/b"),
        ),
        ({"url": "data:video/mp4;base64,aGk="}, Media(MediaKind.VIDEO, "video/mp4", data="aGk=")),
        (
            {"mediaType": "image/png", "data": "aGk=", "providerMetadata": METADATA},
            Media(MediaKind.IMAGE, "image/png", data="aGk=", native=SIGNED),
        ),
    ],
)
def test_generated_files_are_media(part: JsonObject, media: Media) -> None:
    assert blocks({"type": "file", **part}) == (media,)


def test_parts_of_a_providers_own_kind_are_kept_for_it() -> None:
    assert blocks({"type": "custom", "kind": "acme.compaction", "providerMetadata": METADATA}) == (
        HostedTool(
            "acme.compaction",
            native={"parts": [{"type": "custom", "kind": "acme.compaction", **SIGNED}]},
        ),
    )


def test_empty_parts_count_only_with_metadata() -> None:
    assert blocks(
        {"type": "text", "text": ""},
        {"type": "reasoning", "text": ""},
        {"type": "file", "mediaType": "image/png"},
        {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"},
        {"type": "text", "text": "", "providerMetadata": METADATA},
    ) == (Text("", native=SIGNED),)


@pytest.mark.parametrize(
    ("body", "says", "error"),
    [
        ({"content": []}, "the answer is empty", None),
        ({}, "the answer is empty", None),
        ({"error": {"message": "bad"}}, "error: bad", {"message": "bad"}),
        ({"error": "bad"}, "error: bad", "bad"),
        ({"content": [], "finishReason": "error"}, "no message", {"finishReason": "error"}),
    ],
)
def test_what_is_no_answer_is_a_bad_answer(body: JsonObject, says: str, error: Any) -> None:
    with pytest.raises(BadAnswer, match=says) as caught:
        decode(body)
    assert caught.value.facts.get("error") == error
