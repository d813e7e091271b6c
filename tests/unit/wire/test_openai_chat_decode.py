"""Response bodies of the chat family, with every habit that its servers have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from chat_support import target
from dialect_support import SAMPLES, needs_samples
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    CallKind,
    Ending,
    Entry,
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
from legato.wire.openai_chat.decode import decode

TARGET = target("strict")


def names() -> NameTable:
    return NameTable(NameRule.OPENAI)


def body(message: dict[str, Any], reason: Any = "stop", **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"id": "r1", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice], **fields}


def read(message: dict[str, Any], reason: Any = "stop", **fields: Any) -> Entry:
    return decode(body(message, reason, **fields), TARGET, names()).entry


def wire_call(name: Any = "read", arguments: Any = '{"a":1}', **fields: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def test_an_answer_keeps_its_origin_its_usage_and_its_ids():
    answer = decode(
        body(
            {"content": "hi", "tool_calls": [wire_call()]},
            "tool_calls",
            usage={
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
        ),
        TARGET,
        names(),
    )
    assert answer == Answer(
        Entry(
            Speaker.AI,
            (Text("hi"), ToolCall("read", {"a": 1}, "call_1")),
            origin=TARGET.origin("m-1"),
            ending=Ending.CALLS,
        ),
        usage=Usage(input=10, output=5, cache_read=4, cache_write=2, reasoning=3),
        served="m-1",
        response_id="r1",
    )


def test_what_the_official_client_dumps_is_read_like_the_body_itself():
    raw = body({"content": None, "tool_calls": [wire_call()]}, "tool_calls")
    dumped = ChatCompletion.model_validate(raw).model_dump()
    assert decode(dumped, TARGET, names()) == decode(raw, TARGET, names())


@pytest.mark.parametrize(
    ("reason", "message", "ending"),
    [
        ("stop", {"content": "x"}, Ending.DONE),
        ("", {"content": "x"}, Ending.DONE),
        (None, {"content": "x"}, Ending.DONE),
        ("eos_token", {"content": "x"}, Ending.DONE),
        ("tool_calls", {"content": "x"}, Ending.DONE),
        ("stop", {"tool_calls": [wire_call()]}, Ending.CALLS),
        ("function_call", {"function_call": {"name": "f", "arguments": "{}"}}, Ending.CALLS),
        ("length", {"content": "x"}, Ending.LENGTH),
        ("model_length", {"content": "x"}, Ending.LENGTH),
        ("content_filter", {"content": "x"}, Ending.REFUSED),
        ("abort", {"content": "x"}, Ending.CUT),
        ("something_new", {"content": "x"}, Ending.CUT),
        ("STOP", {"content": "x"}, Ending.DONE),
    ],
)
def test_every_finish_reason_has_an_ending(reason, message, ending):
    assert read(message, reason).ending is ending


@pytest.mark.parametrize(
    ("message", "blocks"),
    [
        ({"reasoning_content": "hm", "content": "x"}, (Thinking("hm"), Text("x"))),
        ({"reasoning": "hm", "content": "x"}, (Thinking("hm"), Text("x"))),
        ({"reasoning": "hm", "reasoning_content": "hm", "content": "x"}, (Thinking("hm"), Text("x"))),
        (
            {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}]},
            (
                Thinking(
                    "hm", native={"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}]}
                ),
            ),
        ),
        (
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}], "content": "x"},
            (
                Thinking("hm", native={"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]}),
                Text("x"),
            ),
        ),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]},
                    {"type": "thinking", "thinking": "m", "signature": "c2ln"},
                    {"type": "text", "text": "x"},
                    {"type": "reference", "reference_ids": [1]},
                    {"type": "text", "text": "y"},
                    {"type": "thinking", "thinking": []},
                ]
            },
            (Thinking("hmm", native={"chunk": True, "signature": "c2ln"}), Text("xy")),
        ),
    ],
)
def test_thinking_is_found_wherever_a_server_puts_it(message, blocks):
    assert read(message).blocks == blocks


def test_a_refusal_keeps_its_words():
    for message in ({"content": None, "refusal": "no"}, {"content": [{"type": "refusal", "refusal": "no"}]}):
        entry = read(message)
        assert (entry.text, entry.ending) == ("no", Ending.REFUSED)
    assert read({"content": ""}, "content_filter").blocks == ()


def test_images_and_transcripts_are_part_of_the_answer():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWNvbg=="}}
    picture = Media(MediaKind.IMAGE, "image/png", data="aWNvbg==")
    assert read({"content": "x", "images": [image, {"type": "image_url"}]}).blocks == (Text("x"), picture)
    assert read({"content": [image]}).blocks == (picture,)
    assert read({"content": None, "audio": {"id": "a", "transcript": "said"}}).blocks == (Text("said"),)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (wire_call(arguments={"a": 1}), ToolCall("read", {"a": 1}, "call_1")),
        (wire_call(arguments=""), ToolCall("read", {}, "call_1")),
        (wire_call(arguments=None), ToolCall("read", {}, "call_1")),
        (wire_call(id=None), ToolCall("read", {"a": 1}, "")),
        (wire_call(arguments="[1]"), ToolCall("read", {}, "call_1", raw="[1]")),
        (
            {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}},
            ToolCall("sh", {"input": "ls"}, "c", kind=CallKind.CUSTOM),
        ),
        (
            wire_call(extra_content={"google": {"thought_signature": "s"}}),
            ToolCall("read", {"a": 1}, "call_1", native={"extra_content": {"google": {"thought_signature": "s"}}}),
        ),
    ],
)
def test_a_call_is_read_in_every_form(item, expected):
    assert read({"tool_calls": [item]}).blocks == (expected,)


def test_calls_that_share_an_id_stay_two_calls():
    assert len(read({"tool_calls": [wire_call(), wire_call(arguments='{"a":2}')]}).calls) == 2


def test_a_truncated_answer_marks_the_call_that_breaks_off():
    entry = read({"tool_calls": [wire_call(arguments=""), wire_call("list", '{"a": "b')]}, "length")
    assert [(one.name, one.finished, one.raw) for one in entry.calls] == [
        ("read", True, None),
        ("list", False, '{"a": "b'),
    ]
    assert [one.finished for one in read({"tool_calls": [wire_call(arguments="")]}, "length").calls] == [False]


def test_projected_names_are_restored():
    table = names()
    wire = table.project("fs.read")
    answer = decode(body({"tool_calls": [wire_call(wire)]}), TARGET, table)
    assert answer.calls[0].name == "fs.read"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({}, None),
        (
            {
                "prompt_tokens": 307,
                "completion_tokens": 26,
                "total_tokens": 588,
                "completion_tokens_details": {"reasoning_tokens": 255},
            },
            Usage(input=307, output=281, reasoning=255),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}, Usage(9, 1, 8)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 7}, Usage(9, 1, 7)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "num_cached_tokens": 6}, Usage(9, 1, 6)),
        ({"prompt_tokens": "many", "completion_tokens": -1}, Usage()),
    ],
)
def test_usage_is_normalised(usage, expected):
    assert decode(body({"content": "x"}, usage=usage), TARGET, names()).usage == expected


@pytest.mark.parametrize(
    ("response", "says"),
    [
        ({"error": {"message": "no such model", "code": 404}}, "no such model"),
        ({"error": "overloaded"}, "overloaded"),
        ({"error": {"code": 1}}, "no message"),
        ({"object": "error", "message": "bad id"}, "bad id"),
        ({"choices": []}, "no choices"),
        ({"choices": None}, "no choices"),
        (body({"content": None}), "empty"),
        (body({"content": "", "tool_calls": []}), "empty"),
        ({"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]}, "empty"),
        (body({"content": "half"}, "error"), "error"),
    ],
)
def test_what_is_no_answer_is_refused(response, says):
    with pytest.raises(BadAnswer, match=says):
        decode(response, TARGET, names())


def test_an_error_is_handed_on_as_a_fact():
    with pytest.raises(BadAnswer) as caught:
        decode({"error": {"message": "no", "code": 1}}, TARGET, names())
    assert caught.value.facts["error"] == {"message": "no", "code": 1}


# --- recorded ---------------------------------------------------------------------------------------------------------


@needs_samples
@pytest.mark.parametrize(
    ("file", "kinds", "ending"),
    [
        ("azure__src____fixtures____azure-deepseek-reasoning.1", ["Thinking", "Text"], Ending.DONE),
        ("mistral__src____fixtures____mistral-reasoning", ["Thinking", "Text"], Ending.DONE),
        ("moonshotai__src____fixtures____moonshotai-tool-call", ["ToolCall"], Ending.CALLS),
        ("openai-compatible__src__chat____fixtures____xai-tool-call", ["Thinking", "ToolCall"], Ending.CALLS),
        ("xai__src____fixtures____xai-tool-call", ["Thinking", "ToolCall"], Ending.CALLS),
    ],
)
def test_recorded_bodies_are_read(file, kinds, ending):
    recorded = json.loads((SAMPLES / "vercel-ai-streams" / f"packages__{file}.json").read_bytes())
    answer = decode(recorded, TARGET, names())
    assert [type(block).__name__ for block in answer.entry.blocks] == kinds
    assert answer.entry.ending is ending
    assert answer.usage is not None
    assert answer.served == recorded["model"]


@needs_samples
def test_every_recorded_answer_of_a_live_chat_server_is_read():
    lines = (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").read_text().splitlines()
    exchanges = [one for line in lines if "chat/completions" in (one := json.loads(line))["path"]]
    bodies = [one["response"] for one in exchanges if isinstance(one.get("response"), dict)]
    answers = [decode(one, TARGET, names()) for one in bodies]
    assert len(answers) > 20
    for response, answer in zip(bodies, answers, strict=True):
        message = response["choices"][0]["message"]
        assert answer.text == (message["content"] or "")
        assert [one.wire_id for one in answer.calls] == [one["id"] for one in message.get("tool_calls") or []]


@needs_samples
def test_recorded_refusals_are_errors():
    lines = (SAMPLES / "provider-exchanges" / "rejected.jsonl").read_text().splitlines()
    rejected = [one for line in lines if "chat/completions" in (one := json.loads(line))["path"]]
    assert rejected
    for one in rejected:
        with pytest.raises(BadAnswer) as caught:
            decode(one["response"], TARGET, names())
        assert caught.value.facts["error"] == one["response"]["error"]
