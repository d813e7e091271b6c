"""Reading a streamed answer takes work in proportion to its length, however it is cut into pieces.

Work is counted, not timed: characters that a scanner looks at, and how often something is read again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, SupportsIndex, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialect_support import make_target
from legato.errors import BadAnswer
from legato.model import Dialect, HostedTool, JsonObject, NameRule, Thinking
from legato.wire import sse
from legato.wire.anthropic import stream as anthropic_stream
from legato.wire.bounds import Bounds
from legato.wire.builder import AnswerBuilder
from legato.wire.gemini.partial import PartialArguments
from legato.wire.names import NameTable
from legato.wire.openai_chat import growing
from legato.wire.openai_chat.growing import GrowingArguments, ReasoningDetails
from legato.wire.openai_chat.stream import Decoder
from legato.wire.openai_responses import stream as responses_stream
from legato.wire.sse import SSEParser
from legato.wire.vercel import stream as vercel_stream

NAMES = NameTable(NameRule.OPENAI)
anthropic_decode = import_module("legato.wire.anthropic.decode")  # the package has a function of that name


# --- lines and events ---------------------------------------------------------------------------------------------------


class Tally:
    """Bytes, or characters, that were looked at."""

    def __init__(self) -> None:
        self.count = 0


def counting_buffer(tally: Tally) -> type[bytearray]:
    """A buffer that notes how much of it is looked through, copied out, or moved."""

    class Buffer(bytearray):
        def find(self, sub: Any, start: Any = 0, end: Any = None) -> int:
            tally.count += len(self) - (start or 0)
            return super().find(sub, start)

        def __getitem__(self, key: Any) -> Any:
            tally.count += len(range(*key.indices(len(self)))) if isinstance(key, slice) else 1
            return super().__getitem__(key)

        def __delitem__(self, key: SupportsIndex | slice) -> None:
            tally.count += len(self)
            super().__delitem__(key)

        def splitlines(self, keepends: bool = False) -> list[bytearray]:
            tally.count += len(self)
            return super().splitlines(keepends)

    return Buffer


def counted(monkeypatch: pytest.MonkeyPatch, pieces: list[bytes]) -> tuple[int, list[bytes]]:
    """How much a parser looks at in what it has kept of earlier pieces, and the events."""
    tally = Tally()
    monkeypatch.setattr(sse, "bytearray", counting_buffer(tally), raising=False)
    parser = SSEParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return tally.count, found + parser.close()


@pytest.mark.parametrize("size", [1, 7, 100])
def test_what_is_kept_of_a_long_line_is_not_looked_through_again(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    line = b"data: " + b"x" * 20_000
    work, found = counted(monkeypatch, [line[at : at + size] for at in range(0, len(line), size)])
    assert found == [b"x" * 20_000]
    assert work <= 3 * len(line)


def test_many_lines_in_one_piece_are_each_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    piece = b"data: x\n\n" * 3_000
    work, found = counted(monkeypatch, [piece])
    assert len(found) == 3_000
    assert work <= 3 * len(piece)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_line_may_be_as_long_as_an_event_and_no_longer(end: str) -> None:
    def feed(text: str, size: int) -> list[bytes]:
        parser, data = SSEParser(longest=20), f"{text}{end}{end}".encode()
        return [event for at in range(0, len(data), size) for event in parser.feed(data[at : at + size])]

    for size in (1, 5, 100):
        assert feed("data: " + "x" * 14, size) == [b"x" * 14]
        assert feed(f"data: 4567{end}: {'c' * 18}{end}data: 4567", size) == [b"4567\n4567"]
        for too_long in ("data: " + "x" * 15, ":" + "c" * 20, f"data: 4567{end}data: 45678"):
            with pytest.raises(BadAnswer, match="is longer than 20 bytes") as caught:
                feed(too_long, size)
            assert (caught.value.facts["bound"], caught.value.facts["limit"]) == ("event", 20)


def test_the_bound_holds_for_each_event_and_not_for_all_of_them() -> None:
    parser = SSEParser(longest=20)
    assert sum(len(parser.feed(b"data: 0123456789\n\n")) for _ in range(100)) == 100


# --- blocks and calls ---------------------------------------------------------------------------------------------------


def test_an_answer_has_no_more_blocks_and_calls_than_it_may() -> None:
    answer = AnswerBuilder(NAMES, Bounds(blocks=3, calls=2))
    answer.text("a", "x")
    answer.call("b", name="f")
    answer.call("c", name="f")
    answer.call("c", arguments="{}")
    with pytest.raises(BadAnswer, match=r"it has more than 2 tool calls \(the limit is bounds\.calls\)"):
        answer.call("d", name="f")
    with pytest.raises(BadAnswer, match=r"it has more than 3 blocks \(the limit is bounds\.blocks\)"):
        answer.thinking("e", "x")
    assert len(answer.blocks()) == 3


def test_native_data_that_grows_is_asked_for_when_the_block_is_read() -> None:
    answer, grown = AnswerBuilder(NAMES), ["a"]
    answer.thinking("t", "hm")
    answer.native("t", signature="s")
    answer.native_later("t", "details", lambda: list(grown))
    grown.append("b")
    assert answer.blocks() == (Thinking("hm", native={"signature": "s", "details": ["a", "b"]}),)


# --- chat: fragments of calls and details -------------------------------------------------------------------------------

JSON_PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "\\", " ", "\n", ":", ",", "a", "1", '{"a":', '"}"', '\\"', "null"]
)


def naively(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except msgspec.DecodeError:
        return False


@given(
    st.one_of(
        st.lists(JSON_PIECES, max_size=20),
        st.recursive(
            st.none() | st.integers(0, 9) | st.text('a"\\{}[]', max_size=4),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"{', max_size=2), inner, max_size=3),
        ).map(lambda value: list(json.dumps(value))),
    ),
    st.data(),
)
def test_arguments_are_whole_when_a_parser_says_so(pieces: list[str], data: st.DataObject) -> None:
    arguments, so_far = GrowingArguments(), ""
    for piece in pieces:
        arguments.add(piece)
        so_far += piece
        if data.draw(st.booleans()):
            assert arguments.is_whole() == naively(so_far)
    assert arguments.is_whole() == naively(so_far)
    assert arguments.equals(so_far)
    assert not arguments.equals(so_far + " ")


class CountingPattern:
    """A pattern that notes how far it has looked."""

    def __init__(self, pattern: re.Pattern[str], tally: Tally) -> None:
        self._pattern = pattern
        self._tally = tally

    def search(self, text: str, at: int) -> re.Match[str] | None:
        found = self._pattern.search(text, at)
        self._tally.count += (found.end() if found else len(text)) - at
        return found


@pytest.mark.parametrize("piece", ["{", '"a}', "{}", '"x": 1, ', "\\"])
def test_a_name_in_every_fragment_does_not_make_the_arguments_be_read_again(
    monkeypatch: pytest.MonkeyPatch, piece: str
) -> None:
    scanned, parsed = Tally(), Tally()
    is_object = cast(Callable[[str], bool], growing._is_object)

    def parse(text: str) -> bool:
        parsed.count += len(text)
        return is_object(text)

    monkeypatch.setattr(growing, "_OUTSIDE", CountingPattern(growing._OUTSIDE, scanned))
    monkeypatch.setattr(growing, "_INSIDE", CountingPattern(growing._INSIDE, scanned))
    monkeypatch.setattr(growing, "_is_object", parse)
    decoder = Decoder(make_target(Dialect.OPENAI_CHAT), NAMES)
    for _ in range(900):
        function = {"name": "read", "arguments": piece}
        fragment = {"index": 0, "id": "call_1", "function": function}
        decoder.event({"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]})
    assert scanned.count <= 900 * len(piece) + 900
    assert parsed.count <= 900 * len(piece)


def test_a_fragment_with_an_id_alone_belongs_to_the_newest_call_that_has_it() -> None:
    decoder = Decoder(make_target(Dialect.OPENAI_CHAT), NAMES)

    def fragment(**fields: object) -> None:
        decoder.event({"choices": [{"index": 0, "delta": {"tool_calls": [fields]}}]})

    fragment(id="a", function={"name": "f", "arguments": '{"x"'})
    fragment(id="b", function={"name": "g", "arguments": '{"y"'})
    fragment(id="a", function={"arguments": ": 1}"})
    fragment(id="b", function={"arguments": ": 2}"})
    fragment(id="a", function={"name": "h", "arguments": '{"z"'})
    fragment(id="a", function={"arguments": ": 3}"})
    decoder.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    assert [(call.name, call.arguments) for call in decoder.finish().calls] == [
        ("f", {"x": 1}),
        ("g", {"y": 2}),
        ("h", {"z": 3}),
    ]


def test_details_of_one_index_are_joined_and_everything_else_is_set_once_it_is_known() -> None:
    details = ReasoningDetails()
    for item in (
        {"type": "reasoning.text", "index": 0, "text": "I ", "signature": None, "format": "x"},
        {"type": "reasoning.text", "index": 0, "text": "look", "new": None},
        {"type": "reasoning.text", "index": 0, "signature": "s", "summary": "a"},
        {"type": "reasoning.text", "index": 0, "summary": "b", "text": None},
        {"type": "reasoning.encrypted", "index": 0, "data": "AA"},
        {"type": "reasoning.encrypted", "index": 0, "data": {"odd": 1}},
        {"type": "reasoning.encrypted", "index": 0, "data": "BB"},
        {"type": "reasoning.text", "text": "alone"},
        {"type": "reasoning.text", "text": "too"},
    ):
        details.add(item)
    expected: list[JsonObject] = [
        {"type": "reasoning.text", "index": 0, "text": "I look", "signature": "s", "format": "x", "summary": "ab"},
        {"type": "reasoning.encrypted", "index": 0, "data": "BB"},
        {"type": "reasoning.text", "text": "alone"},
        {"type": "reasoning.text", "text": "too"},
    ]
    assert details.value() == expected


# --- the other dialects -------------------------------------------------------------------------------------------------


def counting(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> Tally:
    """How often `module` uses the function `name`."""
    tally, function = Tally(), getattr(module, name)

    def use(*arguments: Any, **options: Any) -> Any:
        tally.count += 1
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, use)
    return tally


def test_a_block_that_stops_again_and_again_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = counting(monkeypatch, anthropic_stream, "read_hosted")
    decoder = anthropic_stream.Decoder(make_target(Dialect.ANTHROPIC), NAMES)
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    decoder.event({"type": "content_block_start", "index": 0, "content_block": use})
    decoder.event(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"q": 1}'}}
    )
    for _ in range(50):
        decoder.event({"type": "content_block_stop", "index": 0})
    assert read.count == 1
    partial = decoder.partial()
    assert partial is not None
    assert [cast(HostedTool, block).arguments for block in partial.entry.blocks] == [{"q": 1}]


def test_a_use_is_joined_with_one_result_and_the_others_stand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    use = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    results = [{"type": "web_search_tool_result", "tool_use_id": "s", "content": [number]} for number in range(50)]
    streamed = counting(monkeypatch, anthropic_stream, "joined")
    whole = counting(monkeypatch, anthropic_decode, "joined")
    decoder = anthropic_stream.Decoder(make_target(Dialect.ANTHROPIC), NAMES)
    for index, block in enumerate([use, *results]):
        decoder.event({"type": "content_block_start", "index": index, "content_block": block})
        decoder.event({"type": "content_block_stop", "index": index})
    partial = decoder.partial()
    assert partial is not None
    assert list(partial.entry.blocks) == anthropic_decode.read_blocks([use, *results], str)
    assert len(partial.entry.blocks) == 50
    assert (streamed.count, whole.count) == (1, 1)


def test_a_response_ends_once(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = counting(monkeypatch, responses_stream, "output_blocks")
    decoder = responses_stream.Decoder(make_target(Dialect.OPENAI_RESPONSES), NAMES)
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    for text in ("Hi", "Ho", "Hu"):
        message = {"type": "message", "content": [{"type": "output_text", "text": text}]}
        decoder.event({"type": "response.completed", "response": {"status": "completed", "output": [message]}})
    assert settled.count == 1
    assert decoder.finish().text == "Hi"


def test_a_result_that_is_repeated_is_read_when_it_first_comes_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    read = counting(monkeypatch, vercel_stream, "read_hosted")
    decoder = vercel_stream.Decoder(make_target(Dialect.VERCEL), NAMES)
    call = {"type": "tool-call", "toolCallId": "a", "toolName": "search", "input": '{"q": 1}', "providerExecuted": True}
    decoder.event(call)
    for number in range(50):
        decoder.event({"type": "tool-result", "toolCallId": "a", "toolName": "search", "result": number})
    assert read.count == 1
    partial = decoder.partial()
    assert partial is not None
    [block] = partial.entry.blocks
    assert isinstance(block, HostedTool)
    assert (read.count, block.name, block.arguments, block.result) == (2, "search", {"q": 1}, 49)


def test_the_end_of_a_text_that_never_began_leaves_nothing_behind() -> None:
    decoder = vercel_stream.Decoder(make_target(Dialect.VERCEL), NAMES)
    for number in range(10):
        decoder.event({"type": "text-end", "id": str(number), "providerMetadata": {"a": 1}})
    assert decoder._texts == {}


# --- gemini: arguments value by value -----------------------------------------------------------------------------------


def test_strings_grow_side_by_side_and_are_joined_once() -> None:
    arguments = PartialArguments()
    for letter in "abc":
        arguments.add({"jsonPath": "$.x", "stringValue": letter})
        arguments.add({"jsonPath": "$.list[0]", "stringValue": letter.upper()})
        arguments.add({"jsonPath": "$.gone", "stringValue": letter})
    arguments.add({"jsonPath": "$.gone", "boolValue": True})
    assert arguments.value == {"x": "abc", "list": ["ABC"], "gone": True}
    arguments.add({"jsonPath": "$.x", "stringValue": "d"})
    assert arguments.value == {"x": "abcd", "list": ["ABC"], "gone": True}


@pytest.mark.parametrize("index", ["1001", "99999999", "9" * 5_000, "0" * 50 + "1001"])
def test_an_index_far_behind_the_end_of_its_list_is_a_bad_answer(index: str) -> None:
    arguments = PartialArguments()
    with pytest.raises(BadAnswer, match="of a list of 0"):
        arguments.add({"jsonPath": f"$.a[{index}]", "numberValue": 1})


def test_gaps_are_counted_over_all_lists_of_a_call() -> None:
    arguments = PartialArguments()
    arguments.add({"jsonPath": "$.a[600]", "numberValue": 1})
    with pytest.raises(BadAnswer):
        arguments.add({"jsonPath": "$.b[600]", "numberValue": 1})
    in_order = PartialArguments()
    for number in range(3_000):
        in_order.add({"jsonPath": f"$.a[{number}]", "numberValue": number})
    assert in_order.value == {"a": list(range(3_000))}


def test_a_path_deeper_than_a_value_may_be_is_a_bad_answer() -> None:
    arguments = PartialArguments()
    arguments.add({"jsonPath": "$" + ".a" * 64, "numberValue": 1})
    with pytest.raises(BadAnswer, match="nested deeper than 64 levels"):
        arguments.add({"jsonPath": "$" + ".a" * 65, "numberValue": 1})
