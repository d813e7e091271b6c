"""Answers as responses of a chat server: the official client accepts them, and they are read back the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from chat_support import target
from dialect_support import read_every_way
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    CallKind,
    Code,
    Ending,
    Entry,
    HostedTool,
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
from legato.wire.openai_chat import DIALECT
from legato.wire.openai_chat.decode import decode
from legato.wire.openai_chat.stream import Decoder

TARGET = target("strict")
USAGE = Usage(input=10, output=5, cache_read=4, cache_write=1, reasoning=2)


def answer(*blocks: Any, ending: Ending | None = Ending.DONE, usage: Usage | None = USAGE) -> Answer:
    entry = Entry(Speaker.AI, blocks, origin=TARGET.origin("m-1"), ending=ending)
    return Answer(entry, usage=usage, served="m-1", response_id="r1")


def streamed(said: Answer) -> bytes:
    return b"".join(DIALECT.reply_stream(said, "m-1"))


def decoder() -> Decoder:
    return Decoder(TARGET, NameTable(NameRule.OPENAI))


LONG = "A sentence that is longer than one piece of a stream, with ünïcode 🎼 in it."
SIGNED = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
DETAILS = {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0, "signature": "s"}]}

ANSWERS = [
    answer(Text(LONG)),
    answer(Text("x"), usage=None),
    answer(Thinking(LONG), Text("x")),
    answer(Thinking("hm", native=DETAILS), Text("x")),
    answer(Thinking("", native={"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}), Text("x")),
    answer(Text("x"), ToolCall("read", {"path": LONG}, "call_1"), ToolCall("list", {}, "2"), ending=Ending.CALLS),
    answer(ToolCall("read", {}, "call_1", native=SIGNED), ending=Ending.CALLS),
    answer(ToolCall("read", {}, "", raw="[1, 2]"), ending=Ending.CALLS),
    answer(ToolCall("read", {}, "c", raw='{"path": "', finished=False), ending=Ending.LENGTH),
    answer(ToolCall("sh", {"input": LONG}, "c", kind=CallKind.CUSTOM), ending=Ending.CALLS),
    answer(Text("no", native={"refusal": True}), ending=Ending.REFUSED),
    answer(Text("half"), ending=Ending.REFUSED),
    answer(Text("half"), ending=Ending.LENGTH),
    answer(Thinking("hm", native={"chunk": True, "signature": "s"}), Text("x"), Thinking("y", native={"chunk": True})),
]


@pytest.mark.parametrize("said", ANSWERS)
def test_a_reply_is_read_back_as_the_same_answer(said):
    assert decode(DIALECT.reply(said, "m-1"), TARGET, NameTable(NameRule.OPENAI)) == said
    assert read_every_way(decoder, streamed(said)) == said


@pytest.mark.parametrize("said", ANSWERS[:-1])  # the last has chunks, which are Mistral's own
def test_the_official_client_accepts_body_and_stream(said):
    ChatCompletion.model_validate(DIALECT.reply(said, "m-1"), strict=True)
    if any(one.kind is CallKind.CUSTOM for one in said.calls):
        return  # the client has no type for a streamed call of the custom kind
    for line in streamed(said).decode().splitlines():
        if line.startswith("data: {"):
            ChatCompletionChunk.model_validate_json(line[6:])


def test_a_whole_reply_looks_like_this():
    said = answer(Thinking("hm"), Text("x"), ToolCall("read", {"a": 1}, "call_1"), ending=Ending.CALLS)
    assert DIALECT.reply(said, "m-1") == {
        "id": "r1",
        "object": "chat.completion",
        "created": 0,
        "model": "m-1",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "x",
                    "refusal": None,
                    "reasoning_content": "hm",
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"a":1}'}}
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


def test_a_stream_ends_with_its_reason_its_usage_and_a_mark():
    events = [line[6:] for line in streamed(ANSWERS[0]).decode().splitlines() if line]
    assert events[-1] == "[DONE]"
    assert json.loads(events[-2])["usage"]["prompt_tokens"] == 10
    assert json.loads(events[-2])["choices"] == []
    assert json.loads(events[-3])["choices"][0]["finish_reason"] == "stop"


def test_the_usage_stands_beside_the_reason_where_a_client_reads_no_chunk_without_a_choice():
    stream = b"".join(DIALECT.reply_stream(ANSWERS[0], "m-1", joins_usage=True))
    events = [line[6:] for line in stream.decode().splitlines() if line]
    assert all(json.loads(event)["choices"] for event in events[:-1])
    last = json.loads(events[-2])
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["usage"] == DIALECT.reply(ANSWERS[0], "m-1")["usage"]


def test_calls_come_in_one_piece_where_a_client_reads_no_others():
    said = answer(Text("I look."), ToolCall("read", {"path": LONG}, "1"), ToolCall("list", {}, "2"))
    events = [
        line[6:] for line in b"".join(DIALECT.reply_stream(said, "m-1", unsplit_calls=True)).decode().splitlines()
    ]
    deltas = [choice["delta"] for event in events if event.startswith("{") for choice in json.loads(event)["choices"]]
    calls = DIALECT.reply(said, "m-1")["choices"][0]["message"]["tool_calls"]
    assert deltas == [
        {"role": "assistant", "content": ""},
        {"content": "I look."},
        {"tool_calls": [{"index": 0, **calls[0]}]},
        {"tool_calls": [{"index": 1, **calls[1]}]},
        {},
    ]


def test_calls_come_together_beside_the_reason_where_the_usage_does():
    said = answer(
        Text("I look."), ToolCall("read", {"path": LONG}, "1"), ToolCall("list", {}, "2"), ending=Ending.CALLS
    )
    stream = b"".join(DIALECT.reply_stream(said, "m-1", unsplit_calls=True, joins_usage=True))
    *before, last = [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: {")]
    calls = DIALECT.reply(said, "m-1")["choices"][0]["message"]["tool_calls"]
    (choice,) = last["choices"]
    assert choice["delta"] == {"tool_calls": [{"index": at, **call} for at, call in enumerate(calls)]}
    assert (choice["finish_reason"], last["usage"]["prompt_tokens"]) == ("tool_calls", 10)
    assert "tool_calls" not in str(before)


def test_calls_that_waited_for_the_end_are_not_lost_where_there_is_none():
    said = answer(ToolCall("read", {"path": "a"}, "1"), ToolCall("list", {}, "2"), ending=Ending.CANCELLED)
    stream = b"".join(DIALECT.reply_stream(said, "m-1", unsplit_calls=True, joins_usage=True))
    chunks = [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: {")]
    assert [len(chunk["choices"][0]["delta"].get("tool_calls", [])) for chunk in chunks] == [0, 2]
    assert b"[DONE]" not in stream


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.CANCELLED])
def test_an_answer_that_was_cut_breaks_off_in_the_stream(ending):
    said = answer(Text("half"), ending=ending)
    reading = decoder()
    reading.feed(streamed(said))
    with pytest.raises(BadAnswer):
        reading.finish()
    partial = reading.partial()
    assert partial is not None
    assert partial.text == "half"
    assert DIALECT.reply(said, "m-1")["choices"][0]["finish_reason"] == "length"


def test_blocks_that_a_chat_answer_cannot_hold_become_text():
    said = answer(
        Text("so"),
        Code("ls", "sh"),
        HostedTool("search", {"q": 1}),
        Media(MediaKind.IMAGE, "image/png", data="aWNvbg=="),
        ending=None,
    )
    assert DIALECT.reply(said, "m-1")["choices"][0] == {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": (
                'so\n\n```sh\nls\n```\n\n[The provider ran search {"q":1}]\n\n'
                "[image omitted: image/png, which this model cannot take]"
            ),
            "refusal": None,
        },
        "logprobs": None,
        "finish_reason": "stop",
    }


def test_an_answer_without_ending_and_id_still_makes_a_response():
    said = Answer(
        Entry(Speaker.AI, (ToolCall("sh", {"command": "ls"}, "c", kind=CallKind.CUSTOM),)), usage=None, served=""
    )
    body = DIALECT.reply(said, "m")
    assert (len(body["id"]), body["choices"][0]["finish_reason"]) == (32, "tool_calls")
    assert body["choices"][0]["message"]["tool_calls"][0]["custom"]["input"] == '{"command":"ls"}'


def test_what_is_told_is_a_paragraph_in_a_body_as_in_a_stream() -> None:
    said = answer(Text("so\n"), Code("ls", "sh"), Text("done"))
    reading = decoder()
    reading.feed(streamed(said))
    body = decode(DIALECT.reply(said, "m-1"), TARGET, NameTable(NameRule.OPENAI))
    assert body.text == reading.finish().text == "so\n\n\n```sh\nls\n```\n\ndone"


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)
IDS = st.text("abc_0123456789", min_size=1, max_size=12)
ARGUMENTS = st.dictionaries(TEXTS, st.integers(-(2**60), 2**60) | TEXTS | st.lists(st.booleans()))


@given(
    thought=st.none() | TEXTS,
    text=st.none() | TEXTS,
    calls=st.lists(st.tuples(IDS, IDS, ARGUMENTS), max_size=4, unique_by=lambda one: one[0]),
)
def test_every_answer_survives_body_and_stream(thought, text, calls):
    blocks: list[Any] = [
        *([] if thought is None else [Thinking(thought)]),
        *([] if text is None else [Text(text)]),
        *(
            ToolCall(name, arguments, wire_id)
            for wire_id, name, arguments in calls
            if set(arguments) != {"raw_arguments"}
        ),
    ]
    if not blocks:
        return
    said = answer(*blocks, ending=Ending.CALLS if any(isinstance(one, ToolCall) for one in blocks) else Ending.DONE)
    assert decode(DIALECT.reply(said, "m-1"), TARGET, NameTable(NameRule.OPENAI)) == said
    reading = decoder()
    reading.feed(streamed(said))
    assert reading.finish() == said
