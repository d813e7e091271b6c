"""An application behind ASGI or on a port of this machine, for tests: a gateway, or another."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from typing import Any

import anyio
from starlette.types import ASGIApp

from gateway_clients import simulated_world
from legato.gateway.gateway import Gateway
from legato.serving.contract import ConnectionPatience
from legato.serving.http_server import HttpServer, listen
from legato.transport.contract import Ask, WireResponse

HELLO = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "hello"}]}
LOCAL = {"host": "localhost:8100"}


class ScriptedGateway(Gateway):
    """Answers every request with `chunks`, whatever is asked."""

    def __init__(self, chunks: Callable[[], AsyncIterator[bytes]], *, keep_alive: bytes = b"") -> None:
        super().__init__(simulated_world(), "anthropic/claude-sonnet-4-5")
        self._chunks = chunks
        self._keep_alive = keep_alive
        self.closed = 0

    async def answer(self, ask: Ask, **_: Any) -> WireResponse:
        headers = {"content-type": "text/event-stream"}
        return WireResponse(200, headers, self._chunks(), close=self._close, keep_alive=self._keep_alive)

    async def _close(self) -> None:
        self.closed += 1


class Caller:
    """One request to an application, by the protocol itself. `sent` is what came back; `leave` hangs up."""

    def __init__(self, app: ASGIApp, path: str, body: Any = None, *, method: str = "", **headers: str) -> None:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self._app = app
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method or ("GET" if body is None else "POST"),
            "scheme": "http",
            "path": path.partition("?")[0],
            "raw_path": path.encode(),
            "query_string": path.partition("?")[2].encode(),
            "root_path": "",
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in (LOCAL | headers).items()],
        }
        self._pieces = [data[at : at + 65_536] for at in range(0, len(data), 65_536)] or [b""]
        self._gone = anyio.Event()
        self._arrived = anyio.Event()
        self.sent: list[dict[str, Any]] = []

    async def call(self) -> Caller:
        await self._app(self._scope, self._receive, self._send)
        return self

    def leave(self) -> None:
        self._gone.set()

    async def arrival(self, piece: bytes) -> None:
        """Wait until `piece` is in the body."""
        while piece not in self.body:
            self._arrived = anyio.Event()
            await self._arrived.wait()

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_whole(self) -> bool:
        return self.sent[-1]["type"] == "http.response.body" and not self.sent[-1].get("more_body", False)

    async def _receive(self) -> dict[str, Any]:
        if self._pieces:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces)}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await anyio.lowlevel.checkpoint()
        self.sent.append(message)
        self._arrived.set()


def called(app: ASGIApp, path: str, body: Any = None, **options: Any) -> Caller:
    """What `app` answers to one request."""
    return anyio.run(lambda: Caller(app, path, body, **options).call())


@contextmanager
def on_a_port(app: ASGIApp, *, patience: ConnectionPatience | None = None) -> Generator[str]:
    """The base URL under which `app` is served by a thread meanwhile."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    server = HttpServer(app, listener, patience=patience)
    thread = threading.Thread(target=lambda: anyio.run(server.run))
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()
        thread.join()
