"""The work for an answer grows with the answer, and no faster, whatever its provider does.

Work is counted in calls of functions, so that these tests say the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from dialect_support import make_target
from legato.errors import BadAnswer
from legato.model import Answer, Dialect, Ending, Entry, JsonObject, NameRule, Speaker, ToolCall
from legato.wire.bounds import Bounds
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, deltas_of
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from linear_work import assert_linear, work_of

ROOMY = Bounds(blocks=10**6, calls=10**6)


def read(dialect: Dialect, events: Iterable[JsonObject]) -> Answer:
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    decoder.limit(ROOMY)
    for event in events:
        decoder.event(event)
    return decoder.finish()


def many_calls(count: int) -> Answer:
    calls = [ToolCall("read", {"path": "a"}, f"call_{number}") for number in range(count)]
    return Answer(Entry(Speaker.AI, tuple(calls), ending=Ending.CALLS))


@pytest.mark.parametrize("dialect", Dialect)
def test_an_answer_of_many_calls_is_read_and_written_in_work_that_grows_with_it(dialect: Dialect) -> None:
    parts = dialect_parts(dialect)

    def reading(count: int) -> int:
        chunks = list(parts.reply_stream(many_calls(count), "m"))

        def run() -> None:
            decoder = parts.decoder(make_target(dialect), NameTable(NameRule.OPENAI))
            decoder.limit(ROOMY)
            for chunk in chunks:
                decoder.feed(chunk)
            assert len(decoder.finish().calls) == count

        return work_of(run)

    def writing(count: int) -> int:
        answer = many_calls(count)
        return work_of(lambda: sum(map(len, parts.reply_stream(answer, "m"))))

    assert_linear(reading, 60)
    assert_linear(writing, 60)


def chat(**fragment: object) -> JsonObject:
    return {"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]}


def repeated_name(count: int) -> Iterator[JsonObject]:
    for _ in range(count):
        yield chat(index=0, id="call_1", function={"name": "read", "arguments": '{"a": ['})


def ids_of_their_own(count: int) -> Iterator[JsonObject]:
    for number in range(count):
        yield chat(index=0, id=f"call_{number}", function={"name": "read", "arguments": "1"})


def in_turns(count: int) -> Iterator[JsonObject]:
    for piece in ("{", '"a"', ": 1", "}"):
        for number in range(count):
            yield chat(index=number, id=f"call_{number}", function={"name": "read", "arguments": piece})


@pytest.mark.parametrize("fragments", [repeated_name, ids_of_their_own, in_turns])
def test_fragments_of_calls_are_read_in_work_that_grows_with_them(
    fragments: Callable[[int], Iterator[JsonObject]],
) -> None:
    end: JsonObject = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

    def reading(count: int) -> int:
        events = [*fragments(count), end]
        return work_of(lambda: read(Dialect.OPENAI_CHAT, events))

    assert_linear(reading, 60)


@pytest.mark.parametrize("is_begun", [True, False])
def test_items_under_one_index_are_read_in_work_that_grows_with_them(is_begun: bool) -> None:
    def reading(count: int) -> int:
        numbers = [str(number) for number in range(count)]
        calls = [{"type": "function_call", "id": n, "call_id": n, "name": "read", "arguments": "{}"} for n in numbers]
        begun = [{"type": "response.output_item.added", "output_index": 0, "item": call} for call in calls]
        whole = [{"type": "response.output_item.done", "output_index": 0, "item": call} for call in calls]
        end: JsonObject = {"type": "response.completed", "response": {"status": "completed"}}
        events: list[JsonObject] = [*(begun if is_begun else ()), *whole, end]

        def run() -> None:
            assert len(read(Dialect.OPENAI_RESPONSES, events).calls) == count

        return work_of(run)

    assert_linear(reading, 60)


def turns(answer: Answer) -> list[Delta]:
    """The deltas of an answer whose calls grow in turns, with a text between them."""
    starts = [delta for delta in deltas_of(answer) if isinstance(delta, BlockStart)]
    pieces = [delta for delta in deltas_of(answer) if isinstance(delta, CallDelta)]
    ends = [delta for delta in deltas_of(answer) if isinstance(delta, BlockDone)]
    mixed: list[Delta] = []
    for start in starts:
        mixed += [start, TextDelta("x")]
    return [*mixed, *pieces, *reversed(ends)]


@pytest.mark.parametrize("dialect", Dialect)
def test_calls_that_grow_in_turns_are_written_in_work_that_grows_with_them(dialect: Dialect) -> None:
    parts = dialect_parts(dialect)

    def writing(count: int) -> int:
        answer = many_calls(count)
        deltas = turns(answer)

        def run() -> None:
            writer = parts.writer("m", "r")
            for delta in deltas:
                writer.feed(delta)
            writer.finish(answer)

        return work_of(run)

    assert_linear(writing, 60)


def test_many_calls_that_wait_for_another_are_written_in_the_end() -> None:
    parts, answer = dialect_parts(Dialect.ANTHROPIC), many_calls(900)
    writer = parts.writer("m", "r")
    chunks = [chunk for delta in turns(answer) for chunk in writer.feed(delta)] + writer.finish(answer)
    decoder = parts.decoder(make_target(Dialect.ANTHROPIC), NameTable(NameRule.OPENAI))
    for chunk in chunks:
        decoder.feed(chunk)
    read_back = decoder.finish()
    assert [call.wire_id for call in read_back.calls] == [call.wire_id for call in answer.calls]
    assert read_back.text == "x" * 900


@pytest.mark.parametrize("dialect", Dialect)
def test_an_answer_of_more_calls_than_it_may_have_is_refused_on_the_way(dialect: Dialect) -> None:
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    chunks = dialect_parts(dialect).reply_stream(many_calls(1_100), "m")
    with pytest.raises(BadAnswer, match=r"it has more than 1,000 tool calls \(the limit is bounds\.calls\)"):
        for chunk in chunks:
            decoder.feed(chunk)
    partial = decoder.partial()
    assert partial is not None
    assert len(partial.calls) == 1_000


def partial_arguments(pieces: Iterable[JsonObject]) -> list[JsonObject]:
    def event(**call: Any) -> JsonObject:
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}

    growing = [event(partialArgs=[piece], willContinue=True) for piece in pieces]
    return [event(name="read", willContinue=True), *growing, event(), {"candidates": [{"finishReason": "STOP"}]}]


def test_arguments_that_come_value_by_value_are_read_in_work_that_grows_with_them() -> None:
    def reading(count: int) -> int:
        pieces = [{"jsonPath": f"$.list[{number}].text", "stringValue": "x"} for number in range(count)]
        events = partial_arguments([piece for piece in pieces for _ in range(3)])
        return work_of(lambda: read(Dialect.GEMINI, events))

    assert_linear(reading, 60)


def test_a_value_far_behind_the_end_of_its_list_makes_no_giant() -> None:
    with pytest.raises(BadAnswer, match="name item 99,999,999 of a list of 0"):
        read(Dialect.GEMINI, partial_arguments([{"jsonPath": "$.a[99999999]", "numberValue": 1}]))


def test_what_comes_after_the_end_is_not_work_for_everything_before_it() -> None:
    def reading(count: int) -> int:
        texts: list[JsonObject] = []
        for number in range(count):
            block = {"type": "text", "text": "x"}
            texts.append({"type": "content_block_start", "index": number, "content_block": block})
        end: JsonObject = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
        events = [*texts, *[end] * count]
        return work_of(lambda: read(Dialect.ANTHROPIC, events))

    assert_linear(reading, 60)
