"""Serve an application on a port of this machine: uvicorn, set up for it.

In:  an application, an address.
Out: a server that runs until it is told to stop, and then lets what runs come to its end.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import anyio
import uvicorn
from starlette.types import ASGIApp

from legato.errors import ConfigError
from legato.serving.connections import impatient_protocol
from legato.serving.contract import CLOSING, IDLE, ConnectionPatience
from legato.serving.corking import FirstWords

_WITHOUT_MEANING = ("Unsupported upgrade request", "No supported WebSocket library")
"""what uvicorn says about an Upgrade, which is refused on purpose"""


_NO_HTTP = "Invalid HTTP request received."
"""what uvicorn says about a connection that it refuses"""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on `host` and `port` (0: any that is free); raises `ConfigError` if it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (")[0].lower()  # Python adds the address, which is told anyway
        raise ConfigError(
            f"cannot listen on {host}:{port}: {why}; choose another port or host, or end the program that uses it",
            host=host,
            port=port,
        ) from None
    # Connections inherit it. asyncio sees to it only for sockets that name their protocol, which this one does not;
    # without it, an answer on a connection that was used before waits 40 ms for the client to acknowledge its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


@runtime_checkable
class Stoppable(Protocol):
    """An application that wants to know of its end."""

    def stop(self) -> None:
        """No more requests are to be taken; those that run go on to their end."""
        ...

    def abort(self) -> None:
        """Those that run are ended as well."""
        ...


class HttpServer:
    """Serves `app` on `listener`; a connection on which nothing is asked for `idle` seconds is closed."""

    def __init__(
        self, app: ASGIApp, listener: socket.socket, *, idle: int = IDLE, patience: ConnectionPatience | None = None
    ) -> None:
        self._listener = listener
        self._words = FirstWords()
        self._server = _Server(
            uvicorn.Config(
                app,
                http=impatient_protocol(patience or ConnectionPatience(), self._words),
                ws="none",  # an Upgrade then comes to the application, which refuses it in the way that Codex needs
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=idle,
            )
        )
        self._stoppable = app if isinstance(app, Stoppable) else None
        self._scope: anyio.CancelScope | None = None

    @property
    def is_busy(self) -> bool:
        """Whether an answer is on its way."""
        return bool(self._server.server_state.tasks)

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for the first words of an answer."""
        return self._words.awaited > 0

    async def run(self) -> None:
        """Serve until `stop`, and then until all that runs has come to its end, or until `abort`."""
        with _quiet(), self._listener, anyio.CancelScope() as self._scope:
            try:
                await self._server.serve(sockets=[self._listener])
            finally:
                await self._server.hang_up()

    def stop(self) -> None:
        """Take no more requests."""
        if self._stoppable is not None:
            self._stoppable.stop()
        self._server.should_exit = True

    def abort(self) -> None:
        """End now, in the middle of answers if need be."""
        self.stop()
        if self._stoppable is not None:
            self._stoppable.abort()
        if self._scope is not None:
            self._scope.cancel()


class _Server(uvicorn.Server):
    servers: list[asyncio.Server] = []  # noqa: RUF012 - uvicorn sets it when it starts

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are the business of whoever runs the server."""
        yield

    async def hang_up(self) -> None:
        """Close whatever is still open; an application whose client is gone then stops by itself."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        if self.server_state.tasks:
            with anyio.CancelScope(shield=True):
                await asyncio.wait(self.server_state.tasks, timeout=CLOSING)


@contextmanager
def _quiet() -> Generator[None]:
    """While it lasts, uvicorn does not report what happens on purpose, and says what can be done about the rest."""
    logger = logging.getLogger("uvicorn.error")
    logger.addFilter(_is_news)
    try:
        yield
    finally:
        logger.removeFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    if message == _NO_HTTP:
        record.msg = (
            "legato: what came over a connection is no HTTP, and was refused; clients have to ask http://, not https://"
        )
    return not message.startswith(_WITHOUT_MEANING)
