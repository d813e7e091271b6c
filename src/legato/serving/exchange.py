"""One request over ASGI: its head and its body in, a response out, for as long as the client is there.

While an answer is on its way three things may happen beside it. If nothing comes for a while, the client gets a sign of
life in the form of its dialect. If the client goes away, whoever works on the answer is stopped. And if the answer
breaks off, so does the connection: a stream that ended in order would be taken for a whole answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import parse_qsl

import anyio
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from legato.serving.contract import ConnectionCut, give_back
from legato.transport.contract import Ask, WireResponse

_THROWN_AWAY = 4
"""times the largest body: so much of one that is refused is read and dropped"""


def head_of(scope: Scope) -> Ask:
    """A request without its body."""
    headers = cast("list[tuple[bytes, bytes]]", scope["headers"])
    return Ask(
        method=scope["method"],
        path=scope["path"],
        query=dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers},
        body=b"",
    )


async def read_body(request: Request, largest: int, *, is_wanted: bool = True) -> bytes | None:
    """The body of `request`; None if it has more bytes than `largest`, or is not wanted and not empty.

    Also what is refused is read to its end: few clients look at a response before they have sent everything.
    """
    most, size, body = largest if is_wanted else 0, 0, bytearray()
    async for piece in request.stream():
        size += len(piece)
        if size <= most:
            body += piece
        elif size > largest * _THROWN_AWAY:
            break
    return bytes(body) if size <= most else None


async def converse(
    request: Request,
    send: Send,
    answer: Callable[[], Awaitable[WireResponse]],
    *,
    begun: Callable[[int], None] | None = None,
    silence: float = 0.0,
) -> None:
    """Send what `answer` gives, unless the client goes away; raises `ConnectionCut` where that has to break off.

    `begun` is told the status once it is sent. A stream that knows a sign of life gives it after every `silence`, in
    seconds.
    """
    cut: ConnectionCut | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_when_gone, request.receive, group.cancel_scope)
        try:
            response = await answer()
            sending = Sending(response, send, begun)
            try:
                if response.keep_alive:
                    group.start_soon(sending.keep_alive, silence)
                await sending.all()
            finally:
                await give_back(response)
        except ConnectionCut as error:  # told below: a task group would wrap it
            cut = error
        group.cancel_scope.cancel()
    if cut is not None:
        raise cut


class Sending:
    """A response on its way to the client: pieces, and signs of life between them. `begun` is told the status."""

    def __init__(self, response: WireResponse, send: Send, begun: Callable[[int], None] | None = None) -> None:
        self._response = response
        self._send = send
        self._begun = begun
        self._turn = anyio.Lock()
        self._last = anyio.current_time()
        self._is_open = False

    async def all(self) -> None:
        """Send the head and the body to its end; raises `ConnectionCut` where the body has none."""
        head = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._response.headers.items()]
        await self._send({"type": "http.response.start", "status": self._response.status, "headers": head})
        if self._begun is not None:
            self._begun(self._response.status)
        self._is_open = True
        async for piece in self._response.chunks:
            await self._piece(piece)
        async with self._turn:
            self._is_open = False
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def keep_alive(self, every: float) -> None:
        """Send a sign of life whenever nothing was sent for `every` seconds, until this is cancelled."""
        while True:
            due = self._last + every
            await anyio.sleep_until(due)
            if self._last + every <= due and self._is_open:
                await self._piece(self._response.keep_alive)

    async def _piece(self, piece: bytes) -> None:
        async with self._turn:
            if self._is_open:
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
                self._last = anyio.current_time()


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
