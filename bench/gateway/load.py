"""A client that costs little, so that it does not slow down whom it measures: HTTP over sockets, bodies made before."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct

from bench import coding_agent, workload
from bench.gateway.servers import HELD

_HEAD = (
    b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"anthropic-version: 2023-06-01\r\nx-api-key: none\r\ncontent-length: %d\r\n\r\n"
)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


# --- requests ---------------------------------------------------------------------------------------------------------


def first_request(number: int, *, stream: bool = False, held: bool = False) -> dict[str, Any]:
    """A request of 80 kB in the shape of Claude Code's. All have the same tools and instructions, as one user's do."""
    body = coding_agent.anthropic_request(1)
    body |= {**body.pop("extra_body"), "stream": stream}
    opening = f"Conversation {number}. {HELD.decode() if held else ''}"
    return {
        **body,
        "messages": [{"role": "user", "content": opening}, {"role": "assistant", "content": "Yes?"}, *body["messages"]],
    }


def streamed_requests() -> Callable[[int], bytes]:
    """What makes the bytes of a first request by its number: of one that was written before, in no time."""
    template = msgspec.json.encode(first_request(999_999_999, stream=True))
    return lambda number: template.replace(b"999999999", b"%09d" % number, 1)


def next_request(body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The request that gives the results of the calls in `answer`."""
    calls = [block["id"] for block in answer["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call, "content": workload.output(9, 9)} for call in calls]
    news = [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": results}]
    return {**body, "messages": [*body["messages"], *news]}


# --- connections ------------------------------------------------------------------------------------------------------


class Heard(Struct, frozen=True):
    """An answer, and how many seconds it took until its first byte and its last were there."""

    first: float
    whole: float
    body: bytes


class Connection:
    """One connection, on which requests are answered one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, body: bytes) -> Heard:
        """The whole answer to `body`; raises `RuntimeError` for any status but 200."""
        began = time.perf_counter()
        head = await self._send(body)
        length = _LENGTH.search(head)
        pieces = [await self._reader.readexactly(int(length[1]))] if length else [await self._chunk()]
        first = time.perf_counter() - began
        while not length and (piece := await self._chunk()):
            pieces.append(piece)
        whole = b"".join(pieces)
        if b" 200 " not in head[:16]:
            raise RuntimeError(f"{head[:40]!r}: {whole[:300]!r}")
        return Heard(first, time.perf_counter() - began, whole)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()

    async def _send(self, body: bytes) -> bytes:
        self._writer.write(_HEAD % len(body) + body)
        await self._writer.drain()
        return await self._reader.readuntil(b"\r\n\r\n")

    async def _chunk(self) -> bytes:
        size = int(await self._reader.readuntil(b"\r\n"), 16)
        return (await self._reader.readexactly(size + 2))[:-2]


class _Listener(asyncio.Protocol):
    """Hears an answer and does nothing: so many are open that looking at each piece would keep the others waiting."""


@asynccontextmanager
async def connected(port: int) -> AsyncGenerator[Connection]:
    """A connection to whoever listens on `port`."""
    connection = Connection(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 22))
    try:
        yield connection
    finally:
        connection.close()


# --- what is measured -------------------------------------------------------------------------------------------------


class FirstBytes(Struct, frozen=True):
    """Seconds until the first byte: of the first request of a conversation, and of the one after its answer."""

    cold: list[float]
    warm: list[float]


async def first_bytes(port: int, numbers: Iterable[int]) -> FirstBytes:
    """What one client sees that asks alone."""
    cold: list[float] = []
    warm: list[float] = []
    async with connected(port) as connection:
        for number in numbers:
            body = first_request(number)
            answer = msgspec.json.decode((await connection.ask(msgspec.json.encode(body))).body)
            following = next_request({**body, "stream": True}, answer)
            warm.append((await connection.ask(msgspec.json.encode(following))).first)
            cold.append((await connection.ask(msgspec.json.encode(first_request(-1 - number, stream=True)))).first)
    return FirstBytes(cold, warm)


async def beside_open_streams(
    port: int, streams: int, rate: int, seconds: float, *, settling: float = 2, seed: int = 0
) -> list[float]:
    """Seconds until the first byte of new requests, `rate` of them a second, while `streams` others are open.

    After so many seconds of `settling` all of these flow. Each request comes at a moment of its own within its share
    of a second, so that they keep step with nothing else; `seed` says which, and nobody has met what is asked under
    another.
    """
    moments, body = random.Random(seed), streamed_requests()
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(_hold(port, number)) for number in range(streams)]
        await asyncio.sleep(settling)
        asking: list[asyncio.Task[float]] = []
        for number in range(round(rate * seconds)):
            wait = moments.random() / rate
            await asyncio.sleep(wait)
            asking.append(group.create_task(_ask_once(port, body(100_000 + 10_000 * seed + number))))
            await asyncio.sleep(1 / rate - wait)
        taken = [await one for one in asking]
        for one in held:
            one.cancel()
    return taken


async def _hold(port: int, number: int) -> None:
    """Have an answer that does not end, until this is cancelled."""
    body = msgspec.json.encode(first_request(200_000 + number, stream=True, held=True))
    transport, _ = await asyncio.get_running_loop().create_connection(_Listener, "127.0.0.1", port)
    try:
        transport.write(_HEAD % len(body) + body)
        await asyncio.Event().wait()
    finally:
        transport.close()


async def _ask_once(port: int, body: bytes) -> float:
    async with connected(port) as connection:
        return (await connection.ask(body)).first


async def requests_a_second(port: int, clients: int, seconds: float) -> float:
    """How many whole streamed answers `clients` get in a second, of which each asks again as soon as it has one."""
    done = 0
    until = 0.0

    async def keep_asking(body: Callable[[int], bytes], first: int) -> None:
        nonlocal done
        async with connected(port) as connection:
            for number in range(first, first + 1_000_000):
                if time.perf_counter() > until:
                    return
                await connection.ask(body(number))
                done += 1

    body = streamed_requests()
    began = time.perf_counter()
    until = began + seconds
    async with asyncio.TaskGroup() as group:
        for client in range(clients):
            group.create_task(keep_asking(body, 300_000_000 + client * 1_000_000))
    return done / (time.perf_counter() - began)


async def leave_idle(port: int, conversations: int) -> None:
    """Have that many conversations of two requests, and come back to none of them."""
    async with connected(port) as connection:
        for number in range(conversations):
            body = first_request(400_000_000 + number)
            answer = msgspec.json.decode((await connection.ask(msgspec.json.encode(body))).body)
            await connection.ask(msgspec.json.encode(next_request(body, answer)))
