"""Simulated providers on a port of this machine: what only a connection can show."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from legato.errors import ConfigError
from legato.serving.contract import ConnectionCut
from legato.simulation import FaultKind, Faults, InjectedFault, SimulatedWorld, serve
from legato.simulation.app import SimulationApp
from serving import Caller, called
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
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
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
            assert (status, headers.get("connection")) == (200, None)
            assert json.loads(body)["choices"][0]["message"]["content"] == 'gpt-4o (simulated) heard: "hi"'


async def test_requests_that_come_at_once_are_answered_in_order() -> None:
    async with connected() as stream:
        await stream.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + WHOLE[:-5])
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
        assert (await stream.receive()).startswith(b"HTTP/1.1 100 ")
        await stream.send(BODY)
        assert (await read(stream))[0] == 200


@pytest.mark.parametrize("head", [POST.replace(b"1.1", b"1.0"), POST + b"Connection: close\r\n"])
async def test_a_client_that_leaves_is_let_go(head: bytes) -> None:
    async with connected() as stream:
        await stream.send(head + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        status, headers, _ = await read(stream)
        assert (status, headers["connection"]) == (200, "close")
        assert await closes(stream)


async def test_what_is_not_http_is_refused_and_the_connection_ends() -> None:
    async with connected() as stream:
        await stream.send(b"hello\r\n\r\n")
        assert (await stream.receive()).startswith(b"HTTP/1.1 400 ")
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


async def test_the_first_page_tells_where_everybody_is() -> None:
    async with connected() as stream:
        await stream.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        status, _, body = await read(stream)
        assert status == 200
        assert json.loads(body)["base_urls"]["gemini"].endswith("/gemini/v1beta")
        await stream.send(b"GET /nobody/at/home HTTP/1.1\r\nHost: x\r\n\r\n")
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
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port}"):
            await serve("127.0.0.1", port)


async def test_a_server_that_is_cancelled_gives_its_port_back() -> None:
    async with running(SimulatedWorld()) as port:
        pass
    with socket.create_server(("127.0.0.1", port)):
        pass


# --- replies, as the application sends them ---------------------------------------------------------------------------

STREAMED = {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": "answer in 5 lines"}]}
CHAT = "/openai/v1/chat/completions"


def app(world: SimulatedWorld, **options: Any) -> SimulationApp:
    return SimulationApp(world, {"openai": "http://here/openai/v1"}, **options)


async def test_a_client_that_leaves_in_the_middle_of_a_stream_ends_it() -> None:
    waits: list[str] = []

    async def sleep(_: float) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            waits.append("ended")

    call = Caller(app(SimulatedWorld(sleep=sleep), pace=1), CHAT, STREAMED)
    async with anyio.create_task_group() as group:
        group.start_soon(call.call)
        await call.arrival(b"data: ")
        call.leave()
    assert (waits, call.is_whole) == (["ended"], False)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_body_that_breaks_off_never_has_its_end(stream: bool) -> None:
    world = SimulatedWorld(faults=Faults([FaultKind.CUT]))
    call = Caller(app(world), CHAT, STREAMED | {"stream": stream})
    with pytest.raises(ConnectionCut):
        await call.call()
    assert (call.status, call.is_whole) == (200, False)
    assert stream or int(call.headers["content-length"]) > len(call.body)


async def test_a_provider_that_is_not_there_says_nothing() -> None:
    call = Caller(app(SimulatedWorld(faults=Faults([FaultKind.UNREACHABLE]))), CHAT, STREAMED)
    with pytest.raises(ConnectionCut):
        await call.call()
    assert call.sent == []


async def test_a_wait_comes_before_the_body_and_after_the_head() -> None:
    seen: list[tuple[float, int]] = []

    async def sleep(seconds: float) -> None:
        seen.append((seconds, len(call.sent)))

    world = SimulatedWorld(sleep=sleep, faults=Faults([InjectedFault(FaultKind.SLOW, seconds=20)]))
    call = Caller(app(world), CHAT, STREAMED)
    await call.call()
    assert seen == [(20, 1)]
    assert call.is_whole


# --- refusals, each in the envelope of its provider -------------------------------------------------------------------

PATHS = {
    "openai": CHAT,
    "openai-responses": "/openai/v1/responses",
    "anthropic": "/anthropic/v1/messages",
    "gemini": "/gemini/v1beta/models/gemini-2.5-pro:generateContent",
    "mistral": "/mistral/v1/chat/completions",
    "bedrock": "/bedrock/model/anthropic.claude-haiku-4-5-20251001-v1:0/converse",
}
HOW: dict[int, tuple[str, dict[str, str]]] = {
    426: ("GET", {"upgrade": "websocket", "connection": "Upgrade"}),
    415: ("POST", {"content_encoding": "gzip"}),
    405: ("PUT", {}),
}


def message_of(body: Any) -> str:
    """Where the client of any of these providers looks for the words."""
    return body["error"]["message"] if "error" in body else body["message"]


@pytest.mark.parametrize("provider", PATHS)
@pytest.mark.parametrize("status", HOW)
async def test_what_cannot_be_taken_is_refused_in_the_providers_own_words(provider: str, status: int) -> None:
    method, headers = HOW[status]
    world = SimulatedWorld()
    call = await Caller(app(world), PATHS[provider], b"{}", method=method, **headers).call()
    assert call.status == status
    assert message_of(call.json)
    assert [seen.provider for seen in world.refusals] == [provider]


@pytest.mark.parametrize(
    ("provider", "kind"), [("anthropic", "request_too_large"), ("openai", "invalid_request_error")]
)
def test_a_body_that_is_too_large_is_refused_in_the_providers_own_words(
    provider: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("legato.simulation.app.LARGEST_BODY", 1_000)
    world = SimulatedWorld()
    answer = called(app(world), PATHS[provider], b"x" * 1_001)
    assert (answer.status, answer.json["error"]["type"]) == (413, kind)
    assert [(seen.status, seen.body) for seen in world.requests] == [(413, b"")]
    assert called(app(world), PATHS[provider], b"x" * 1_000).status == 400


@pytest.mark.parametrize("path", ["/", "/openai/v1/models", "/anthropic/v1/models/claude-haiku-4-5", "/openai/v1/none"])
def test_the_head_of_whatever_can_be_got_can_be_had_alone(path: str) -> None:
    whole, head = (called(app(SimulatedWorld()), path, method=method) for method in ("GET", "HEAD"))
    assert (head.status, head.headers["content-type"]) == (whole.status, whole.headers["content-type"])


def test_google_streams_an_array_to_whoever_does_not_ask_for_events() -> None:
    path = PATHS["gemini"].replace(":g", ":streamG")
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    array = called(app(SimulatedWorld()), path, body)
    events = called(app(SimulatedWorld()), path + "?alt=sse", body)
    assert array.headers["content-type"].startswith("application/json")
    assert [json.loads(line[6:]) for line in events.body.splitlines() if line] == array.json
