"""Requests that are odd, wrong or too much: each is answered in the words of its API, and none is too much for the server."""

from __future__ import annotations

import gc
import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from gateway_clients import seen_by, simulated_gateway
from legato.gateway.app import AppLimits, GatewayApp
from legato.gateway.gateway import Gateway
from legato.gateway.refusals import TurnedAway
from legato.gateway.uploads import UploadLimits, Uploads
from legato.serving.contract import LARGEST_BODY
from legato.transport.contract import Ask
from scripted_backends import WHOLE, whole_stream
from serving import HELLO, Caller, called
from staged_backends import staged_in, staged_world

CLAUDE = "anthropic/claude-sonnet-4-5"
PATHS = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
}
ENVELOPES: dict[str, set[str]] = {
    "anthropic": {"type", "message"},
    "chat": {"type", "message", "code", "param"},
    "responses": {"type", "message", "code", "param"},
    "gemini": {"code", "status", "message"},
}
DEEP = b"[" * 100_000
WRONG: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"hello",
    "half of a request": json.dumps(HELLO).encode()[:40],
    "bad UTF-8": b'{"model": "\xff\xfe", "messages": [}',
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "no messages": b'{"model": "m"}',
    "too deep": b'{"messages": ' + DEEP + b"]" * 100_000 + b"}",
    "too deep and cut": b'{"messages": ' + DEEP,
}


@pytest.fixture(scope="module")
def app() -> GatewayApp:
    return GatewayApp(simulated_gateway("openai/gpt-4.1"))


@pytest.mark.parametrize("wrong", WRONG)
def test_a_body_that_is_no_request_is_refused_in_the_words_of_its_api(app: GatewayApp, wrong: str) -> None:
    for client, path in PATHS.items():
        answer = called(app, path, WRONG[wrong])
        assert (client, answer.status, answer.is_whole) == (client, 400, True)
        assert answer.json["error"].keys() >= ENVELOPES[client]
        assert len(answer.json["error"]["message"]) < 1000


@pytest.mark.parametrize(
    "text", ["nul \0 inside", "half a pair \ud83d", "\u202eright to left", "x" * 300_000, " ", "\ufeff"]
)
def test_a_text_that_is_odd_reaches_the_model(text: str) -> None:
    gateway = simulated_gateway("openai/gpt-4.1")
    served = GatewayApp(gateway)
    answer = called(served, "/v1/messages", HELLO | {"messages": [{"role": "user", "content": f"a{text}b"}]})
    assert answer.status == 200
    assert len(json.loads(seen_by(gateway.world).requests[-1].body)["messages"][-1]["content"]) >= len(text) + 2


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/v1/messages", 405, "POST"),
        ("PUT", "/v1/chat/completions", 405, "POST"),
        ("DELETE", "/v1beta/models/m:generateContent", 405, "POST"),
        ("POST", "/v1/models", 405, "GET"),
        ("PATCH", "/v1/responses/resp_1", 405, "GET, DELETE"),
        ("OPTIONS", "/v1/responses", 405, "POST"),
        ("GET", "/v1/nonsense", 404, None),
        ("POST", "/", 404, None),
        ("POST", "/v1/messages/nonsense", 404, None),
        ("POST", "//v1//messages//", 404, None),
        ("POST", "/v1/%00", 404, None),
    ],
)
def test_a_wrong_method_and_an_unknown_path_are_told_apart(
    app: GatewayApp, method: str, path: str, status: int, allow: str | None
) -> None:
    answer = called(app, path, HELLO, method=method)
    assert (answer.status, answer.headers.get("allow")) == (status, allow)
    assert answer.json["error"]["message"]


@pytest.mark.parametrize("coding", ["gzip", "zstd", "br", "gzip, gzip"])
def test_a_compressed_body_is_refused_before_it_is_read(app: GatewayApp, coding: str) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    assert called(app, "/v1/messages", bomb, content_encoding=coding).status == 415


# --- how much is read -------------------------------------------------------------------------------------------------


def ask_of(**headers: str) -> Ask:
    return Ask(
        method="POST", path="/v1/messages", headers={n.replace("_", "-"): v for n, v in headers.items()}, body=b""
    )


async def pieces_of(size: int, piece: int = 65_536) -> AsyncIterator[bytes]:
    for at in range(0, size, piece):
        await anyio.lowlevel.checkpoint()
        yield bytes(min(piece, size - at))


def refused(uploads: Uploads, size: int, **headers: str) -> TurnedAway:
    async def run() -> None:
        with uploads.upload(ask_of(**headers)) as upload:
            await upload.read(pieces_of(size))

    with pytest.raises(TurnedAway) as raised:
        anyio.run(run)
    return raised.value


def test_nothing_is_kept_of_a_body_that_says_that_it_is_too_large() -> None:
    uploads = Uploads()
    tracemalloc.start()
    try:
        error = refused(uploads, LARGEST_BODY + 1, content_length=str(LARGEST_BODY + 1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert error.reason == "too-large"
    assert peak < 4_000_000
    assert uploads.held == 0


def test_a_body_that_does_not_say_so_is_dropped_when_it_becomes_too_large() -> None:
    uploads = Uploads(UploadLimits(body=1_000_000))
    assert refused(uploads, 1_000_001).reason == "too-large"
    assert uploads.held == 0


def test_a_body_that_never_ends_is_not_read_for_ever() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            await anyio.lowlevel.checkpoint()
            yield bytes(1_000)

    async def run() -> None:
        with Uploads(UploadLimits(body=10_000)).upload(ask_of()) as upload:
            await upload.read(endless())

    with pytest.raises(TurnedAway):
        anyio.run(run)


def test_all_bodies_together_have_a_limit_too() -> None:
    """A second client is asked to come again, and can when the first is done."""
    uploads = Uploads(UploadLimits(body=100_000, bodies=150_000))

    async def run() -> None:
        with uploads.upload(ask_of()) as first:
            assert len(await first.read(pieces_of(100_000, 10_000))) == 100_000
            with uploads.upload(ask_of()) as second, pytest.raises(TurnedAway) as raised:
                await second.read(pieces_of(60_000, 10_000))
            assert (raised.value.reason, raised.value.retry_after) == ("overloaded", 2.0)
            assert uploads.held == 100_000
        with uploads.upload(ask_of()) as third:
            assert len(await third.read(pieces_of(60_000))) == 60_000
        assert uploads.held == 0

    anyio.run(run)


def test_a_body_may_take_as_long_as_its_length_deserves() -> None:
    """What has come already gives it more time."""

    async def slow() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield bytes(1_000)
            await anyio.sleep(0.01)

    async def run(pace: float) -> bytes:
        with Uploads(UploadLimits(grace=0.05, pace=pace)).upload(ask_of()) as upload:
            return await upload.read(slow())

    assert len(anyio.run(run, 1.0)) == 20_000
    with pytest.raises(TurnedAway) as raised:
        anyio.run(run, 1e9)
    assert raised.value.status == 408


# --- how much is held -------------------------------------------------------------------------------------------------

STREAMS = 60
A_STREAM, A_REPORT = 120_000, 2_000
"""bytes that a running stream and a report of one may take: twice what they take"""


def test_many_streams_take_little_memory_and_leave_reports_behind() -> None:
    words = whole_stream(CLAUDE, WHOLE).chunks

    async def stage() -> AsyncIterator[bytes]:
        for chunk in words[:6]:
            yield chunk
        await anyio.sleep_forever()

    async def run() -> None:
        gateway = Gateway(staged_world({"anthropic": stage}), CLAUDE)
        served = GatewayApp(gateway, limits=AppLimits(requests=STREAMS))
        await open_streams(gateway, served, 5)  # what is loaded and cached once
        tracemalloc.start()
        running, after = await open_streams(gateway, served, STREAMS)
        assert running < STREAMS * A_STREAM
        assert after < STREAMS * A_REPORT

    try:
        anyio.run(run)
    finally:
        tracemalloc.stop()


async def open_streams(gateway: Gateway, served: GatewayApp, count: int) -> tuple[int, int]:
    """Bytes that are held while `count` clients are being answered, and when they have all left."""
    body: Any = HELLO | {"stream": True, "thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}
    calls = [Caller(served, "/v1/messages", body) for _ in range(count)]
    closed = len(staged_in(gateway.world).closed)
    before, running = tracemalloc.get_traced_memory()[0], 0
    async with anyio.create_task_group() as group:
        for call in calls:
            group.start_soon(call.call)
        for call in calls:
            await call.arrival(b"riddle")
        running = tracemalloc.get_traced_memory()[0] - before
        for call in calls:
            call.leave()
    calls.clear()
    gc.collect()
    assert len(staged_in(gateway.world).closed) == closed + count
    return running, tracemalloc.get_traced_memory()[0] - before


def test_whoever_answers_waits_for_a_client_that_does_not_read() -> None:
    """Without a socket: what is made is one piece more than what was taken."""
    made = 0

    async def stage() -> AsyncIterator[bytes]:
        nonlocal made
        for chunk in whole_stream(CLAUDE, WHOLE).chunks:
            made += 1
            yield chunk

    async def run() -> None:
        is_full, go_on = anyio.Event(), anyio.Event()

        class Slow(Caller):
            async def _send(self, message: Any) -> None:
                if len(self.sent) == 3:
                    is_full.set()
                    await go_on.wait()
                await super()._send(message)

        call = Slow(
            GatewayApp(Gateway(staged_world({"anthropic": stage}), CLAUDE)), "/v1/messages", HELLO | {"stream": True}
        )
        async with anyio.create_task_group() as group:
            group.start_soon(call.call)
            await is_full.wait()
            await anyio.wait_all_tasks_blocked()
            assert made < len(whole_stream(CLAUDE, WHOLE).chunks)
            go_on.set()
        assert call.is_whole

    anyio.run(run)
