"""Whoever answers and whoever asked: what is spoken, sent back and restored is what the model gave."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given

from dialect_support import make_target
from gateway_support import CLIENTS, body_of, sent_back
from legato.errors import BadAnswer
from legato.gateway.carriers import Provenance, Sealer, restore
from legato.gateway.contract import Delivery
from legato.gateway.speakers import Speaker
from legato.model import Answer, Dialect, Entry, NameRule, Text, Thinking, ToolCall
from legato.wire.deltas import Delta
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from reply_strategies import ANSWERS

SEALER = Sealer(b"k" * 32)
EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS.keys())
EVERY_BACKEND = pytest.mark.parametrize("backend", Dialect)


def decoded(answer: Answer, backend: Dialect) -> tuple[list[Delta], Answer]:
    """`answer` as a provider of that dialect gives it: the deltas of its stream, and what they come to."""
    decoder = dialect_parts(backend).decoder(make_target(backend), NameTable(NameRule.OPENAI))
    deltas = [
        delta for chunk in dialect_parts(backend).reply_stream(answer, "model-1") for delta in decoder.feed(chunk)
    ]
    return deltas, decoder.finish()


def speaker(client: Delivery, backend: Dialect, served: str = "model-1") -> Speaker:
    speaker = Speaker(client, SEALER, "answer1")
    speaker.begin(make_target(backend), "acme/model-1")
    speaker.served = served
    return speaker


def spoken(client: Delivery, backend: Dialect, deltas: Iterable[Delta], answer: Answer) -> tuple[Speaker, list[bytes]]:
    voice = speaker(client, backend, answer.served)
    chunks = [chunk for delta in deltas for chunk in voice.feed(delta)]
    return voice, [*chunks, *voice.finish(answer)]


def thoughts(entry: Entry) -> list[Thinking]:
    """The thoughts that there is anything in."""
    return [block for block in entry.blocks if isinstance(block, Thinking) and (block.text or block.native)]


def natives(entry: Entry) -> list[object]:
    """The native data of calls and texts, that a text is a refusal aside."""
    signed = [block for block in entry.blocks if isinstance(block, Text | ToolCall) and block.native]
    return [
        (block.text if isinstance(block, Text) else block.wire_id, block.native)
        for block in signed
        if block.native != {"refusal": True}
    ]


def assert_restored(entry: Entry | None, spoken: Entry, client: Delivery) -> None:
    if entry is None:  # thoughts alone, which this client is not shown
        assert not spoken.text
        assert not spoken.calls
        return
    restored, known = restore([entry], client.door.dialect, SEALER, client.tenant)
    assert entry.text == restored[0].text
    assert thoughts(restored[0]) == thoughts(spoken)
    assert natives(restored[0]) == natives(spoken)
    assert [call.wire_id for call in restored[0].calls] == [call.wire_id for call in spoken.calls]
    if thoughts(spoken):
        assert known == {0: Provenance("answer1", "acme/model-1")}
        assert restored[0].origin == spoken.origin


@EVERY_CLIENT
@EVERY_BACKEND
@given(answer=ANSWERS)
def test_what_a_client_sends_back_is_what_the_model_gave(client: Delivery, backend: Dialect, answer: Answer) -> None:
    try:
        deltas, answer = decoded(answer, backend)
    except BadAnswer:
        return  # the provider cannot say it
    voice, chunks = spoken(client, backend, deltas, answer)
    assert_restored(sent_back(body_of(chunks, client.door), client.door.dialect), voice.entry, client)
    voice = speaker(client, backend)
    body = json.loads(voice.whole(answer))
    assert_restored(sent_back(body, client.door.dialect), voice.entry, client)
