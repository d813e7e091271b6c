"""A parser knows which messages each entry was read from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import render, resolve
from legato.model import Code, Entry, Media, Text, Thinking, ToolCall, ToolResponse
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.phrases import ANSWER_BRIDGE, CONTINUE, HUMAN_BRIDGE

from builders import ROUTES, talk, user
from strategies import logs, turns

ONE_OF_EACH = list({resolve(route).dialect: route for route in ROUTES}.values())
FILLERS = {HUMAN_BRIDGE, ANSWER_BRIDGE, CONTINUE}
NEWS = st.one_of(logs(max_size=8), st.lists(turns(), max_size=4).map(lambda parts: [e for part in parts for e in part]))


@st.composite
def damaged(draw: st.DrawFn, messages: list[Any]) -> list[Any]:
    """`messages` with a few of them gone, doubled or out of order."""
    kept = list(messages)
    for _ in range(draw(st.integers(0, 3))):
        if kept:
            message = kept.pop(draw(st.integers(0, len(kept) - 1)))
            for _ in range(draw(st.integers(0, 2))):
                kept.insert(draw(st.integers(0, len(kept))), message)
    return kept


@pytest.mark.parametrize("route", ONE_OF_EACH)
@given(news=NEWS, data=st.data())
def test_an_entry_is_found_in_the_messages_that_it_was_read_from(
    route: str, news: list[Entry], data: st.DataObject
) -> None:
    parts = dialect_parts(resolve(route).dialect)
    body = render(talk(*news, user("and now?")), route, system="be kind").copy()
    messages = body[parts.messages_field] = data.draw(damaged(body[parts.messages_field]))
    parsed = parts.parse(body)
    assert len(parsed.places) == len(parsed.entries)
    assert parsed.places == sorted(parsed.places)
    for index, entry in enumerate(parsed.entries):
        numbers = parsed.messages_of(index)
        assert numbers
        assert entry.blocks
        found = "".join(strings([messages[number] for number in numbers]))
        assert [word for word in words(entry) if word not in found] == []
    told = {number for index in range(len(parsed.entries)) for number in parsed.messages_of(index)}
    silent = [number for number in range(len(messages)) if number not in told]
    assert [number for number in silent if not may_be_silent(parsed, messages, number, parts.messages_field)] == []


def may_be_silent(parsed: Parsed, messages: list[Any], number: int, field: str) -> bool:
    """Whether a message is nobody's: something of ours, an instruction before all entries, or noted as left out."""
    message = messages[number]
    texts = [text for text in strings(message) if text.strip()]
    is_ours = bool(FILLERS.intersection(texts))
    is_leading = message.get("role") in ("system", "developer") and number < min(parsed.places, default=len(messages))
    return is_ours or is_leading or any(note.startswith(f"{field}[{number}]") for note in parsed.notes)


def words(entry: Entry) -> Iterator[str]:
    """What an entry holds that a message must hold too."""
    for block in entry.blocks:
        match block:
            case Text() | Thinking():
                yield block.text
            case ToolCall():
                yield from (block.name, block.wire_id)
            case ToolResponse():
                yield block.wire_id
                if isinstance(block.result, str) and not block.synthetic:
                    yield from block.result.split("\n")
                yield from (item.data or item.url or "" for item in block.media)
            case Media():
                yield block.data or block.url or ""
            case Code():
                yield block.code
            case _:
                pass


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.values() for text in strings(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in strings(item))
