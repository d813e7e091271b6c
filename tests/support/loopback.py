"""Servers on this machine that answer however a test likes, and a small dialect to read their streams with."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

import anyio

from legato.model import Answer, Dialect, Ending, JsonObject, Target
from legato.transport import HttpTransport, Key, Timeouts, WireRequest, wire_request
from legato.wire.names import NameTable
from legato.wire.stream import EventDecoder

T = TypeVar("T")

SECRET = "sk-test-0123456789abcdef"
PATIENT = Timeouts(connect=60, first_byte=60, between_chunks=60, between_deltas=60, whole=60)
"""no test waits for these"""

Answerer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Loopback:
    """A server on this machine that reads a request and lets `answer` write whatever it likes."""

    def __init__(self, answer: Answerer) -> None:
        self.answer = answer
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.connections = 0
        self.port = 0
        self._hung_up = anyio.Event()

    async def saw_the_end(self) -> None:
        """Wait until the other side closed its connection."""
        with anyio.fail_after(60):
            await self._hung_up.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer_all(reader, writer)
        finally:  # also when a test ends before this side has seen the end
            self._hung_up.set()
            writer.close()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = head.lower().splitlines()
            length = next((int(line[16:]) for line in lines if line.startswith("content-length:")), 0)
            self.heads.append(head)
            self.bodies.append(await reader.readexactly(length))
            await self.answer(reader, writer)


@contextlib.asynccontextmanager
async def loopback(answer: Answerer) -> AsyncIterator[Loopback]:
    server = Loopback(answer)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()


def request_to(server: Loopback, path: str = "") -> WireRequest:
    target = Target(dialect=Dialect.OPENAI_CHAT, profile="openai", provider="p", model="m", endpoint=server.url + path)
    return wire_request(target, b'{"model": "m"}', key=Key(SECRET), stream=True)


def head(status: str = "200 OK", **headers: str) -> bytes:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode()


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


CHUNKED = head(transfer_encoding="chunked", content_type="text/event-stream")


def plain(body: bytes, status: str = "200 OK", **headers: str) -> Answerer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head(status, content_length=str(len(body)), **headers) + body)

    return answer


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say nothing more until the other side hangs up."""
    await reader.read()
    writer.close()


async def read_all(transport: HttpTransport, request: WireRequest) -> bytes:
    response = await transport.send(request)
    try:
        return b"".join([piece async for piece in response.chunks])
    finally:
        await response.close()


async def in_time(
    attempt: Callable[[float], Awaitable[T | None]], limits: Iterable[float] = (0.3, 3.0, 30.0)
) -> tuple[float, T]:
    """A short limit with which `attempt` came as far as it has to before it was over, and what it gave.

    A limit that is to be missed has to be short; on a busy machine it may be over before the request is even there.
    """
    for limit in limits:
        found = await attempt(limit)
        if found is not None:
            return limit, found
    raise AssertionError("nothing arrived within 30 seconds")


# --- a dialect of two events ----------------------------------------------------------------------------------------


class Words(EventDecoder):
    """Reads `{"say": text}` and `{"end": true}`; everything else says nothing."""

    def read(self, event: JsonObject) -> None:
        if event.get("end"):
            self.ending = Ending.DONE
        else:
            self.builder.text("text", str(event.get("say", "")))


TARGET = Target(dialect=Dialect.OPENAI_CHAT, profile="openai", provider="p", model="m", endpoint="http://127.0.0.1/v1")


def words() -> Words:
    return Words(TARGET, NameTable(TARGET.capabilities.name_rule))


def no_body(body: JsonObject) -> Answer:
    raise AssertionError(body)
