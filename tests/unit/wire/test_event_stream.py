"""AWS's binary event stream: whole or in pieces, sound or damaged."""

import base64
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import BadAnswer
from legato.wire.event_stream import FrameParser, write_frame

# One frame as the service sent it (a recorded stream of a Nova model).
RECORDED = base64.b64decode(
    "AAAAtwAAAFJCoDu1CzpldmVudC10eXBlBwAMbWVzc2FnZVN0YXJ0DTpjb250ZW50LXR5cGUHABBhcHBsaWNhdGlvbi9qc29uDTptZXNzYWdl"
    "LXR5cGUHAAVldmVudHsicCI6ImFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDUiLCJy"
    "b2xlIjoiYXNzaXN0YW50In1xBrKf"
)


def test_a_recorded_frame_is_read_and_written_alike() -> None:
    [event] = FrameParser().feed(RECORDED)
    [(name, payload)] = json.loads(event).items()
    assert (name, payload["role"]) == ("messageStart", "assistant")
    assert write_frame(name, event[len(b'{"messageStart":') : -1]) == RECORDED


@given(st.lists(st.tuples(st.text(max_size=9), st.integers())), st.lists(st.integers(1, 40), min_size=1))
def test_a_stream_reads_the_same_however_it_is_split(events: list[tuple[str, int]], sizes: list[int]) -> None:
    stream = b"".join(write_frame(name, json.dumps({"n": number}).encode()) for name, number in events)
    parser, read, at = FrameParser(), list[bytes](), 0
    while at < len(stream):
        size = sizes[at % len(sizes)]
        read += parser.feed(stream[at : at + size])
        at += size
    assert [json.loads(event) for event in read] == [{name: {"n": number}} for name, number in events]
    assert parser.close() == []


@given(st.integers(0, len(RECORDED) - 1), st.integers(1, 255))
def test_a_damaged_frame_is_a_bad_answer_or_waits_for_more(place: int, change: int) -> None:
    damaged = bytearray(RECORDED)
    damaged[place] ^= change
    parser = FrameParser()
    with suppress(BadAnswer):
        assert parser.feed(bytes(damaged)) == []


def test_an_event_longer_than_allowed_is_refused_before_it_arrives() -> None:
    frame = write_frame("contentBlockDelta", b'{"p":"' + b"x" * 5000 + b'"}')
    with pytest.raises(BadAnswer, match=r"bounds\.event"):
        FrameParser(longest=1000).feed(frame[:20])


def test_an_exception_in_the_middle_keeps_its_name() -> None:
    [event] = FrameParser().feed(write_frame("throttlingException", b'{"message":"slow down"}', is_error=True))
    assert json.loads(event) == {"throttlingException": {"message": "slow down"}}
