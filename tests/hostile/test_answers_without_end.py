"""Servers that never stop, over a socket: each answer ends, and whoever asked can ask again."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from legato.errors import BadAnswer, Overloaded, ProviderError, TimedOut
from legato.model import Answer, Ending
from legato.transport import Bounds, HttpTransport, Timeouts, open_answer
from legato.transport.exchange import AnswerStream
from legato.wire.deltas import Delta
from legato.wire.names import NameTable
from loopback import (
    CHUNKED,
    PATIENT,
    TARGET,
    Answerer,
    Loopback,
    Words,
    chunk,
    head,
    in_time,
    loopback,
    no_body,
    plain,
    read_all,
    request_to,
    words,
)

pytestmark = pytest.mark.anyio

SAY = b'data: {"say": "Hel"}\n\n'
PING = b": ping\n\n"
BOUNDS = Bounds(stream=200_000, event=100_000, body=100_000, refusal=10_000)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


def endless(*beginning: bytes, again: bytes, status: bytes = CHUNKED) -> Answerer:
    """A server that goes on until the other side hangs up."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(status + b"".join(map(chunk, beginning)))
        while not writer.is_closing():
            writer.write(chunk(again))
            await writer.drain()
            await asyncio.sleep(0)

    return answer


async def ask(server: Loopback, timeouts: Timeouts, bounds: Bounds) -> tuple[ProviderError, AnswerStream]:
    """What became of an answer that has no end; the server has seen that nobody listens any more."""
    async with HttpTransport(timeouts, bounds=bounds) as transport:
        stream = open_answer(transport, request_to(server), words(), decode=no_body)
        with pytest.raises(ProviderError) as caught:
            async with stream:
                await stream.finish()
        await server.saw_the_end()
    return caught.value, stream


def text_of(partial: Answer | None) -> str:
    assert partial is not None
    assert partial.entry.ending is Ending.CUT
    return partial.text


@pytest.mark.parametrize(
    ("again", "bound"),
    [(SAY * 100, "stream"), (PING * 100, "stream"), (b"x" * 1000, "event"), (b"data: x\n" * 100, "event")],
)
async def test_an_answer_without_end_is_refused_at_its_bound(again: bytes, bound: str) -> None:
    async with loopback(endless(SAY, again=again)) as server:
        error, stream = await ask(server, PATIENT, BOUNDS)
    assert isinstance(error, BadAnswer)
    assert error.facts["bound"] == bound
    assert text_of(stream.partial()).startswith("Hel")


async def test_a_body_without_end_is_refused_at_its_bound() -> None:
    async with loopback(endless(b"{", again=b'"a": 1,' * 100)) as server:
        error, stream = await ask(server, PATIENT, BOUNDS)
    assert (type(error), error.facts["bound"]) == (BadAnswer, "body")
    assert stream.partial() is None


async def test_only_the_beginning_of_a_refusal_without_end_is_read() -> None:
    status = head("503 Service Unavailable", transfer_encoding="chunked")
    async with loopback(endless(b"overloaded ", again=b"x" * 1000, status=status)) as server:
        error, _ = await ask(server, PATIENT, BOUNDS)
    assert isinstance(error, Overloaded)
    assert error.facts["provider_message"].startswith("overloaded xxx")


@pytest.mark.parametrize(
    ("again", "name", "phase"), [(PING, "between_deltas", "between deltas"), (SAY, "whole", "whole")]
)
async def test_an_answer_without_end_is_over_when_its_time_is(again: bytes, name: str, phase: str) -> None:
    async def attempt(limit: float) -> tuple[ProviderError, AnswerStream] | None:
        async with loopback(endless(SAY, again=again)) as server:
            found = await ask(server, replace(PATIENT, **{name: limit}), Bounds())
        return found if found[1].visible else None

    limit, (error, stream) = await in_time(attempt, (0.1, 3.0, 30.0))
    assert isinstance(error, TimedOut)
    assert (error.facts["phase"], error.facts["limit"]) == (phase, limit)
    assert text_of(stream.partial()).startswith("Hel")


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_a_few_bytes_that_unpack_to_many_are_refused_at_the_bound(
    encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    bomb = pack(SAY + PING * 1_000_000)
    assert len(bomb) < 50_000
    async with (
        loopback(plain(bomb, content_encoding=encoding)) as server,
        HttpTransport(PATIENT, bounds=BOUNDS) as http,
    ):
        stream = open_answer(http, request_to(server), words(), decode=no_body)
        with pytest.raises(BadAnswer) as caught:
            async with stream:
                await stream.finish()
    assert caught.value.facts["bound"] == "stream"
    assert text_of(stream.partial()) == "Hel"


async def test_whoever_waits_can_cancel_while_a_bomb_is_unpacked() -> None:
    bomb = gzip.compress(PING * 3_000_000)
    taken = 0

    class Counting(Words):
        def feed(self, data: bytes) -> list[Delta]:
            nonlocal taken
            taken += len(data)
            return super().feed(data)

    async def read(transport: HttpTransport, server: Loopback) -> None:
        reader = Counting(TARGET, NameTable(TARGET.capabilities.name_rule))
        async with open_answer(transport, request_to(server), reader, decode=no_body) as stream:
            await stream.finish()

    async with (
        loopback(plain(bomb, content_encoding="gzip")) as server,
        HttpTransport(PATIENT) as transport,
        anyio.create_task_group() as group,
    ):
        group.start_soon(read, transport, server)
        while not taken:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert taken < 1_000_000


async def test_a_connection_is_asked_for_nothing_that_cannot_be_unpacked() -> None:
    async with loopback(plain(b"{}", content_encoding="br")) as server, HttpTransport(PATIENT) as transport:
        with pytest.raises(BadAnswer) as caught:
            await read_all(transport, request_to(server))
    assert "\r\naccept-encoding: gzip, deflate\r\n" in server.heads[0].lower()
    assert caught.value.message == (
        "the answer of p/m cannot be used: it is packed with 'br', and the request allows only gzip, deflate; try again"
    )
