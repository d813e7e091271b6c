"""Connections that are given up when they are of no use: uvicorn itself would wait for ever.

    a request that does not come        closed after a while; told 408 if it had begun
    a client that does not read         nothing more is made for it, and after a while the connection is broken
    an answer that breaks off           so does the connection, also before anything was said
    a request of two lengths            told 400: where it ends is read in two ways, and what follows may be another's

A connection between two requests is uvicorn's own business (`timeout_keep_alive`), and a body that does not come is
that of the application, where its API is known.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, ClassVar, cast

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from legato.serving.contract import ConnectionCut, ConnectionPatience
from legato.serving.corking import CorkedTransport, FirstWords

_NO_HEAD = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
"""for a client that began a request and did not go on: without a path there is no API in whose words to tell it"""

_LENGTHS = {b"content-length", b"transfer-encoding"}
"""headers of which a request has one: https://www.rfc-editor.org/rfc/rfc9112#section-6.1"""
_REFUSED: tuple[Message, ...] = (
    {"type": "http.response.start", "status": 400, "headers": [(b"connection", b"close"), (b"content-length", b"0")]},
    {"type": "http.response.body"},
)


def impatient_protocol(patience: ConnectionPatience, words: FirstWords) -> type[H11Protocol]:
    """uvicorn's protocol, for connections that are given up when they are of no use; `words` counts their answers."""

    class Impatient(_ImpatientProtocol):
        limits = patience
        first_words = words

    return Impatient


class _BreakableProtocol(H11Protocol):
    """A connection that an application may break off, also before it has said anything.

    For an error that comes so early, uvicorn would say 500, and it logs every error as one of the application.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._served = cast(ASGIApp, self.app)
        self.app = cast(Any, self._serve)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._served(scope, receive, send)
        except ConnectionCut:
            self.transport.close()
            while (await receive())["type"] != "http.disconnect":
                pass


class _ImpatientProtocol(_BreakableProtocol):
    limits: ClassVar[ConnectionPatience]
    first_words: ClassVar[FirstWords]
    _corked: CorkedTransport
    _head: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._corked = CorkedTransport(transport, self.loop)
        super().connection_made(cast(asyncio.Transport, self._corked))
        # Nothing is buffered here but the piece that is being sent, so a client that does not read is noticed, and
        # whoever makes the answer waits for it.
        transport.set_write_buffer_limits(high=0)
        self._wait_for_head()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _LENGTHS.issubset(name for name, _ in scope["headers"]):
            for message in _REFUSED:
                await send(message)
            return
        await self.first_words.hasten(partial(super()._serve, scope, receive), send, self._corked)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._head is None and self.conn.trailing_data[0]:
            self._wait_for_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        super().resume_writing()

    def _wait_for_reader(self) -> None:
        self._reading = self.loop.call_later(
            self.limits.reading, self._check_reader, self.transport.get_write_buffer_size()
        )

    def _check_reader(self, before: int) -> None:
        """Go on waiting for a client that has read something of the `before` bytes since the last time."""
        if self.transport.get_write_buffer_size() < before:
            self._wait_for_reader()
        else:
            self.transport.abort()

    def _wait_for_head(self) -> None:
        self._head = self.loop.call_later(self.limits.head, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _give_up(self) -> None:
        if self.conn.trailing_data[0] and not self.transport.is_closing():
            self.transport.write(_NO_HEAD)
        self.transport.close()
