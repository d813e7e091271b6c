"""What all dialects share: arguments, events and the builder of streamed answers."""

from __future__ import annotations

import itertools
from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from legato import resolve
from legato.errors import BadAnswer
from legato.model import CallKind, Ending, JsonObject, NameRule, Text, Thinking, ToolCall
from legato.wire.arguments import RAW_KEY, Arguments, read_arguments, wire_arguments, wire_arguments_text
from legato.wire.builder import AnswerBuilder
from legato.wire.deltas import BlockStart, CallDelta, TextDelta, ThinkingDelta
from legato.wire.names import NameTable
from legato.wire.sse import SSEParser
from legato.wire.stream import EventDecoder


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ({"a": 1}, Arguments({"a": 1})),
        ('{"a": 1}', Arguments({"a": 1})),
        ("", Arguments({})),
        ("  ", Arguments({})),
        (None, Arguments({})),
        ("null", Arguments({})),
        ("{}", Arguments({})),
        ("[1]", Arguments({}, "[1]")),
        ([1], Arguments({}, "[1]")),
        ("7", Arguments({}, "7")),
        ('{"a": "b', Arguments({}, '{"a": "b', finished=False)),
        ('{"a":', Arguments({}, '{"a":', finished=False)),
        ("{broken}", Arguments({}, "{broken}")),
        ({RAW_KEY: "[1]"}, Arguments({}, "[1]")),
        ({RAW_KEY: '{"a'}, Arguments({}, '{"a', finished=False)),
        ({RAW_KEY: "x", "b": 1}, Arguments({RAW_KEY: "x", "b": 1})),
    ],
)
def test_whatever_a_model_wrote_as_arguments_becomes_an_object(source: object, outcome: Arguments) -> None:
    assert read_arguments(source) == outcome


@given(st.one_of(st.text(), st.binary().map(repr)))
def test_arguments_come_back_from_the_wire_as_they_were(source: str) -> None:
    once = read_arguments(source)
    call = ToolCall("x", once.value, raw=once.raw, finished=once.finished)
    assert read_arguments(wire_arguments(call)) == read_arguments(wire_arguments_text(call)) == once


EVENTS = (
    b": comment\n\ndata: one\n\nevent: named\r\ndata: two\r\ndata: lines\r\n\r\ndata\rdata:x\r\rid: 3\n\ndata: last"
)
PARSED = [b"one", b"two\nlines", b"\nx"]


@given(st.lists(st.integers(0, len(EVENTS)), max_size=20))
def test_events_are_the_same_wherever_the_bytes_are_split(cuts: list[int]) -> None:
    parser = SSEParser()
    places = [0, *sorted(cuts), len(EVENTS)]
    found: list[bytes] = []
    for start, end in itertools.pairwise(places):
        found += parser.feed(EVENTS[start:end])
    assert found + parser.close() == [*PARSED, b"last"]


def test_a_byte_order_mark_and_a_split_character_are_survived() -> None:
    parser = SSEParser()
    data = "\ufeffdata: ü\n\n".encode()
    found = [event for byte in data for event in parser.feed(bytes([byte]))]
    assert found == ["ü".encode()]


def builder() -> AnswerBuilder:
    return AnswerBuilder(NameTable(NameRule.OPENAI))


def test_the_builder_joins_pieces_under_their_keys_in_order_of_appearance() -> None:
    answer = builder()
    answer.thinking("t", "hm")
    answer.text("a", "Hel")
    answer.call("c", name="read", wire_id="id1", arguments='{"a"')
    answer.text("a", "lo")
    answer.call("c", name="ignored", wire_id="ignored", arguments=": 1}")
    answer.call("c")
    answer.native("t", signature="sig")
    answer.native("t", signature="")
    assert answer.take_deltas() == [
        BlockStart(Thinking()),
        ThinkingDelta("hm"),
        BlockStart(Text("")),
        TextDelta("Hel"),
        BlockStart(ToolCall("read", {}, "id1"), 0),
        CallDelta(0, "read", '{"a"'),
        TextDelta("lo"),
        CallDelta(0, "", ": 1}"),
    ]
    assert answer.blocks() == (
        Thinking("hm", native={"signature": "sig"}),
        Text("Hello"),
        ToolCall("read", {"a": 1}, "id1"),
    )
    assert answer.has_calls
    assert "c" in answer
    assert not answer.is_empty


def test_a_call_that_was_cut_is_unfinished_unless_it_was_done_or_whole() -> None:
    answer = builder()
    answer.call("whole", name="x", arguments="{}")
    answer.call("half", name="x", arguments='{"a')
    answer.call("bare", name="x")
    answer.call("done", name="x")
    answer.call("passed", name="x")
    answer.done("done")
    answer.done("unknown")
    answer.passed("passed")
    answer.passed("unknown")
    assert [call.finished for call in answer.blocks(cut=True) if isinstance(call, ToolCall)] == [
        True,
        False,
        False,
        True,
        True,
    ]


def test_custom_calls_keep_their_text_and_whole_blocks_stand_in_their_place() -> None:
    answer = builder()
    answer.put("b", Text("whole"))
    answer.call("c", name="patch", kind=CallKind.CUSTOM, arguments="not json")
    answer.done("c", ToolCall("patch", {"input": "final text"}, kind=CallKind.CUSTOM))
    answer.text("empty", "")
    assert answer.blocks() == (
        Text("whole"),
        ToolCall("patch", {"input": "final text"}, kind=CallKind.CUSTOM),
    )


class Letter(Struct):
    letter: Literal["a", "b"]


class Letters(EventDecoder):
    """A decoder for a stream of letters that ends with `end`; an a can be read at once, and a b takes a closer look."""

    pieces = msgspec.json.Decoder(Letter)

    def grow(self, piece: Letter) -> bool:
        if piece.letter == "a":
            self.builder.text("t", piece.letter)
        return piece.letter == "a"

    def read(self, event: JsonObject) -> None:
        if "end" in event:
            self.ending = Ending(event["end"])
        else:
            self.builder.text("t", event["letter"])


def letters() -> Letters:
    return Letters(resolve("openai/gpt-4o"), NameTable(NameRule.OPENAI))


def test_a_stream_without_its_end_is_no_answer_but_what_was_visible_is_kept() -> None:
    decoder = letters()
    assert decoder.partial() is None
    assert decoder.feed(b'data: {"letter": "a"}\n\ndata: [DONE]\n\ndata: 7\n\n') == [
        BlockStart(Text("")),
        TextDelta("a"),
    ]
    with pytest.raises(BadAnswer, match="ended before"):
        decoder.finish()
    partial = decoder.partial()
    assert partial is not None
    assert (partial.text, partial.entry.ending) == ("a", Ending.CUT)


def test_a_stream_that_is_no_json_or_says_nothing_is_a_bad_answer() -> None:
    with pytest.raises(BadAnswer, match="not valid JSON"):
        letters().feed(b"data: {oops\n\n")
    decoder = letters()
    decoder.feed(b'data: {"end": "done"}\n\n')
    with pytest.raises(BadAnswer, match="empty"):
        decoder.finish()


def test_what_is_no_piece_or_takes_more_than_that_is_read_in_the_general_way() -> None:
    decoder = letters()
    decoder.feed(b"".join(b'data: {"letter": "%c"}\n\n' % letter for letter in b"abcab"))
    decoder.feed(b'data: {"end": "done"}\n\n')
    assert decoder.finish().text == "abcab"


def test_an_event_without_its_last_blank_line_still_counts() -> None:
    decoder = letters()
    decoder.feed(b'data: {"letter": "a"}\n\ndata: {"end": "done"}')
    assert decoder.finish().text == "a"
