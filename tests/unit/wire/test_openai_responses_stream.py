"""Responses streams: the same answer as the body, however the bytes are split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dialect_support import SAMPLES, make_target, needs_samples, read_every_way, shown
from legato.errors import BadAnswer
from legato.model import (
    Answer,
    CallKind,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    NameRule,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from legato.wire.contract import StreamDecoder
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, TextDelta, ThinkingDelta
from legato.wire.names import NameTable
from legato.wire.openai_responses import DIALECT

TARGET = make_target(Dialect.OPENAI_RESPONSES)


def decoder() -> StreamDecoder:
    return DIALECT.decoder(TARGET, NameTable(NameRule.OPENAI))


def fed(*events: JsonObject) -> StreamDecoder:
    reader = decoder()
    for event in events:
        reader.event(event)
    return reader


def added(index: int, item: JsonObject) -> JsonObject:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: JsonObject) -> JsonObject:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind: str, index: int, text: str, **more: Any) -> JsonObject:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **more}


def completed(*output: JsonObject, **more: Any) -> JsonObject:
    response = {"id": "resp_1", "model": "served-1", "status": "completed", "output": [*output], **more}
    return {"type": "response.completed", "response": response}


CREATED: JsonObject = {"type": "response.created", "response": {"id": "resp_1", "model": "served-1"}}
CALL: JsonObject = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": '{"a":1}'}
REASONING: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"text": "one"}, {"text": "two"}],
    "encrypted_content": "gA",
}
MESSAGE: JsonObject = {
    "type": "message",
    "id": "msg_1",
    "phase": "final_answer",
    "content": [{"type": "output_text", "text": "hello"}],
}


def test_deltas_are_shown_as_they_come() -> None:
    reader = fed(CREATED, added(0, {"type": "reasoning"}))
    assert shown(reader, delta("reasoning_summary_text", 0, "one", summary_index=0)) == [ThinkingDelta("one")]
    assert shown(reader, delta("reasoning_summary_text", 0, "", summary_index=1)) == []
    assert shown(reader, delta("reasoning_summary_text", 0, "two", summary_index=1)) == [ThinkingDelta("\n\ntwo")]
    assert shown(reader, done(0, REASONING)) == []
    assert shown(reader, delta("output_text", 1, "hel", content_index=0)) == [TextDelta("hel")]
    assert shown(reader, delta("output_text", 1, "lo", content_index=0)) == [TextDelta("lo")]
    assert shown(reader, done(1, MESSAGE)) == []
    assert shown(reader, added(2, {**CALL, "arguments": ""})) == [CallDelta(0, "read")]
    assert shown(reader, delta("function_call_arguments", 2, '{"a"')) == [CallDelta(0, "", '{"a"')]
    assert shown(reader, done(2, CALL)) == []
    assert reader.partial() == Answer(
        Entry(
            Speaker.AI,
            (
                Thinking("one\n\ntwo", native={"item": REASONING}),
                Text("hello", native={"phase": "final_answer"}),
                ToolCall("read", {"a": 1}, "call_1"),
            ),
            origin=TARGET.origin("served-1"),
            ending=Ending.CUT,
        ),
        served="served-1",
        response_id="resp_1",
    )
    end = completed(REASONING, MESSAGE, CALL, usage={"input_tokens": 1, "output_tokens": 2})
    assert shown(reader, end) == []
    assert reader.finish() == DIALECT.decode(end["response"], TARGET, NameTable(NameRule.OPENAI))
    assert reader.finish().usage == Usage(1, 2)


def test_items_that_arrive_whole_are_shown_when_they_are_done() -> None:
    custom: JsonObject = {"type": "custom_tool_call", "call_id": "call_2", "name": "sql", "input": "select"}
    search: JsonObject = {"type": "web_search_call", "id": "ws_1"}
    refusal: JsonObject = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
    reader = fed(CREATED)
    assert shown(reader, done(0, REASONING)) == [ThinkingDelta("one\n\ntwo")]
    assert shown(reader, done(1, search)) == []
    assert shown(reader, done(2, refusal)) == [TextDelta("no")]
    assert shown(reader, done(3, custom)) == [CallDelta(0, "sql", "select")]
    reader.event(completed())
    assert reader.finish().entry.blocks == (
        Thinking("one\n\ntwo", native={"item": REASONING}),
        HostedTool("web_search", wire_id="ws_1", native={"item": search}),
        Text("no", native={"refusal": True}),
        ToolCall("sql", {"input": "select"}, "call_2", kind=CallKind.CUSTOM),
    )
    assert reader.finish().entry.ending is Ending.REFUSED


def test_a_custom_call_grows_by_its_input() -> None:
    item: JsonObject = {"type": "custom_tool_call", "call_id": "call_2", "name": "sql", "input": ""}
    reader = fed(added(0, item))
    assert shown(reader, delta("custom_tool_call_input", 0, "sel")) == [CallDelta(0, "", "sel")]
    partial = reader.partial()
    assert partial is not None
    assert partial.calls == (ToolCall("sql", {"input": "sel"}, "call_2", kind=CallKind.CUSTOM),)


def test_the_finished_item_is_preferred_to_the_list_at_the_end() -> None:
    stale = {**REASONING, "encrypted_content": "stale"}
    reader = fed(done(0, REASONING), done(1, MESSAGE), completed(stale, MESSAGE))
    assert reader.finish().entry.blocks[0] == Thinking("one\n\ntwo", native={"item": REASONING})


def test_items_without_an_output_index_are_known_by_their_ids() -> None:
    first = {"type": "response.output_text.delta", "item_id": "msg_1", "content_index": 0, "delta": "hello"}
    closed = {"type": "response.output_item.done", "item": MESSAGE}
    assert fed(first, closed, completed()).finish().text == "hello"
    assert fed(first, closed, completed(MESSAGE)).finish().text == "hello"


def test_a_call_keeps_the_id_that_it_began_with() -> None:
    begun = fed(added(0, {**CALL, "call_id": "first", "arguments": ""}), delta("function_call_arguments", 0, "{}"))
    whole = {**CALL, "call_id": "second", "arguments": "{}"}
    assert begun.event(done(0, whole)) == [BlockDone(ToolCall("read", {}, "first"), 0)]
    begun.event(completed())
    assert [call.wire_id for call in begun.finish().calls] == ["first"]
    listed = fed(added(0, {**CALL, "call_id": "first", "arguments": ""}), completed(whole))
    assert [call.wire_id for call in listed.finish().calls] == ["first"]


OTHER: JsonObject = {**CALL, "id": "fc_2", "call_id": "call_2", "name": "grep"}


@pytest.mark.parametrize("items", [(CALL, OTHER), (MESSAGE, CALL, OTHER), (CALL, MESSAGE), (REASONING, CALL)])
@pytest.mark.parametrize("is_listed", [True, False])
def test_items_under_one_index_are_all_kept(items: tuple[JsonObject, ...], is_listed: bool) -> None:
    events = [CREATED]
    for item in items:
        events.append(added(0, {**item, "content": [], "arguments": "", "summary": []}))
        if item["type"] == "function_call":
            events.append(delta("function_call_arguments", 0, item["arguments"], item_id=item["id"]))
        if item["type"] == "message":
            events.append(delta("output_text", 0, "hello", item_id=item["id"], content_index=0))
        events.append(done(0, item))
    end = completed(*items)
    reader = fed(*events, end if is_listed else completed())
    assert reader.finish() == DIALECT.decode(end["response"], TARGET, NameTable(NameRule.OPENAI))


def test_items_under_one_index_grow_each_by_its_own_events() -> None:
    reader = fed(
        CREATED,
        added(0, {**MESSAGE, "content": []}),
        delta("output_text", 0, "hel", item_id="msg_1", content_index=0),
        added(0, {**CALL, "arguments": ""}),
        added(0, {**OTHER, "arguments": ""}),
        delta("function_call_arguments", 0, '{"a":', item_id="fc_1"),
        delta("function_call_arguments", 0, '{"a":', item_id="fc_2"),
        delta("output_text", 0, "lo", item_id="msg_1", content_index=0),
        delta("function_call_arguments", 0, "2}", item_id="fc_2"),
        delta("function_call_arguments", 0, "1}", item_id="fc_1"),
    )
    partial = reader.partial()
    assert partial is not None
    assert partial.entry.blocks == (
        Text("hello", native={"phase": "final_answer"}),
        ToolCall("read", {"a": 1}, "call_1"),
        ToolCall("grep", {"a": 2}, "call_2"),
    )
    for event in (done(1, MESSAGE), done(0, {**OTHER, "arguments": '{"a":2}'}), done(0, CALL), completed()):
        reader.event(event)
    assert reader.finish().entry.blocks == partial.entry.blocks


def bare(event: JsonObject) -> JsonObject:
    return {name: value for name, value in event.items() if name != "output_index"}


def test_items_without_ids_that_are_open_together_are_each_closed_once() -> None:
    message: JsonObject = {"type": "message", "content": [{"type": "output_text", "text": "hello"}]}
    call: JsonObject = {"type": "function_call", "name": "read", "arguments": '{"a":1}'}
    reader = fed(
        CREATED,
        added(0, {**message, "content": []}),
        added(0, {**call, "arguments": ""}),
        delta("output_text", 0, "hello", content_index=0),
        delta("function_call_arguments", 0, '{"a":1}'),
        done(0, message),
        done(0, call),
        completed(),
    )
    assert reader.finish().entry.blocks == (Text("hello"), ToolCall("read", {"a": 1}))


def test_an_item_that_is_whole_twice_under_two_ids_is_one() -> None:
    reader = fed(CREATED, added(0, {**MESSAGE, "id": "a", "content": []}), delta("output_text", 0, "hello"))
    told = [*reader.event(done(0, {**MESSAGE, "id": "b"})), *reader.event(done(0, {**MESSAGE, "id": "c"}))]
    assert not any(isinstance(one, TextDelta) for one in told)
    reader.event(completed())
    assert reader.finish().text == "hello"


def test_two_items_that_only_were_whole_are_two() -> None:
    def message(text: str) -> JsonObject:
        return {"type": "message", "content": [{"type": "output_text", "text": text}]}

    reader = fed(CREATED, done(0, message("one")), done(0, message("two")), completed())
    assert reader.finish().entry.blocks == (Text("one"), Text("two"))


def test_what_grew_before_it_began_is_not_taken_for_an_item_of_another_type() -> None:
    events = (delta("output_text", 0, "hello", item_id="msg_1"), added(0, {**CALL, "arguments": ""}), done(0, CALL))
    listed = fed(CREATED, *events, completed({**MESSAGE, "phase": None}, CALL))
    assert listed.finish().entry.blocks == (Text("hello"), ToolCall("read", {"a": 1}, "call_1"))
    unlisted = fed(CREATED, *events, completed())
    assert unlisted.finish().entry.blocks == (Text("hello"), ToolCall("read", {"a": 1}, "call_1"))


def test_more_of_an_item_without_its_id_goes_to_the_newest_of_its_type() -> None:
    reader = fed(
        CREATED,
        added(0, {**MESSAGE, "content": []}),
        delta("output_text", 0, "hel", content_index=0),
        added(0, {**CALL, "arguments": ""}),
        delta("output_text", 0, "lo", content_index=0),
        delta("function_call_arguments", 0, '{"a":1}'),
    )
    partial = reader.partial()
    assert partial is not None
    assert partial.entry.blocks == (
        Text("hello", native={"phase": "final_answer"}),
        ToolCall("read", {"a": 1}, "call_1"),
    )


@pytest.mark.parametrize("names", [("id", "call_id"), ("call_id",)])
def test_calls_without_an_index_are_known_by_any_id(names: tuple[str, ...]) -> None:
    kept = {"type", "name", "arguments", *names}
    events: list[JsonObject] = [CREATED]
    for call in (CALL, OTHER):
        item = {name: value for name, value in call.items() if name in kept}
        more = {"item_id": call["id"]} if "id" in names else {}
        events.append(bare(added(0, {**item, "arguments": ""})))
        events.append(bare(delta("function_call_arguments", 0, '{"a":1}', **more)))
        events.append(bare(done(0, item)))
    calls = fed(*events, completed()).finish().calls
    assert calls == (ToolCall("read", {"a": 1}, "call_1"), ToolCall("grep", {"a": 1}, "call_2"))


def test_an_index_that_only_items_tell_is_joined_with_the_ids_that_deltas_tell() -> None:
    reader = fed(CREATED)
    told = [
        *reader.event(added(0, {**MESSAGE, "content": []})),
        *reader.event(bare(delta("output_text", 0, "hello", item_id="msg_1", content_index=0))),
        *reader.event(done(0, MESSAGE)),
        *reader.event(added(1, {**CALL, "arguments": ""})),
        *reader.event(bare(delta("function_call_arguments", 0, '{"a":1}', item_id="fc_1"))),
        *reader.event(done(1, CALL)),
        *reader.event(completed()),
    ]
    assert [one for one in told if isinstance(one, TextDelta)] == [TextDelta("hello")]
    assert len([one for one in told if isinstance(one, BlockStart) and isinstance(one.block, ToolCall)]) == 1
    assert reader.finish().entry.blocks == (
        Text("hello", native={"phase": "final_answer"}),
        ToolCall("read", {"a": 1}, "call_1"),
    )


def test_an_item_that_is_told_twice_is_one() -> None:
    events = [added(0, {**CALL, "arguments": ""}), done(0, CALL)]
    assert fed(CREATED, *events, *events, completed()).finish().calls == (ToolCall("read", {"a": 1}, "call_1"),)


def test_calls_of_one_id_are_known_by_their_index() -> None:
    same = {**OTHER, "id": "fc_1", "call_id": "call_1"}
    reader = fed(CREATED, added(0, CALL), added(1, same), done(0, CALL), done(1, same), completed())
    assert [call.name for call in reader.finish().calls] == ["read", "grep"]


def test_items_whose_count_begins_with_one_are_not_told_again_by_the_list() -> None:
    reader = fed(CREATED, added(1, CALL), done(1, CALL), added(2, OTHER), done(2, OTHER), completed(CALL, OTHER))
    assert [call.wire_id for call in reader.finish().calls] == ["call_1", "call_2"]


def test_a_shell_is_told_at_the_end_when_it_shows_whose_it_was() -> None:
    shell: JsonObject = {"type": "shell_call", "call_id": "c", "id": "s", "action": {"commands": ["ls"]}}
    output: JsonObject = {"type": "shell_call_output", "call_id": "c", "id": "o", "output": []}
    ours = fed(done(0, shell))
    assert ours.event(completed()) == [BlockDone(ToolCall("shell", {"action": {"commands": ["ls"]}}, "c"), 0)]
    theirs = fed(done(0, shell), done(1, output))
    told = [delta.block for delta in theirs.event(completed()) if isinstance(delta, BlockDone)]
    assert [(type(block), block.native) for block in told] == [(HostedTool, {"item": shell})]


def test_an_answer_of_which_only_the_end_came_is_told_then() -> None:
    message: JsonObject = {"type": "message", "content": [{"type": "output_text", "text": "hello"}]}
    reader = fed()
    assert reader.event(completed(message, CALL)) == [
        BlockDone(Text("hello")),
        BlockDone(ToolCall("read", {"a": 1}, CALL["call_id"]), 0),
    ]


def test_a_refusal_survives_being_passed_on() -> None:
    refusal: JsonObject = {"type": "refusal", "refusal": "no"}
    message: JsonObject = {"type": "message", "content": [refusal]}
    streamed = fed(
        added(0, {**message, "content": []}), delta("refusal", 0, "no", content_index=0), done(0, message), completed()
    )
    answer = streamed.finish()
    assert answer.entry.blocks == (Text("no", native={"refusal": True}),)
    assert answer.entry.ending is Ending.REFUSED
    assert DIALECT.reply(answer, "m")["output"][0]["content"] == [refusal]
    again = fed()
    for chunk in DIALECT.reply_stream(answer, "m"):
        again.feed(chunk)
    assert again.finish().entry == replace(answer.entry, origin=TARGET.origin("m"))


def test_an_item_that_was_never_whole_is_what_its_deltas_said() -> None:
    reader = fed(delta("output_text", 0, "hel", content_index=0), completed())
    assert reader.finish().entry.blocks == (Text("hel"),)


def test_a_call_that_is_cut_by_the_limit_is_not_finished() -> None:
    cut = {**CALL, "arguments": '{"a', "status": "incomplete"}
    end = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}
    reader = fed(added(0, {**CALL, "arguments": ""}), delta("function_call_arguments", 0, '{"a'), done(0, cut), end)
    assert reader.finish().calls == (ToolCall("read", {}, "call_1", raw='{"a', finished=False),)
    assert reader.finish().entry.ending is Ending.LENGTH


def test_unknown_events_are_survived() -> None:
    reader = fed({"type": "response.something.new"}, {"type": "ping"}, {}, done(0, MESSAGE), completed())
    assert reader.finish().text == "hello"


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (
            {"type": "error", "code": "overloaded", "message": "busy"},
            {"type": "error", "code": "overloaded", "message": "busy"},
        ),
        ({"type": "error", "error": {"message": "busy"}}, {"message": "busy"}),
        ({"error": {"message": "busy"}}, {"message": "busy"}),
        ({"type": "response.failed", "response": {"error": {"message": "busy"}}}, {"message": "busy"}),
        ({"type": "response.failed", "response": {}}, {}),
    ],
)
def test_an_error_in_the_stream_is_a_bad_answer(event: JsonObject, error: JsonObject) -> None:
    with pytest.raises(BadAnswer) as caught:
        fed(event)
    assert caught.value.facts["error"] == error


@pytest.mark.parametrize("kind", CallKind)
def test_a_call_that_was_cut_still_belongs_to_its_namespace_and_its_caller(kind: CallKind) -> None:
    caller: JsonObject = {"type": "program", "caller_id": "call_p"}
    name = "function_call" if kind is CallKind.FUNCTION else "custom_tool_call"
    item: JsonObject = {"type": name, "call_id": "call_1", "name": "find", "namespace": "crm", "caller": caller}
    reader = fed(CREATED)
    begun = ToolCall("find", {}, "call_1", kind=kind, namespace="crm", native={"caller": caller})
    assert reader.event(added(0, item))[0] == BlockStart(begun, 0)
    partial = reader.partial()
    assert partial is not None
    [cut] = partial.calls
    assert (cut.name, cut.namespace, cut.native) == ("find", "crm", {"caller": caller})


def test_a_stream_that_stops_early_is_a_bad_answer_but_shows_what_was_visible() -> None:
    reader = fed(CREATED, delta("output_text", 0, "hel", content_index=0))
    with pytest.raises(BadAnswer, match="ended before"):
        reader.finish()
    partial = reader.partial()
    assert partial is not None
    assert (partial.text, partial.entry.ending) == ("hel", Ending.CUT)
    assert fed(CREATED).partial() is None


def test_an_empty_stream_is_a_bad_answer() -> None:
    with pytest.raises(BadAnswer, match="empty"):
        fed(completed()).finish()


# --- recordings -------------------------------------------------------------------------------------------------------


def recordings() -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    folder = SAMPLES / "vercel-ai-streams"
    for path in sorted([*folder.glob("*responses____fix*.chunks.txt"), *folder.glob("*azure*.chunks.txt")]):
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        found.append((path.name, "".join(f"data: {line}\n\n" for line in lines).encode()))
    for path in sorted((SAMPLES / "opencode-recordings").glob("*.json")):
        found += [(path.name, stream) for stream in _recorded_streams(path)]
    return found


def _recorded_streams(path: Path) -> list[bytes]:
    interactions = json.loads(path.read_text())["interactions"]
    return [
        interaction["response"]["body"].encode()
        for interaction in interactions
        if interaction["request"].get("url", "").endswith("/responses")
    ]


def _last_response(data: bytes) -> JsonObject:
    events = [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: {")]
    return next(event["response"] for event in reversed(events) if event["type"] == "response.completed")


def _without_ciphers(answer: Answer) -> object:
    """The provider encrypts the same reasoning anew for each event."""
    text = json.dumps([repr(answer.entry), repr(answer.usage), answer.served, answer.response_id])
    for item in (block.native.get("item", {}) for block in answer.entry.blocks if block.native):
        for secret in ("encrypted_content", "fingerprint"):
            text = text.replace(str(item.get(secret)), "…")
    return text


@needs_samples
@pytest.mark.parametrize(("name", "data"), recordings() if SAMPLES.is_dir() else [])
def test_a_recorded_stream_reads_as_its_body_does(name: str, data: bytes) -> None:
    streamed = read_every_way(decoder, data)
    body = _last_response(data)
    if body["output"]:
        assert _without_ciphers(streamed) == _without_ciphers(DIALECT.decode(body, TARGET, NameTable(NameRule.OPENAI)))
    assert streamed.entry.blocks, name
