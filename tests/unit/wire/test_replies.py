"""What the replies of all dialects have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec
import pytest
from msgspec.structs import replace

from dialect_support import make_target
from legato.errors import BadAnswer, RenderError
from legato.model import (
    Answer,
    Block,
    CallKind,
    Code,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    NameRule,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta, deltas_of
from legato.wire.dialects import dialect_parts
from legato.wire.endings import CUT_SHORT
from legato.wire.names import NameTable

DIALECTS = pytest.mark.parametrize("dialect", Dialect)
NAMING = pytest.mark.parametrize("dialect", [dialect for dialect in Dialect if dialect is not Dialect.BEDROCK])
"""those whose answers name their model; at Bedrock only the path of the request does"""


def answer(*blocks: Block, served: str = "model-1") -> Answer:
    ending = Ending.CALLS if any(isinstance(block, ToolCall) for block in blocks) else Ending.DONE
    return Answer(Entry(Speaker.AI, blocks, ending=ending), served=served, response_id="resp_1")


def written(dialect: Dialect, deltas: Iterable[Delta], said: Answer) -> list[bytes]:
    writer = dialect_parts(dialect).writer("model-1", "resp_1")
    return [*writer.start(), *(chunk for delta in deltas for chunk in writer.feed(delta)), *writer.finish(said)]


def read(dialect: Dialect, chunks: Iterable[bytes]) -> Answer:
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    for chunk in chunks:
        decoder.feed(chunk)
    return decoder.finish()


def test_an_answer_falls_into_these_deltas() -> None:
    call = ToolCall("read", {"a": 1}, "call_1", namespace="n")
    said = answer(Thinking("hm", native={"signature": "s"}), Text("hello"), Code("ls"), call)
    assert list(deltas_of(said, 4)) == [
        BlockStart(Thinking(native={"signature": "s"})),
        ThinkingDelta("hm"),
        BlockDone(Thinking("hm", native={"signature": "s"})),
        BlockStart(Text("")),
        TextDelta("hell"),
        TextDelta("o"),
        BlockDone(Text("hello")),
        BlockDone(Code("ls")),
        BlockStart(ToolCall("read", {}, "call_1", namespace="n"), 0),
        CallDelta(0, "read"),
        CallDelta(0, arguments='{"a"'),
        CallDelta(0, arguments=":1}"),
        BlockDone(call, 0),
    ]


@NAMING
def test_a_reply_is_of_the_model_that_was_asked_for(dialect: Dialect) -> None:
    parts, said = dialect_parts(dialect), answer(Text("x"), served="somebody-else")
    body = parts.decode(parts.reply(said, "asked-1"), make_target(dialect), NameTable(NameRule.OPENAI))
    assert body.served == "asked-1"
    assert read(dialect, parts.reply_stream(said, "asked-1")).served == "asked-1"


@NAMING
def test_the_model_that_answers_is_known_when_its_first_words_are(dialect: Dialect) -> None:
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    assert decoder.served == ""
    for chunk in dialect_parts(dialect).reply_stream(answer(Text("x")), "served-1"):
        if decoder.feed(chunk):
            break
    assert decoder.served == "served-1"


@DIALECTS
def test_an_answer_that_holds_a_tool_response_is_our_fault(dialect: Dialect) -> None:
    parts, said = dialect_parts(dialect), answer(ToolResponse(result="x"))
    with pytest.raises(RenderError):
        parts.reply(said, "m")
    with pytest.raises(RenderError):
        list(parts.reply_stream(said, "m"))


@DIALECTS
def test_ids_that_an_answer_lacks_are_the_same_in_body_and_stream(dialect: Dialect) -> None:
    parts, said = dialect_parts(dialect), answer(Text("x"), Code("ls"), ToolCall("read"), ToolCall("list"))
    body = parts.decode(parts.reply(said, "model-1"), make_target(dialect), NameTable(NameRule.OPENAI))
    assert read(dialect, parts.reply_stream(said, "model-1")) == body


@DIALECTS
def test_a_call_without_arguments_has_an_empty_object_for_them(dialect: Dialect) -> None:
    said = answer(ToolCall("read", {}, "call_1"))
    chunks = written(dialect, [CallDelta(0, "read")], said)
    assert read(dialect, chunks).calls[0].arguments == {}
    assert b"{}" in b"".join(chunks)


@DIALECTS
def test_arguments_stand_as_they_were_written(dialect: Dialect) -> None:
    said = answer(ToolCall("read", {"a": 1}, "call_1"))
    chunks = written(dialect, [CallDelta(0, "read"), CallDelta(0, arguments='{ "a":\n1 }')], said)
    assert [(call.name, call.arguments) for call in read(dialect, chunks).calls] == [("read", {"a": 1})]


@DIALECTS
def test_a_call_begins_when_its_name_is_known(dialect: Dialect) -> None:
    deltas = [CallDelta(0, "", '{"a"'), CallDelta(0, "read", ":"), CallDelta(0, "", "1}")]
    chunks = written(dialect, deltas, answer(ToolCall("read", {"a": 1}, "call_1")))
    assert [(call.name, call.arguments) for call in read(dialect, chunks).calls] == [("read", {"a": 1})]


@DIALECTS
def test_a_call_that_the_answer_lacks_is_closed_with_what_was_written(dialect: Dialect) -> None:
    chunks = written(dialect, [CallDelta(0, "read", '{"a":1}'), CallDelta(1, "list", "{}")], answer(Text("x")))
    assert [(call.name, call.arguments) for call in read(dialect, chunks).calls] == [("read", {"a": 1}), ("list", {})]


@DIALECTS
def test_free_text_in_pieces_is_read_as_the_input_of_the_call(dialect: Dialect) -> None:
    source = 'select "ü\\" 🎼\n'
    said = answer(ToolCall("sql", {"input": source}, "call_1", kind=CallKind.CUSTOM))
    for piece in (1, 5, 100):
        assert read(dialect, written(dialect, deltas_of(said, piece), said)).calls[0].arguments == {"input": source}
    nothing = answer(ToolCall("sql", {"input": ""}, "call_1", kind=CallKind.CUSTOM))
    assert read(dialect, written(dialect, deltas_of(nothing), nothing)).calls[0].arguments in ({"input": ""}, {})


@DIALECTS
def test_a_kind_that_is_learned_too_late_changes_nothing_that_was_written(dialect: Dialect) -> None:
    said = answer(ToolCall("sql", {"input": "{}"}, "call_1", kind=CallKind.CUSTOM))
    call = read(dialect, written(dialect, [CallDelta(0, "sql", "{}")], said)).calls[0]
    assert (call.name, call.kind) == ("sql", CallKind.FUNCTION)


@DIALECTS
def test_two_texts_that_nothing_set_apart_are_one_text(dialect: Dialect) -> None:
    said = answer(Text("one "), Text("two "), Text("three"))
    assert read(dialect, written(dialect, [TextDelta("one tw"), TextDelta("o")], said)).text == "one two three"


@DIALECTS
def test_a_text_that_was_interrupted_goes_on(dialect: Dialect) -> None:
    said = answer(Thinking("hm"), Text("one two"))
    chunks = written(dialect, [TextDelta("one "), ThinkingDelta("hm"), TextDelta("two")], said)
    assert read(dialect, chunks).text == "one two"


@DIALECTS
@pytest.mark.parametrize("ending", [Ending.CUT, Ending.CANCELLED])
def test_nobody_takes_an_answer_that_was_cut_for_a_whole_one(dialect: Dialect, ending: Ending) -> None:
    parts, said = dialect_parts(dialect), answer(Text("half"))
    said = replace(said, entry=replace(said.entry, ending=ending))
    body = parts.decode(parts.reply(said, "model-1"), make_target(dialect), NameTable(NameRule.OPENAI))
    decoder = parts.decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    for chunk in parts.reply_stream(said, "model-1"):
        decoder.feed(chunk)
    try:
        streamed = decoder.finish()
    except BadAnswer:  # it broke off
        streamed = decoder.partial()
    assert body.entry.ending in CUT_SHORT
    assert streamed is not None
    assert (streamed.text, streamed.entry.ending in CUT_SHORT) == ("half", True)


def test_messages_hold_one_block_after_the_other() -> None:
    calls = [ToolCall("read", {"a": 1}, "call_1"), ToolCall("list", {}, "call_2")]
    deltas = [
        TextDelta("so"),
        CallDelta(0, "read", '{"a":'),
        CallDelta(1, "list", "{}"),
        TextDelta("then"),
        CallDelta(0, "", "1}"),
    ]
    chunks = written(Dialect.ANTHROPIC, deltas, answer(Text("so"), *calls, Text("then")))
    events = [json.loads(chunk.split(b"data: ")[1]) for chunk in chunks]
    places = [(event["type"].removeprefix("content_block_"), event["index"]) for event in events if "index" in event]
    assert places == sorted(places, key=lambda place: place[1])
    assert [place for place in places if place[0] != "delta"] == [
        (edge, index) for index in range(4) for edge in ("start", "stop")
    ]


@NAMING
def test_a_reply_names_the_model_that_it_was_given(dialect: Dialect) -> None:
    parts, said = dialect_parts(dialect), answer(Text("hi"), served="the-one-that-served")
    whole, streamed = (
        json.dumps(parts.reply(said, "the-one-asked")),
        b"".join(parts.reply_stream(said, "the-one-asked")),
    )
    assert ("the-one-asked" in whole, "served" in whole) == (True, False)
    assert (b"the-one-asked" in streamed, b"served" in streamed) == (True, False)


@pytest.mark.parametrize("dialect", [dialect for dialect in Dialect if dialect is not Dialect.OPENAI_RESPONSES])
def test_a_record_that_another_provider_keeps_for_itself_is_not_told(dialect: Dialect) -> None:
    record = HostedTool("compaction_trigger", silent=True, native={"item": {"type": "compaction_trigger"}})
    parts = dialect_parts(dialect)
    assert parts.reply(answer(Text("hello"), record), "model-1") == parts.reply(answer(Text("hello")), "model-1")
    said = answer(Text("hello"), record)
    assert b"compaction_trigger" not in b"".join(written(dialect, deltas_of(said), said))


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.BEDROCK])
def test_words_of_a_thought_that_came_redacted_are_in_neither_body_nor_stream(dialect: Dialect) -> None:
    parts = dialect_parts(dialect)
    said = answer(Thinking("unseen", native={"data": "c2ln"}), Text("hello"))
    streamed = b"".join(written(dialect, deltas_of(said), said))
    assert b"unseen" not in msgspec.json.encode(parts.reply(said, "model-1"))
    assert b"unseen" not in streamed
    assert read(dialect, [streamed]).entry.blocks == (Thinking(native={"data": "c2ln"}), Text("hello"))
