"""Streams of the chat family, with every habit that its servers have: recorded ones and made ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_support import target
from dialect_support import SAMPLES, needs_samples, read_every_way
from legato.errors import BadAnswer
from legato.model import Answer, CallKind, Ending, NameRule, Text, Thinking, ToolCall, Usage
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, TextDelta, ThinkingDelta
from legato.wire.names import NameTable
from legato.wire.openai_chat.decode import decode
from legato.wire.openai_chat.stream import Decoder

TARGET = target("strict")


def decoder() -> Decoder:
    return Decoder(TARGET, NameTable(NameRule.OPENAI))


def chunk(delta: dict[str, Any], reason: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "r1", "model": "m-1", "object": "chat.completion.chunk", "choices": [choice], **fields}


def fragment(index: int | None = 0, wire_id: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    return {"index": index, "id": wire_id, "function": {"name": name, "arguments": arguments}}


def sse(*chunks: dict[str, Any], done: bool = True) -> bytes:
    data = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks)
    return data + b"data: [DONE]\n\n" if done else data


def answer_of(*chunks: dict[str, Any], done: bool = True) -> Answer:
    return read_every_way(decoder, sse(*chunks, done=done))


def calls_of(*fragments: Any) -> list[tuple[str, str, Any]]:
    chunks = [chunk({"tool_calls": [one] if isinstance(one, dict) else one}) for one in fragments]
    answer = answer_of(*chunks, chunk({}, "tool_calls"))
    return [(one.wire_id, one.name, one.arguments if one.raw is None else one.raw) for one in answer.calls]


# --- calls ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        pytest.param(
            [fragment(0, "c1", "f", ""), fragment(0, None, None, '{"a"'), fragment(0, None, None, ":1}")],
            [("c1", "f", {"a": 1})],
            id="the id comes only in the first fragment",
        ),
        pytest.param(
            [fragment(0, "c1", "f", '{"a"'), fragment(0, "c1", "f", ":1}"), fragment(0, "c1", "f", "")],
            [("c1", "f", {"a": 1})],
            id="id and name are repeated",
        ),
        pytest.param(
            [fragment(0, "c1", "f", "{}"), fragment(0, "", "", "")],
            [("c1", "f", {})],
            id="later fragments have empty ids",
        ),
        pytest.param(
            [fragment(0, "c1", "f", "{}"), fragment(0, "c2", "g", "{}")],
            [("c1", "f", {}), ("c2", "g", {})],
            id="every call has the index 0",
        ),
        pytest.param(
            [fragment(0, "c1", "f", '{"a":'), fragment(1, "c2", "g", "{}"), fragment(0, None, None, "1}")],
            [("c1", "f", {"a": 1}), ("c2", "g", {})],
            id="two calls are interleaved",
        ),
        pytest.param(
            [fragment(None, "c1", "f", '{"a":'), fragment(None, None, None, "1}"), fragment(None, "c2", "g", "{}")],
            [("c1", "f", {"a": 1}), ("c2", "g", {})],
            id="there is no index",
        ),
        pytest.param(
            [[fragment(None, None, "f", '{"a":1}'), fragment(None, None, "f", '{"a":1}')]],
            [("", "f", {"a": 1}), ("", "f", {"a": 1})],
            id="whole calls without index and id",
        ),
        pytest.param(
            [fragment(0, "", "f", '{"a":1}'), fragment(0, "", "g", "{}")],
            [("", "f", {"a": 1}), ("", "g", {})],
            id="whole calls at index 0 without ids",
        ),
        pytest.param(
            [fragment(0, None, "f", '{"a":'), fragment(0, None, "f", "1}")],
            [("", "f", {"a": 1})],
            id="the name is repeated and there is no id",
        ),
        pytest.param(
            [fragment(0, "c1", "f", '{"a":1}'), fragment(0, "c1", "f", '{"a":1}')],
            [("c1", "f", {"a": 1})],
            id="a whole call is sent twice",
        ),
        pytest.param(
            [fragment(0, "0", "f", '{"a":1}'), fragment(1, "0", "f", '{"a":2}')],
            [("0", "f", {"a": 1}), ("0", "f", {"a": 2})],
            id="two calls share an id",
        ),
        pytest.param(
            [fragment(None, "0", "f", '{"a":1}'), fragment(None, "0", "f", '{"a":2}')],
            [("0", "f", {"a": 1}), ("0", "f", {"a": 2})],
            id="two calls share an id and there is no index",
        ),
        pytest.param(
            [fragment(0, None, "f", ""), fragment(0, "c1", None, "{}")],
            [("c1", "f", {})],
            id="the id comes late",
        ),
        pytest.param(
            [fragment(0, "c1", "f", ""), fragment(0, "c2", None, '{"a"'), fragment(0, "c3", None, ":1}")],
            [("c1", "f", {"a": 1})],
            id="each fragment has an id of its own",
        ),
        pytest.param(
            [fragment(0, "c1", "f", '{"a"'), fragment(0, "c2", "f", ":1}")],
            [("c1", "f", {"a": 1})],
            id="each fragment has an id of its own, and the name",
        ),
        pytest.param(
            [fragment(0, "c1", None, None), fragment(0, "c2", "f", "{}")],
            [("c1", "f", {})],
            id="the name comes with another id",
        ),
        pytest.param(
            [fragment(0, "c1", "f", "{}"), fragment(0, "c2", "f", "{}"), fragment(0, "c3", "f", "")],
            [("c1", "f", {}), ("c2", "f", {}), ("c3", "f", {})],
            id="calls of one tool all have the index 0",
        ),
        pytest.param(
            [fragment(0, "c1", "f", '{"a"'), fragment(0, "c2", "g", '{"b"'), fragment(0, None, None, ":2}")],
            [("c1", "f", '{"a"'), ("c2", "g", {"b": 2})],
            id="another name and another id are another call",
        ),
        pytest.param(
            [fragment(None, "c1", "f", '{"a"'), fragment(None, "c2", None, ":1}")],
            [("c1", "f", {"a": 1})],
            id="the id changes and there is no index",
        ),
        pytest.param(
            [
                fragment(None, "c1", "f", '{"a":'),
                fragment(None, "c2", "g", '{"b":'),
                fragment(None, "c1", None, "1}"),
                fragment(None, "c2", None, "2}"),
            ],
            [("c1", "f", {"a": 1}), ("c2", "g", {"b": 2})],
            id="two calls grow in turns and there is no index",
        ),
        pytest.param([fragment(0, "c1", "f", None)], [("c1", "f", {})], id="arguments are null"),
        pytest.param([fragment(0, "c1", "f", {"a": 1})], [("c1", "f", {"a": 1})], id="arguments are an object"),
        pytest.param([fragment(None, None, None, '{"a":1}')], [("", "", {"a": 1})], id="a piece of nothing known"),
    ],
)
def test_fragments_find_their_call(fragments, calls):
    assert calls_of(*fragments) == calls


def test_a_call_of_the_old_kind_and_one_of_the_custom_kind_are_read():
    legacy = answer_of(
        chunk({"function_call": {"name": "f", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"a":1}'}}),
        chunk({}, "function_call"),
    )
    assert (legacy.entry.blocks, legacy.entry.ending) == ((ToolCall("f", {"a": 1}),), Ending.CALLS)
    custom = answer_of(
        chunk({"tool_calls": [{"index": 0, "id": "c", "type": "custom", "custom": {"name": "sh", "input": ""}}]}),
        chunk({"tool_calls": [{"index": 0, "custom": {"input": "ls"}}]}),
        chunk({}, "tool_calls"),
    )
    assert custom.entry.blocks == (ToolCall("sh", {"input": "ls"}, "c", kind=CallKind.CUSTOM),)


def test_a_call_is_told_to_be_whole_when_something_else_begins_and_not_before_it_is():
    reading = decoder()
    told = [
        reading.event(chunk({"tool_calls": [fragment(0, "c1", "f", '{"a"')]})),
        reading.event(chunk({"tool_calls": [fragment(1, "c2", "g", "{}")]})),
        reading.event(chunk({"tool_calls": [fragment(0, None, None, ":1}")]})),
        reading.event(chunk({"content": "so"})),
        reading.event(chunk({}, "stop")),
    ]
    first, second = ToolCall("f", {"a": 1}, "c1"), ToolCall("g", {}, "c2")
    assert told == [
        [BlockStart(ToolCall("f", {}, "c1"), 0), CallDelta(0, "f", '{"a"')],
        [BlockStart(second, 1), CallDelta(1, "g", "{}")],
        [BlockDone(second, 1), CallDelta(0, "", ":1}")],
        [BlockDone(first, 0), BlockStart(Text("")), TextDelta("so")],
        [BlockDone(Text("so"))],
    ]


def test_a_truncated_call_is_unfinished_and_the_one_before_it_is_not():
    answer = answer_of(
        chunk({"tool_calls": [fragment(0, "c1", "f", "")]}),
        chunk({"tool_calls": [fragment(1, "c2", "g", '{"a": "')]}),
        chunk({}, "length"),
    )
    assert [(one.name, one.finished) for one in answer.calls] == [("f", True), ("g", False)]
    assert answer.entry.ending is Ending.LENGTH


# --- text, thinking, ends ---------------------------------------------------------------------------------------------


def test_deltas_tell_what_begins_what_comes_and_what_is_whole():
    reading = decoder()
    told = [
        *reading.event(chunk({"role": "assistant", "content": ""})),
        *reading.event(chunk({"reasoning_content": "hm"})),
        *reading.event(chunk({"content": "Hel"})),
        *reading.event(chunk({"content": "lo", "tool_calls": [fragment(0, "c1", "f", '{"a"')]})),
        *reading.event(chunk({"tool_calls": [fragment(0, None, None, ":1}")]})),
        *reading.event(chunk({}, "tool_calls")),
    ]
    assert told == [
        BlockStart(Thinking()),
        ThinkingDelta("hm"),
        BlockStart(Text("")),
        TextDelta("Hel"),
        TextDelta("lo"),
        BlockStart(ToolCall("f", {}, "c1"), 0),
        CallDelta(0, "f", '{"a"'),
        CallDelta(0, "", ":1}"),
        BlockDone(Thinking("hm")),
        BlockDone(Text("Hello")),
        BlockDone(ToolCall("f", {"a": 1}, "c1"), 0),
    ]
    assert reading.finish().entry.blocks == (Thinking("hm"), Text("Hello"), ToolCall("f", {"a": 1}, "c1"))


def test_details_of_reasoning_are_joined_by_index_and_keep_their_signature():
    def detail(**fields: Any) -> dict[str, Any]:
        return {"reasoning_details": [{"type": "reasoning.text", "index": 0, **fields}]}

    answer = answer_of(
        chunk({"reasoning": "h", **detail(text="h")}),
        chunk({"reasoning": "m", **detail(text="m", signature=None)}),
        chunk(detail(text="", signature="s")),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "x"}]}),
        chunk({"content": "so"}, "stop"),
    )
    details = [
        {"type": "reasoning.text", "index": 0, "text": "hm", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "x"},
    ]
    assert answer.entry.blocks == (Thinking("hm", native={"reasoning_details": details}), Text("so"))


def test_chunked_content_becomes_one_block_for_each_run():
    def thinking(text: str, **fields: Any) -> dict[str, Any]:
        return chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}], **fields}]})

    answer = answer_of(
        thinking("a"),
        thinking("b", signature="s"),
        thinking("c"),
        chunk({"content": [{"type": "text", "text": "x"}]}),
        chunk({"content": "y"}),
        thinking("d"),
        chunk({"content": ""}, "stop"),
    )
    assert answer.entry.blocks == (
        Thinking("abc", native={"chunk": True, "signature": "s"}),
        Text("xy"),
        Thinking("d", native={"chunk": True}),
    )


def test_a_refusal_is_streamed_like_text():
    answer = answer_of(chunk({"refusal": "I "}), chunk({"refusal": "won't"}), chunk({}, "stop"))
    assert (answer.text, answer.entry.ending) == ("I won't", Ending.REFUSED)


@pytest.mark.parametrize(
    ("chunks", "done"),
    [
        pytest.param([chunk({"content": "x"}, "stop")], False, id="a finish reason and no [DONE]"),
        pytest.param([chunk({"content": "x"})], True, id="[DONE] and no finish reason"),
        pytest.param([chunk({"content": "x"}), {"choices": [], "usage": {"prompt_tokens": 1}}], False, id="last usage"),
        pytest.param([chunk({"content": "x"}, ""), chunk({}, "stop"), chunk({}, "stop")], True, id="twice"),
    ],
)
def test_a_stream_that_says_somehow_that_it_ended_is_complete(chunks, done):
    answer = answer_of(*chunks, done=done)
    assert (answer.text, answer.entry.ending) == ("x", Ending.DONE)


def test_calls_end_an_answer_as_calls_whatever_the_server_says():
    assert (
        answer_of(chunk({"tool_calls": [fragment(0, "c", "f", "{}")]}), chunk({}, "stop")).entry.ending is Ending.CALLS
    )
    assert answer_of(chunk({"tool_calls": [fragment(0, "c", "f", "{}")]})).entry.ending is Ending.CALLS


@pytest.mark.parametrize(
    "last",
    [
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        {"choices": None, "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}},
        {"choices": [{"delta": {}, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}]},
    ],
)
def test_usage_is_found_wherever_it_stands(last):
    answer = answer_of(chunk({"content": "x"}, "stop", usage=None), last)
    assert answer.usage == Usage(input=3, output=2)


def test_a_second_choice_and_unknown_events_are_passed_over():
    answer = answer_of(
        {"object": "prompt.filter", "choices": []},
        chunk({"content": "x"}),
        {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "length"}]},
        {"type": "ping"},
        chunk({}, "stop"),
    )
    assert (answer.text, answer.entry.ending, answer.served, answer.response_id) == ("x", Ending.DONE, "m-1", "r1")


@pytest.mark.parametrize(
    "event",
    [
        {"error": {"message": "overloaded", "code": 502}, "choices": []},
        chunk({"content": ""}, "error"),
        {"choices": [{"index": 0, "delta": {}, "error": {"message": "overloaded"}}]},
    ],
)
def test_an_error_in_the_stream_is_raised(event):
    reading = decoder()
    reading.feed(sse(chunk({"content": "half"}), done=False))
    with pytest.raises(BadAnswer) as caught:
        reading.feed(sse(event))
    assert caught.value.facts["error"]
    partial = reading.partial()
    assert partial is not None
    assert (partial.text, partial.entry.ending) == ("half", Ending.CUT)


def test_a_stream_that_breaks_off_is_no_answer():
    reading = decoder()
    reading.feed(sse(chunk({"content": "half"}), done=False))
    with pytest.raises(BadAnswer, match="before the answer did"):
        reading.finish()


def test_a_stream_of_nothing_is_no_answer():
    assert decoder().partial() is None
    with pytest.raises(BadAnswer, match="empty"):
        answer_of(chunk({"role": "assistant", "content": ""}), chunk({}, "stop"))


# --- recorded ---------------------------------------------------------------------------------------------------------


def recorded_streams() -> Iterator[tuple[str, bytes]]:
    for path in sorted((SAMPLES / "goose").glob("*.txt")):
        yield path.stem, path.read_bytes()
    for path in sorted((SAMPLES / "vercel-ai-streams").glob("*.chunks.txt")):
        if b'"chat.completion.chunk"' in path.read_bytes():
            lines = path.read_bytes().splitlines()
            yield path.stem, b"".join(b"data: " + line + b"\n\n" for line in lines if line)
    for path in sorted((SAMPLES / "opencode-recordings").glob("*.json")):
        for index, one in enumerate(json.loads(path.read_bytes())["interactions"]):
            if "chat/completions" in str(one["request"].get("url", "")):
                yield f"{path.stem}-{index}", one["response"]["body"].encode()
    for path in sorted((SAMPLES / "llm-cassettes").glob("*test_tools*.yaml")):
        for index, body in enumerate(_bodies(path)):
            yield f"{path.stem}-{index}", body


def _bodies(cassette: Path) -> Iterator[bytes]:
    """The streamed bodies in a cassette: YAML in single quotes, where a folded line break is a space."""
    for quoted in re.findall(r"string: '((?:[^']|'')*)'", cassette.read_text()):
        text = re.sub(r"\n\n\s*", "\n", quoted.replace("''", "'"))
        text = re.sub(r"(?<!\n)\n +", " ", text)
        yield b"".join(line.strip().encode() + b"\n\n" for line in text.split("\n") if line.strip())


STREAMS = dict(recorded_streams()) if SAMPLES.is_dir() else {}


@needs_samples
def test_there_are_recorded_streams_of_many_servers():
    assert len(STREAMS) > 20


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_stream_gives_one_answer_however_it_is_split(name):
    data = STREAMS[name]
    answer = read_every_way(decoder, data)
    events = [json.loads(line[6:]) for line in data.splitlines() if line.startswith(b"data: {")]
    assert answer == _by_events(events)
    assert answer.text == "".join(_pieces(events, "content"))
    assert answer == decode(_body_of(events, answer), TARGET, NameTable(NameRule.OPENAI))
    assert all(one.finished and one.raw is None and one.name and one.wire_id for one in answer.calls)
    reasons = {choice.get("finish_reason") for event in events for choice in event["choices"]} - {None}
    assert answer.entry.ending is (Ending.CALLS if answer.calls else Ending.DONE)
    assert reasons <= {"stop", "tool_calls"}


def _by_events(events: list[dict[str, Any]]) -> Answer:
    reading = decoder()
    for event in events:
        reading.event(event)
    if not any(choice.get("finish_reason") for event in events for choice in event["choices"]):
        reading.feed(b"data: [DONE]\n\n")
    return reading.finish()


def _pieces(events: list[dict[str, Any]], field: str) -> Iterator[str]:
    for event in events:
        for choice in event["choices"]:
            piece = choice["delta"].get(field) or ""
            yield from [piece] if isinstance(piece, str) else [part.get("text", "") for part in piece]


def _body_of(events: list[dict[str, Any]], answer: Answer) -> dict[str, Any]:
    """The body that the same server would have sent, put together without the decoder."""
    calls: dict[int, dict[str, Any]] = {}
    chunks: list[Any] = []
    for event in events:
        for choice in event["choices"]:
            content = choice["delta"].get("content")
            chunks += content if isinstance(content, list) else []
            for piece in choice["delta"].get("tool_calls") or ():
                call = calls.setdefault(
                    piece["index"], {"id": piece.get("id"), "function": {"name": "", "arguments": ""}}
                )
                call["function"]["name"] = call["function"]["name"] or piece["function"].get("name")
                call["function"]["arguments"] += piece["function"].get("arguments") or ""
    message = {
        "content": chunks or "".join(_pieces(events, "content")),
        "reasoning_content": "".join(_pieces(events, "reasoning_content")),
        "tool_calls": list(calls.values()),
    }
    usage = next((event["usage"] for event in reversed(events) if event.get("usage")), None)
    return {
        "id": events[0]["id"],
        "model": answer.served,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }


@needs_samples
def test_the_streamed_and_the_whole_answer_of_one_recording_are_equal():
    stem = "packages__mistral__src____fixtures____mistral-reasoning"
    whole = json.loads((SAMPLES / "vercel-ai-streams" / f"{stem}.json").read_bytes())
    assert read_every_way(decoder, STREAMS[f"{stem}.chunks"]) == decode(whole, TARGET, NameTable(NameRule.OPENAI))
