"""An application on a port of this machine: what only a connection can show."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Callable

import anyio
import httpx2
import pytest
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from legato.errors import ConfigError
from legato.serving.contract import ConnectionCut
from legato.serving.exchange import Begin, converse
from legato.serving.http_server import HttpServer, listen
from legato.transport.contract import WireResponse
from serving import on_a_port


def answering(chunks: Callable[[], AsyncIterator[bytes]]) -> ASGIApp:
    """An application that answers every request with `chunks`."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(_: Begin) -> WireResponse:
            return WireResponse(200, {}, chunks())

        await converse(Request(scope, receive), send, answer)

    return app


def test_a_connection_may_break_off_before_anything_was_said(caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise ConnectionCut("there is nobody")

    with on_a_port(app) as url, pytest.raises(httpx2.RemoteProtocolError):
        httpx2.get(url)
    assert caplog.records == []  # it is no fault of the server


def test_a_client_that_asks_https_is_told_about_with_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    with on_a_port(answering(aiter_nothing)) as url, pytest.raises(httpx2.ConnectError):
        httpx2.get(url.replace("http:", "https:"))
    assert [record.getMessage() for record in caplog.records] == [
        "legato: what came over a connection is no HTTP, and was refused; clients have to ask http://, not https://"
    ]


def test_the_first_words_are_out_before_the_server_does_anything_else() -> None:
    has_read = threading.Event()

    async def chunks() -> AsyncIterator[bytes]:
        yield b"first"
        yield b" yes" if has_read.wait(10) else b" nobody read that"  # nothing else runs in the server meanwhile

    with on_a_port(answering(chunks)) as url, httpx2.stream("GET", url) as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"first"
        has_read.set()
        assert b"".join(pieces) == b" yes"


async def aiter_nothing() -> AsyncIterator[bytes]:
    for piece in ():
        yield piece


def test_a_server_that_is_aborted_lets_go_of_everything(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[str] = []

    async def chunks() -> AsyncIterator[bytes]:
        try:
            yield b"first"
            await anyio.sleep_forever()
        finally:
            ended.append("answer")

    async def run() -> None:
        listener = listen("127.0.0.1", 0)
        address = listener.getsockname()
        server = HttpServer(answering(chunks), listener)
        async with anyio.create_task_group() as group, httpx2.AsyncClient() as client:
            group.start_soon(server.run)
            async with client.stream("GET", f"http://127.0.0.1:{address[1]}/") as response:
                pieces = response.aiter_raw()
                assert await anext(pieces) == b"first"
                assert server.is_busy
                server.abort()
                with pytest.raises(httpx2.TransportError):
                    await anext(pieces)
        assert ended == ["answer"]
        assert not server.is_busy
        with socket.create_server(address):  # nobody holds the port any more
            pass

    anyio.run(run)
    assert caplog.records == []


def test_a_port_that_is_taken_is_named_in_the_error() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}: .* in use; choose another port"):
            listen("127.0.0.1", port)


def test_small_pieces_of_an_answer_do_not_wait_for_the_client():
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
