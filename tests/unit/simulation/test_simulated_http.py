"""The small HTTP server, byte by byte, on this machine."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from legato.errors import ConfigError
from legato.simulation import SimulatedWorld, serve
from legato.simulation.http import MAX_BODY, MAX_HEAD
from simulation_support import running

pytestmark = pytest.mark.anyio

BODY = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}).encode()
POST = b"POST /openai/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n"
WHOLE = POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def connected(world: SimulatedWorld | None = None) -> AsyncIterator[SocketStream]:
    async with (
        running(world or SimulatedWorld(needs_keys=True)) as port,
        await anyio.connect_tcp("127.0.0.1", port) as stream,
    ):
        yield stream


async def read(stream: SocketStream) -> tuple[int, dict[str, str], bytes]:
    """One response with a length."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    while len(body) < int(headers["content-length"]):
        body += await stream.receive()
    return int(first.split()[1]), headers, body


async def closes(stream: SocketStream) -> bool:
    with anyio.fail_after(60):
        try:
            while True:
                await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return True


async def test_a_connection_serves_one_request_after_the_other() -> None:
    async with connected() as stream:
        for _ in range(3):
            await stream.send(WHOLE)
            status, headers, body = await read(stream)
            assert (status, headers["connection"]) == (200, "keep-alive")
            assert json.loads(body)["choices"][0]["message"]["content"] == 'gpt-4o (simulated) heard: "hi"'


async def test_requests_that_come_at_once_are_answered_in_order() -> None:
    async with connected() as stream:
        await stream.send(b"GET / HTTP/1.1\r\n\r\n" + WHOLE[:-5])
        assert (await read(stream))[0] == 200
        await stream.send(WHOLE[-5:])
        assert (await read(stream))[0] == 200


async def test_a_body_may_come_in_chunks() -> None:
    chunks = b"".join(b"%x;note=1\r\n%s\r\n" % (len(part), part) for part in (BODY[:7], BODY[7:]))
    async with connected() as stream:
        await stream.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nTrailer: x\r\n\r\n")
        assert (await read(stream))[0] == 200
        await stream.send(WHOLE)
        assert (await read(stream))[0] == 200


async def test_a_client_that_asks_first_is_told_to_go_on() -> None:
    async with connected() as stream:
        await stream.send(POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        assert await stream.receive() == b"HTTP/1.1 100 Continue\r\n\r\n"
        await stream.send(BODY)
        assert (await read(stream))[0] == 200


@pytest.mark.parametrize("head", [POST.replace(b"1.1", b"1.0"), POST + b"Connection: close\r\n"])
async def test_a_client_that_leaves_is_let_go(head: bytes) -> None:
    async with connected() as stream:
        await stream.send(head + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        status, headers, _ = await read(stream)
        assert (status, headers["connection"]) == (200, "close")
        assert await closes(stream)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"POST /x HTTP/3\r\n\r\n", 400),
        (POST + b"no colon\r\n\r\n", 400),
        (POST + b"Content-Length: -1\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (MAX_BODY + 1), 413),
        (POST + b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1), 413),
        (POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 413),
        (b"GET //[x HTTP/1.1\r\n\r\n", 400),
        (POST + b"X: " + b"a" * (MAX_HEAD + 4096), 431),
    ],
)
async def test_what_is_not_http_is_refused_and_the_connection_ends(request_bytes: bytes, status: int) -> None:
    async with connected() as stream:
        await stream.send(request_bytes)
        assert (await read(stream))[0] == status
        assert await closes(stream)


async def test_a_client_that_goes_away_harms_nobody() -> None:
    world = SimulatedWorld()
    async with running(world) as port:
        for part in (b"", b"POST /openai", WHOLE[:-3]):
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                if part:
                    await stream.send(part)
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(WHOLE)
            assert (await read(stream))[0] == 200


async def test_a_client_that_breaks_off_amid_nonsense_harms_nobody() -> None:
    async with running(SimulatedWorld()) as port:
        for _ in range(3):
            stream = await anyio.connect_tcp("127.0.0.1", port)
            await stream.send(b"hello\r\n\r\n" * 1000)
            raw = stream.extra(SocketAttribute.raw_socket)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # resets instead of closing
            await stream.aclose()
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(WHOLE)
            assert (await read(stream))[0] == 200


async def test_a_fault_of_the_simulation_itself_ends_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("a bug")

    world = SimulatedWorld()
    async with connected(world) as stream:
        with monkeypatch.context() as patched:
            patched.setattr(world, "reply", fails)
            await stream.send(WHOLE)
            status, _, body = await read(stream)
        assert (status, json.loads(body)) == (
            500,
            {"error": {"message": "the simulation failed on this request (RuntimeError); please report it"}},
        )
        await stream.send(WHOLE)
        assert (await read(stream))[0] == 200


async def test_a_client_that_wants_a_web_socket_is_told_to_use_http() -> None:
    async with connected() as stream:
        await stream.send(b"GET /openai/v1/responses HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert (await read(stream))[0] == 426


async def test_the_first_page_tells_where_everybody_is() -> None:
    async with connected() as stream:
        await stream.send(b"GET / HTTP/1.1\r\n\r\n")
        status, _, body = await read(stream)
        assert status == 200
        assert json.loads(body)["base_urls"]["gemini"].endswith("/gemini/v1beta")
        await stream.send(b"GET /nobody/at/home HTTP/1.1\r\n\r\n")
        assert (await read(stream))[0] == 404


async def test_a_missing_key_is_refused_over_http_by_default() -> None:
    async with anyio.create_task_group() as group:
        port = await group.start(serve, "127.0.0.1", 0)
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(WHOLE.replace(b"Authorization: Bearer k\r\n", b""))
            assert (await read(stream))[0] == 401
        group.cancel_scope.cancel()


async def test_a_port_in_use_is_named_in_the_error() -> None:
    async with running(SimulatedWorld()) as port:
        with pytest.raises(ConfigError, match=f"port {port}"):
            await serve("127.0.0.1", port)
