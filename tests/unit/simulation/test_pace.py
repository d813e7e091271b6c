"""Answers that arrive piece by piece: how fast, over the transport and over a socket."""

from __future__ import annotations

import json
from functools import partial

import anyio
import pytest

from legato.errors import ConfigError, TimedOut
from legato.model import Options
from legato.request import render, resolve
from legato.simulation import SimulatedTransport, SimulatedWorld, read_pace, serve
from legato.transcript import Conversation
from legato.transport import Timeouts, WireRequest, wire_request

pytestmark = pytest.mark.anyio

ROUTES = ("openai/gpt-4o", "openai-responses/gpt-5", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Clock:
    """Time that passes at once; `events` tells what was slept and what arrived, in order."""

    def __init__(self) -> None:
        self.events: list[float | str] = []

    async def sleep(self, seconds: float) -> None:
        self.events.append(seconds)
        await anyio.lowlevel.checkpoint()


def asked(route: str, *, stream: bool = True) -> WireRequest:
    talk = Conversation()
    talk.human("answer in 5 lines")
    target = resolve(route)
    return wire_request(target, render(talk, target, options=Options(stream=stream)).json(), key=None, stream=stream)


@pytest.mark.parametrize("route", ROUTES)
async def test_a_pause_lies_between_any_two_pieces_of_a_stream(route: str) -> None:
    clock = Clock()
    response = await SimulatedTransport(SimulatedWorld(sleep=clock.sleep), pace=20).send(asked(route))
    async for _ in response.chunks:
        clock.events.append("piece")

    count = clock.events.count("piece")
    assert count > 1
    assert clock.events == ["piece", *[0.05, "piece"] * (count - 1)]


async def test_without_a_pace_nothing_is_waited_for() -> None:
    clock = Clock()
    response = await SimulatedTransport(SimulatedWorld(sleep=clock.sleep)).send(asked(ROUTES[0]))

    assert [piece async for piece in response.chunks]
    assert clock.events == []


async def test_an_answer_that_is_no_stream_has_no_pace() -> None:
    clock = Clock()
    response = await SimulatedTransport(SimulatedWorld(sleep=clock.sleep), pace=1).send(asked(ROUTES[0], stream=False))

    assert len([piece async for piece in response.chunks]) == 1
    assert clock.events == []


async def test_a_pace_slower_than_patience_allows_is_an_error() -> None:
    clock = Clock()
    transport = SimulatedTransport(SimulatedWorld(sleep=clock.sleep), pace=0.01, timeouts=Timeouts(between_chunks=5))
    response = await transport.send(asked(ROUTES[0]))
    with pytest.raises(TimedOut) as caught:
        async for _ in response.chunks:
            clock.events.append("piece")

    assert caught.value.facts["phase"] == "between chunks"
    assert clock.events == ["piece", 5]


async def test_who_waits_for_the_next_piece_can_be_cancelled() -> None:
    response = await SimulatedTransport(pace=0.001).send(asked(ROUTES[0]))
    got = 0
    with anyio.CancelScope() as scope:
        async for _ in response.chunks:
            got += 1
            scope.cancel()  # the next piece would come in a quarter of an hour

    assert (got, scope.cancelled_caught) == (1, True)


async def test_a_server_sends_at_the_same_pace() -> None:
    clock = Clock()
    body = {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": "answer in 5 lines"}]}
    data = json.dumps(body).encode()
    head = b"POST /openai/v1/chat/completions HTTP/1.0\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(data)
    world = SimulatedWorld(sleep=clock.sleep)
    received = b""
    async with anyio.create_task_group() as group:
        port: int = await group.start(partial(serve, world=world, pace=20), "127.0.0.1", 0)
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(head + data)
            received = b"".join([piece async for piece in stream])
        group.cancel_scope.cancel()

    assert clock.events == [0.05] * (received.count(b"data: ") - 1)
    assert len(clock.events) > 3


@pytest.mark.parametrize(("text", "pace"), [("20/s", 20.0), ("20", 20.0), (" 0.5/s ", 0.5)])
def test_a_pace_is_written_as_pieces_in_a_second(text: str, pace: float) -> None:
    assert read_pace(text) == pace


@pytest.mark.parametrize("text", ["", "fast", "-1/s", "20/min", "0/s", "nan", "inf", "1e3"])
def test_what_is_no_pace_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="pace"):
        read_pace(text)


@pytest.mark.parametrize("pace", [0, -1, float("nan"), float("inf")])
def test_nothing_is_sent_at_an_impossible_pace(pace: float) -> None:
    with pytest.raises(ConfigError, match="above 0"):
        SimulatedTransport(pace=pace)
