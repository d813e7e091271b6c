"""Claude in the clouds: the body and the stream of a maker's own shape, as a platform carries them."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import Conversation, Options, parse, render, resolve
from legato.errors import BadAnswer
from legato.wire.event_stream import ChunkParser, write_chunk, write_frame

BEDROCK = "bedrock-anthropic/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
VERTEX = "vertex-anthropic/claude-sonnet-4-5@20250929"

EVENTS: list[Any] = [
    {"type": "message_start", "message": {"id": "msg_1", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Good day"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]


def _talk() -> Conversation:
    talk = Conversation()
    talk.human("hello")
    return talk


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("route", "version", "says_stream"),
    [(BEDROCK, "bedrock-2023-05-31", False), (VERTEX, "vertex-2023-10-16", True)],
)
def test_a_body_is_anthropics_own_but_for_what_the_platform_changes(
    route: str, version: str, says_stream: bool, stream: bool
):
    options = Options(stream=stream)
    own = render(_talk(), "anthropic/claude-sonnet-4-5-20250929", options=options).copy()
    expected = {name: value for name, value in own.items() if name not in ("model", "stream")}
    if stream and says_stream:
        expected["stream"] = True

    request = render(_talk(), route, options=options)
    assert request.copy() == {"anthropic_version": version, **expected}
    assert request.check() == []


@pytest.mark.parametrize("route", [BEDROCK, VERTEX])
def test_the_arguments_for_a_client_are_anthropics_own(route: str):
    target = resolve(route)
    arguments = render(_talk(), target).sdk()

    assert arguments["model"] == target.model
    # The client would name a version of its own, which older models at Bedrock refuse.
    version = "bedrock-2023-05-31" if route == BEDROCK else "vertex-2023-10-16"
    assert arguments["extra_body"] == {"anthropic_version": version}


@pytest.mark.parametrize("route", [BEDROCK, VERTEX])
def test_the_version_of_a_platform_does_not_follow_a_conversation_elsewhere(route: str):
    parsed = parse(render(_talk(), route).copy(), route)

    assert parsed.options.extra == {}
    assert "anthropic_version" not in render(parsed.conversation(), "anthropic/claude-opus-4-8").body


@given(st.lists(st.integers(0, 3000), max_size=8))
def test_an_answer_in_frames_is_the_same_however_its_bytes_are_split(cuts: list[int]):
    data = b"".join(write_chunk(json.dumps(event).encode()) for event in EVENTS)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    decoder = render(_talk(), BEDROCK).decoder()
    for start, end in itertools.pairwise(places):
        decoder.feed(data[start:end])
    by_events = render(_talk(), "anthropic/claude-sonnet-4-5").decoder()
    for event in EVENTS:
        by_events.event(event)

    answer, expected = decoder.finish(), by_events.finish()
    assert (answer.entry.blocks, answer.usage, answer.served) == (
        expected.entry.blocks,
        expected.usage,
        expected.served,
    )


def test_an_exception_in_the_middle_is_told_as_anthropics_error_is():
    decoder = render(_talk(), BEDROCK).decoder()
    decoder.feed(b"".join(write_chunk(json.dumps(event).encode()) for event in EVENTS[:3]))
    with pytest.raises(BadAnswer) as caught:
        decoder.feed(write_frame("throttlingException", b'{"message": "Too many tokens"}', is_error=True))

    assert caught.value.facts["error"] == {"type": "throttlingException", "message": "Too many tokens"}


@pytest.mark.parametrize("payload", [b"{}", b"[]", b'{"bytes": 1}', b'{"bytes": "***"}', b'{"bytes": null}'])
def test_a_chunk_without_an_event_is_a_damaged_stream(payload: bytes):
    with pytest.raises(BadAnswer, match="a chunk does not hold an event"):
        ChunkParser().feed(write_frame("chunk", payload))
