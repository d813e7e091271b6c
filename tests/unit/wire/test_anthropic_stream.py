"""How a streamed message becomes deltas and an answer."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from block_support import claude
from dialect_support import SAMPLES, needs_samples, read_every_way, shown
from legato.errors import BadAnswer
from legato.model import Ending, HostedTool, JsonObject, NameRule, Text, Thinking, ToolCall, Usage
from legato.wire.anthropic.decode import decode
from legato.wire.anthropic.stream import Decoder
from legato.wire.deltas import CallDelta, TextDelta, ThinkingDelta
from legato.wire.names import NameTable

TARGET = claude()
NAMES = NameTable(NameRule.ANTHROPIC)

START: JsonObject = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "model": "model-1-dated",
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 1},
    },
}


def opened(index: int, **block: Any) -> JsonObject:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grown(index: int, kind: str, **delta: Any) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def stopped(index: int) -> JsonObject:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str, **more: Any) -> JsonObject:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **more}, "usage": {"output_tokens": 9}}


def sse(*events: JsonObject) -> bytes:
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (event["type"].encode(), msgspec.json.encode(event)) for event in events
    )


def decoder() -> Decoder:
    return Decoder(TARGET, NAMES)


def after(*events: JsonObject) -> Decoder:
    reading = decoder()
    for event in (START, *events):
        reading.event(event)
    return reading


def test_a_stream_gives_deltas_and_then_the_answer() -> None:
    events = [
        START,
        {"type": "ping"},
        opened(0, type="thinking", thinking="", signature=""),
        grown(0, "thinking_delta", thinking="hm"),
        grown(0, "signature_delta", signature="sig"),
        grown(0, "signature_delta", signature=""),
        stopped(0),
        opened(1, type="text", text=""),
        grown(1, "text_delta", text="I "),
        grown(1, "text_delta", text="look"),
        stopped(1),
        opened(2, type="tool_use", id="toolu_1", name="read", input={}),
        grown(2, "input_json_delta", partial_json=""),
        grown(2, "input_json_delta", partial_json='{"path"'),
        grown(2, "input_json_delta", partial_json=': "a"}'),
        stopped(2),
        ended("tool_use"),
        {"type": "message_stop"},
        {"type": "something_new"},
    ]
    reading = decoder()
    assert shown(reading, *events) == [
        ThinkingDelta("hm"),
        TextDelta("I "),
        TextDelta("look"),
        CallDelta(0, "read"),
        CallDelta(0, "", '{"path"'),
        CallDelta(0, "", ': "a"}'),
    ]
    answer = reading.finish()
    assert answer == read_every_way(decoder, sse(*events))
    assert answer.entry.blocks == (
        Thinking("hm", native={"signature": "sig"}),
        Text("I look"),
        ToolCall("read", {"path": "a"}, "toolu_1"),
    )
    assert (answer.entry.ending, answer.served, answer.response_id) == (Ending.CALLS, "model-1-dated", "msg_1")
    assert answer.usage == Usage(input=7, output=9, cache_read=4)


def test_a_stream_and_the_whole_body_give_the_same_answer() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    citation = {"type": "char_location", "cited_text": "x", "file_id": None}
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "u"}]}
    upload = {"type": "container_upload", "file_id": "f"}
    body = {
        **START["message"],
        "content": [
            {"type": "redacted_thinking", "data": "secret"},
            {**use, "input": {"query": "q"}},
            found,
            {"type": "text", "text": "so", "citations": [citation, citation]},
            upload,
            {"type": "tool_use", "id": "a", "name": "read", "input": {"p": 1}, "caller": caller},
        ],
        "stop_reason": "pause_turn",
        "usage": {**START["message"]["usage"], "output_tokens": 9},
    }
    reading = after(
        opened(0, type="redacted_thinking", data="secret"),
        opened(1, **use, input={}),
        grown(1, "input_json_delta", partial_json='{"query":'),
        grown(1, "input_json_delta", partial_json='"q"}'),
        stopped(1),
        opened(2, **found),
        stopped(2),
        opened(3, type="text", text="s", citations=[citation]),
        grown(3, "text_delta", text="o"),
        grown(3, "citations_delta", citation=citation),
        opened(4, **upload),
        opened(5, type="tool_use", id="a", name="read", input={"p": 1}, caller=caller),
        ended("pause_turn"),
    )
    assert reading.finish() == decode(body, TARGET, NAMES)


def test_what_the_provider_ran_without_readable_arguments_is_kept() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    reading = after(opened(0, **use), grown(0, "input_json_delta", partial_json="{"), stopped(0), ended("end_turn"))
    assert reading.finish().entry.blocks == (HostedTool("web_search", wire_id="srvtoolu_1", native={"blocks": [use]}),)


def test_deltas_that_fit_no_block_are_skipped() -> None:
    reading = after(
        opened(0, type="text", text="x"),
        opened(1, type=""),
        opened(2),
        grown(0, "thinking_delta", thinking="y"),
        grown(7, "text_delta", text="y"),
        grown(0, "something_new"),
        stopped(7),
        ended("end_turn"),
    )
    assert reading.finish().entry.blocks == (
        Text("x"),
        HostedTool("unknown", native={"blocks": [{"type": ""}]}),
    )


def test_arguments_that_break_off_leave_an_unfinished_call() -> None:
    call = (opened(0, type="tool_use", id="a", name="read", input={}), grown(0, "input_json_delta", partial_json='{"p'))
    cut = after(*call, stopped(0), ended("max_tokens"))
    assert cut.finish().calls == (ToolCall("read", {}, "a", raw='{"p', finished=False),)
    assert cut.finish().entry.ending is Ending.LENGTH
    partial = after(*call).partial()
    assert partial is not None
    assert (partial.entry.ending, partial.calls) == (
        Ending.CUT,
        (ToolCall("read", {}, "a", raw='{"p', finished=False),),
    )


@pytest.mark.parametrize("is_stopped", [True, False])
def test_each_start_begins_a_block_although_its_index_was_used(is_stopped: bool) -> None:
    stop = [stopped(0)] if is_stopped else []
    events = [
        START,
        opened(0, type="thinking", thinking=""),
        grown(0, "thinking_delta", thinking="hm"),
        *stop,
        opened(0, type="text", text=""),
        grown(0, "text_delta", text="I look"),
        *stop,
        opened(0, type="tool_use", id="toolu_1", name="read", input={}),
        grown(0, "input_json_delta", partial_json='{"path": "a"}'),
        *stop,
        opened(0, type="tool_use", id="toolu_2", name="read", input={"path": "b"}),
        stopped(0),
        ended("tool_use"),
    ]
    answer = read_every_way(decoder, sse(*events))
    assert answer.entry.blocks == (
        Thinking("hm"),
        Text("I look"),
        ToolCall("read", {"path": "a"}, "toolu_1"),
        ToolCall("read", {"path": "b"}, "toolu_2"),
    )
    assert answer.entry.ending is Ending.CALLS


def test_a_text_under_the_index_of_what_was_found_stays() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_9", "content": [{"url": "u"}]}
    reading = after(
        opened(0, **found), stopped(0), opened(0, type="text", text=""), grown(0, "text_delta", text="so"), stopped(0)
    )
    answer = reading.partial()
    assert answer is not None
    assert [type(block) for block in answer.entry.blocks] == [HostedTool, Text]


def test_a_start_that_is_repeated_begins_nothing() -> None:
    start = opened(0, type="tool_use", id="toolu_1", name="read", input={})
    grow = grown(0, "input_json_delta", partial_json='{"path": "a"}')
    answer = after(start, start, grow, stopped(0), ended("tool_use")).finish()
    assert answer.entry.blocks == (ToolCall("read", {"path": "a"}, "toolu_1"),)


def test_a_stream_that_breaks_off_is_a_bad_answer_with_a_visible_part() -> None:
    reading = after(opened(0, type="text", text="half"))
    with pytest.raises(BadAnswer, match="ended before"):
        reading.finish()
    partial = reading.partial()
    assert partial is not None
    assert (partial.text, partial.entry.ending) == ("half", Ending.CUT)
    assert after().partial() is None


def test_a_stream_without_content_is_a_bad_answer() -> None:
    with pytest.raises(BadAnswer, match="empty"):
        after(ended("end_turn")).finish()


def test_a_refusal_without_words_gets_those_of_the_provider() -> None:
    details = {"type": "refusal", "explanation": "not that"}
    answer = after(ended("refusal", stop_details=details)).finish()
    assert (answer.entry.ending, answer.entry.blocks) == (Ending.REFUSED, (Text("not that"),))


def test_a_message_that_starts_ended_has_ended() -> None:
    reading = decoder()
    reading.event({"type": "message_start", "message": {"model": "m", "stop_reason": "refusal"}})
    assert reading.finish().entry.ending is Ending.REFUSED


def test_a_streamed_error_is_a_bad_answer_with_the_error() -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    with pytest.raises(BadAnswer, match="Overloaded") as caught:
        decoder().feed(sse(START, {"type": "error", "error": error}))
    assert caught.value.facts["error"] == error


@needs_samples
def test_recorded_streams_are_read_however_they_are_split() -> None:
    names: set[str] = set()
    for path in (SAMPLES / "vercel-ai-streams").glob("packages__anthropic__*.chunks.txt"):
        events = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        answer = read_every_way(decoder, sse(*events))
        names |= {block.name for block in answer.entry.blocks if isinstance(block, ToolCall | HostedTool)}
        assert answer.usage is not None
        assert answer.usage.output > 0
    assert {"updateIssueList", "rollDie", "code_execution", "tool_search_tool_regex"} <= names


@needs_samples
def test_a_recorded_response_of_the_api_is_read_from_its_bytes() -> None:
    name = "packages__llm__test__fixtures__recordings__anthropic-messages__streams-tool-call.json"
    recording = json.loads((SAMPLES / "opencode-recordings" / name).read_text())
    answer = read_every_way(decoder, recording["interactions"][0]["response"]["body"].encode())
    assert [(call.name, call.arguments) for call in answer.calls] == [("get_weather", {"city": "Paris"})]
    assert answer.entry.ending is Ending.CALLS
