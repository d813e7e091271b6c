"""Requests of real clients, to each family of backends: none is refused, and nothing that matters is lost.

What a backend got is read back by its own dialect's parser and compared with what the client said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import cast

import pytest

from dialect_support import needs_samples
from gateway_clients import (
    EACH_REQUEST,
    FAMILIES,
    SURFACES,
    Recorded,
    ask,
    recorded,
    seen_by,
    simulated_gateway,
)
from legato.gateway.gateway import SwitchAt
from legato.model import Entry, Media, MediaKind, SpecKind, Target, Text, ToolResponse
from legato.request import resolve
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from recorded_exchanges import Exchanged, exchanged

pytestmark = needs_samples
RECORDED = recorded()
FAMILY = pytest.mark.parametrize("family", FAMILIES)


def name_of(request: Recorded) -> str:
    return f"{request.client}-{RECORDED.index(request)}"


EACH = pytest.mark.parametrize("request_", RECORDED, ids=map(name_of, RECORDED))


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@FAMILY
@EACH
def test_no_backend_refuses_what_a_real_client_sends_and_nothing_is_lost(
    request_: Recorded, family: str, streamed: bool
) -> None:
    done = exchanged(request_, family, streamed=streamed)
    world = done.world
    assert [seen.refusal for seen in world.refusals] == []
    if world.requests[-1].fault is None:
        assert_answered(request_, done, streamed=streamed)
    target = resolve(FAMILIES[family])
    sent = dialect_parts(target.dialect).parse(world.requests[-1].json)
    assert_nothing_lost(said_by(request_), sent, target)


@pytest.mark.parametrize("client", sorted({request.client for request in RECORDED}))
def test_a_client_goes_on_where_another_backend_answers_every_request(client: str) -> None:
    """In one gateway, which knows the requests before: those of a client begin with one another."""
    gateway = simulated_gateway(EACH_REQUEST, switch=SwitchAt.REQUEST)
    world = seen_by(gateway.world)
    asked = set[str]()
    for request in recorded(client):
        before = len(world.requests)
        response, body = ask(gateway, request.ask)
        assert [seen.refusal for seen in world.refusals] == [], name_of(request)
        assert response.status == 200 or world.requests[-1].fault is not None, body
        for seen in world.requests[before:]:
            target = resolve(f"{seen.provider}/{seen.model}")
            asked.add(target.route)
            sent = dialect_parts(target.dialect).parse(seen.json)
            assert_nothing_lost(said_by(request), sent, target)
    assert len(asked) >= 5  # all seven if there were but one conversation: each takes its own turns


ENDS = {
    "anthropic": "event: message_stop",
    "openai-chat": "data: [DONE]",
    "openai-responses": "event: response.completed",
    "gemini": '"finishReason"',
}
"""by which each client knows that a stream is complete"""


def assert_answered(request: Recorded, done: Exchanged, *, streamed: bool) -> None:
    """The client has a whole answer, in the form that it asked for, under the name that it asked for."""
    text = done.body.decode()
    assert (done.status, done.is_whole) == (200, True), text
    assert streamed == (not text.startswith("{"))
    assert not streamed or ENDS[request.surface] in text
    if request.surface == "gemini":
        name, asked = "modelVersion", request.ask.path.partition("/models/")[2].rpartition(":")[0]
    else:
        name, asked = "model", request.body["model"]
    assert f'"{name}":{json.dumps(asked)}' in text


@cache
def said_by(request: Recorded) -> Parsed:
    return dialect_parts(SURFACES[request.surface]).parse(request.body)


def assert_nothing_lost(said: Parsed, sent: Parsed, target: Target) -> None:
    assert calls_of(sent.entries) >= calls_of(said.entries)
    assert media_of(sent.entries, target) == media_of(said.entries, target)
    offered = [tool for tool in said.tools if tool.kind is not SpecKind.HOSTED]
    assert len([tool for tool in sent.tools if tool.kind is not SpecKind.HOSTED]) >= len(offered)
    told = "".join(map(bare, texts_of(sent)))
    for text in texts_of(said):
        assert bare(text) in told


def calls_of(entries: Iterable[Entry]) -> Counter[str]:
    """What was called with, without names, which a dialect may have to change."""
    return Counter(json.dumps(call.arguments, sort_keys=True) for entry in entries for call in entry.calls)


def media_of(entries: Iterable[Entry], target: Target) -> Counter[str]:
    """The images and documents, as far as the model can see them at all."""
    blocks = [block for entry in entries for block in entry.blocks]
    media = [block for block in blocks if isinstance(block, Media)]
    inside = [item for block in blocks if isinstance(block, ToolResponse) for item in block.media]
    sees = {MediaKind.IMAGE: target.capabilities.images, MediaKind.DOCUMENT: target.capabilities.documents}
    return Counter(item.data or item.url or "" for item in (*media, *inside) if sees.get(item.kind))


def texts_of(parsed: Parsed) -> list[str]:
    """Everything that somebody said, block by block, and every result."""
    blocks = [block for entry in parsed.entries for block in entry.blocks]
    said = [block.text for block in blocks if isinstance(block, Text)]
    results = [leaf for block in blocks if isinstance(block, ToolResponse) for leaf in leaves(block.result)]
    return [parsed.system, *said, *results]


def leaves(value: object) -> Iterator[str]:
    """The texts in a result; where a result is an object, providers get it as JSON or as an object."""
    match value:
        case str() if value.startswith("{"):
            yield from leaves(json.loads(value))
        case dict():
            for item in cast("dict[str, object]", value).values():
                yield from leaves(item)
        case str():
            yield value
        case _:
            yield json.dumps(value)


def bare(text: str) -> str:
    """`text` without white space and escapes."""
    return "".join(text.replace("\\n", "").replace("\\", "").split())
