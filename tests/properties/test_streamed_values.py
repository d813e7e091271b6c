"""Whatever stands in the events of a stream: what is kept of them can be stored, and what is said of them written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialect_support import make_target
from event_frames import events_of, framed
from legato.errors import BadAnswer
from legato.model import (
    Answer,
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
from legato.wire.deltas import BlockDone, BlockStart, TextDelta
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from safe_values import assert_safe


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


UNSAFE = ["\0", "half \ud83c", "\udfbc", "a\0b", float("nan"), float("inf"), 10**40, -(2**63) - 1, nested(120)]
UNSAFE_OBJECTS = [{"a\0": {"\ud800": value}} for value in UNSAFE]

SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}}
SERVED = {"toolUse": {"toolUseId": "tooluse_9", "name": "search", "input": {}, "type": "server_tool_use"}}
NATIVES: dict[Dialect, tuple[JsonObject, ...]] = {  # of a thought, a text, a call and a hosted tool
    Dialect.ANTHROPIC: (
        {"signature": "c2ln"},
        {"citations": [{"type": "page", "title": "t"}]},
        {"caller": {"type": "code", "tool_id": "x"}},
        {"blocks": [SEARCH, {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}]},
    ),
    Dialect.GEMINI: ({"thoughtSignature": "c2ln"},) * 3 + ({"parts": [{"executableCode": {"code": "1"}}]},),
    Dialect.OPENAI_CHAT: (
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0, "signature": "c2ln"}]},
        {},
        {"extra_content": {"google": {"thought_signature": "c2ln"}}},
        {},
    ),
    Dialect.OPENAI_RESPONSES: (
        {"item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}},
        {"phase": "commentary"},
        {"namespace": "crm"},
        {"item": {"type": "web_search_call", "id": "ws_1", "action": {"query": "q"}}},
    ),
    Dialect.VERCEL: ({"providerOptions": {"acme": {"signature": "c2ln"}}},) * 3 + ({},),
    Dialect.BEDROCK: ({"signature": "c2ln"}, {}, {}, {"blocks": [SERVED]}),
}


def written_events(dialect: Dialect) -> list[JsonObject]:
    thought, text, call, hosted = NATIVES[dialect]
    blocks = (
        Thinking("hm", native=thought or None),
        Text("so", native=text or None),
        HostedTool("web_search", {"query": "q"}, [], "srv_1", native=hosted or None),
        ToolCall("read", {"path": "a"}, "call_1", native=call or None),
    )
    answer = Answer(Entry(Speaker.AI, blocks, ending=Ending.CALLS), Usage(20, 9, 4, 2, 3), "model-1", "resp_1")
    return events_of(b"".join(dialect_parts(dialect).reply_stream(answer, "model-1")), dialect)


EVENTS = {dialect: written_events(dialect) for dialect in Dialect}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in `value`."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in cast("Any", items):
        yield (*path, key)
        yield from places(item, (*path, key))


def with_unsafe(event: JsonObject, path: tuple[Any, ...], value: Any, *, beside: bool) -> JsonObject:
    changed: Any = json.loads(json.dumps(event))
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if beside and isinstance(holder, dict):
        holder["new"] = value
    else:
        holder[path[-1]] = value
    return changed


def assert_read_safely(dialect: Dialect, number: int, path: tuple[Any, ...], value: Any, *, beside: bool) -> None:
    """What is kept of a stream is safe that has `value` at that place of that event."""
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    try:
        for at, event in enumerate(EVENTS[dialect]):
            sent = with_unsafe(event, path, value, beside=beside) if at == number else event
            for delta in decoder.feed(framed(sent, dialect)):
                if isinstance(delta, BlockStart | BlockDone):
                    assert_safe(delta)
        assert_safe(decoder.finish())
    except BadAnswer as error:
        assert_safe({**error.facts, "message": error.message})
    partial = decoder.partial()
    if partial is not None:
        assert_safe(partial)


@pytest.mark.parametrize("dialect", Dialect)
@given(data=st.data(), value=st.sampled_from(UNSAFE + UNSAFE_OBJECTS), beside=st.booleans())
def test_what_is_kept_of_a_stream_is_safe_whatever_stands_in_it(
    dialect: Dialect, data: st.DataObject, value: Any, beside: bool
) -> None:
    number = data.draw(st.integers(0, len(EVENTS[dialect]) - 1))
    path = data.draw(st.sampled_from(list(places(EVENTS[dialect][number]))))
    assert_read_safely(dialect, number, path, value, beside=beside)


@pytest.mark.parametrize("value", ["\0", "\ud800"])
@pytest.mark.parametrize("dialect", Dialect)
def test_no_place_of_a_stream_lets_half_a_character_or_nul_through(dialect: Dialect, value: str) -> None:
    """Chance alone may pass a place over for weeks."""
    for number, event in enumerate(EVENTS[dialect]):
        for path in places(event):
            assert_read_safely(dialect, number, path, value, beside=False)


@pytest.mark.parametrize("dialect", Dialect)
def test_a_character_that_two_events_share_is_whole_in_the_answer(dialect: Dialect) -> None:
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    writer = dialect_parts(dialect).writer("m", "r")
    for chunk in [*writer.start(), *writer.feed(TextDelta("L")), *writer.feed(TextDelta("R"))]:
        for event in events_of(chunk, dialect):
            halves = json.dumps(event).replace('"L"', '"\\ud83c"').replace('"R"', '"\\udfbc"')
            decoder.feed(framed(json.loads(halves), dialect))
    partial = decoder.partial()
    assert partial is not None
    assert partial.text == "\U0001f3bc"
