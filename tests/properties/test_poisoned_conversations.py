"""Whatever a provider, a client or a program puts into a conversation, it can be stored and sent to anybody afterwards.

`make fuzz` tries the same on many more answers, recorded ones among them: see scripts/fuzz_answers.py.
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from legato import Conversation, render
from legato.errors import FormatError
from legato.formats import mend, read_all, write
from legato.formats.targets import WIRE
from legato.formats.wire.shapes import WIRE_DIALECTS
from legato.model import (
    Code,
    Entry,
    HostedTool,
    Media,
    MediaKind,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    ToolSpec,
)
from legato.model.blocks import CallKind
from legato.model.codec import decode_record, encode_record
from mutation_seeds import bodies
from mutations import mutate
from poisoning import Outcome, try_answer, try_body

from builders import ROUTES, origin, user
from cases import CASES

SEEDS = st.integers(0, 2**32)
# A smaller seed is no simpler case.
NO_SHRINKING = settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
routes = pytest.mark.parametrize("route", ROUTES)


def assert_sound(outcome: Outcome) -> None:
    assert not outcome.fault, f"{outcome.source}: {outcome.fault}\n{json.dumps(outcome.value)}"


@routes
@NO_SHRINKING
@given(seed=SEEDS)
def test_no_damaged_answer_poisons_a_conversation(route: str, seed: int) -> None:
    assert_sound(try_answer(Random(seed), route, is_streamed=False, recorded=False))


@routes
@NO_SHRINKING
@given(seed=SEEDS)
def test_no_damaged_stream_poisons_a_conversation(route: str, seed: int) -> None:
    assert_sound(try_answer(Random(seed), route, is_streamed=True, recorded=False))


@routes
@NO_SHRINKING
@given(seed=SEEDS)
def test_no_damaged_request_body_poisons_a_conversation(route: str, seed: int) -> None:
    assert_sound(try_body(Random(seed), route, recorded=False))


# --- what repair writes -----------------------------------------------------------------------------------------------

FILES = ("claude-code", "codex", "legato")


@pytest.mark.parametrize("format_", [*WIRE, *FILES])
@NO_SHRINKING
@given(seed=SEEDS)
def test_whatever_repair_writes_can_be_sent_on(format_: str, seed: int) -> None:
    chance = Random(seed)
    data = damaged_file(format_, chance)
    try:
        mended = mend(read_all(data, format=format_)[0])
    except FormatError:
        return  # nothing can be read in it, or repair would not do
    document = read_all(mended.data, format=format_)[0]
    talk = document.conversation()
    for route in ROUTES:
        request = render(talk, route, tools=document.tools)
        request.verify()
        assert json.loads(request.json()) == request.body


def damaged_file(format_: str, chance: Random) -> bytes:
    if format_ in FILES:
        lines = mutate(chance.choice(sessions(format_)), chance)
        return b"".join(json.dumps(line).encode() + b"\n" for line in (lines if isinstance(lines, list) else [lines]))
    known = bodies(WIRE_DIALECTS[format_], recorded=False)
    return json.dumps(mutate(chance.choice(known), chance, known)).encode()


@cache
def sessions(format_: str) -> list[list[Any]]:
    """The named conversations as files of an agent, record by record."""
    written = [write(make(), format_).data for make in CASES.values()]
    return [[json.loads(line) for line in data.splitlines()] for data in written]


# --- any text in any field --------------------------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from(["\ud800", "\udfff", "\0", "\x1b", "\x7f", "a", " ", "ü", "😀", "\u2028"]), max_size=3)


@st.composite
def odd_entries(draw: st.DrawFn) -> list[Entry]:
    """An answer, its results and a message with odd text in every field that holds text."""

    def text() -> str:
        return draw(TEXTS)

    def value() -> dict[str, Any]:
        return {text(): [text()]}

    media = Media(draw(st.sampled_from(MediaKind)), text(), data=draw(st.none() | TEXTS), url=text(), name=text())
    home = draw(st.sampled_from([*map(origin, ROUTES), Origin(text(), text(), text(), text(), text(), text())]))
    kind, wire_id = draw(st.sampled_from(CallKind)), text()
    answer = (
        Thinking(text(), native=value()),
        Text(text(), native=value()),
        ToolCall(text(), value(), wire_id, kind=kind, raw=draw(st.none() | TEXTS), native=value()),
        HostedTool(text(), value(), value(), text(), native=value()),
        Code(text(), text()),
        media,
    )
    response = ToolResponse(
        wire_id=wire_id, tool_name=text(), result=value(), error=draw(st.none() | TEXTS), said=text(), media=(media,)
    )
    return [
        Entry(Speaker.AI, answer, origin=home, answer=draw(st.none() | TEXTS)),
        Entry(Speaker.TOOL, (response, Text(text()))),
        Entry(Speaker.HUMAN, (Text(text()), media, Code(text(), text()))),
    ]


@routes
@given(entries=odd_entries(), name=TEXTS, said=TEXTS)
def test_any_text_may_stand_in_any_field(route: str, entries: list[Entry], name: str, said: str) -> None:
    talk = Conversation()
    for entry in (user("go"), *entries):
        talk.record(entry)
    assert [decode_record(encode_record(record)) for record in talk.log] == list(talk.log)
    tools = [ToolSpec(name, said, {"type": "object", "title": said, "properties": {name: {"description": said}}})]
    request = render(talk, route, system=said, tools=tools)
    request.verify()
    assert json.loads(request.json()) == request.body
