"""Serve a gateway on a port of this machine: uvicorn, set up for it.

In:  an application, an address.
Out: a server that runs until it is told to stop, and then lets what runs come to its end.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import uvicorn

from legato.errors import ConfigError
from legato.gateway.app import GatewayApp
from legato.gateway.contract import CLOSING, ConnectionCut
from legato.gateway.operator_settings import IDLE

_WITHOUT_MEANING = ("Unsupported upgrade request", "No supported WebSocket library")
"""what uvicorn says about an Upgrade, which is refused on purpose"""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on `host` and `port` (0: any that is free); raises `ConfigError` if it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0].lower()  # Python adds the address
        raise ConfigError(f"cannot listen on {host}:{port}: {why}; choose another with --port or --host") from None


class HttpServer:
    """Serves `app` on `listener`; a connection on which nothing is asked for `idle` seconds is closed."""

    def __init__(self, app: GatewayApp, listener: socket.socket, *, idle: int = IDLE) -> None:
        self._app = app
        self._listener = listener
        self._server = _Server(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",  # an Upgrade then comes to the application, which refuses it in the way that Codex needs
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=idle,
            )
        )
        self._scope: anyio.CancelScope | None = None

    async def run(self) -> None:
        """Serve until `stop`, and then until all that runs has come to its end, or until `abort`."""
        with _quiet(), self._listener, anyio.CancelScope() as self._scope:
            await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        """Take no more requests."""
        self._app.stop()
        self._server.should_exit = True

    def abort(self) -> None:
        """End now, in the middle of answers if need be."""
        self.stop()
        self._app.abort()
        if self._scope is not None:  # nothing that is left may keep it from ending
            self._scope.deadline = anyio.current_time() + CLOSING


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are the business of whoever runs the server."""
        yield


@contextmanager
def _quiet() -> Generator[None]:
    """While it lasts, uvicorn does not report what happens on purpose."""
    logger = logging.getLogger("uvicorn.error")
    logger.addFilter(_is_news)
    try:
        yield
    finally:
        logger.removeFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    is_cut = record.exc_info is not None and isinstance(record.exc_info[1], ConnectionCut)
    return not is_cut and not record.getMessage().startswith(_WITHOUT_MEANING)
