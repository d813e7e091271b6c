"""One request over ASGI: its head and its body in, a response out, for as long as the client is there.

While an answer is on its way three things may happen beside it. If nothing comes for a while, the client gets a sign of
life in the form of its dialect, and before that the head of its stream. If the client goes away, whoever works on the
answer is stopped. And if the answer breaks off, so does the connection: a stream that ended in order would be taken for
a whole answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias, cast
from urllib.parse import parse_qsl

import anyio
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from legato.serving.contract import ConnectionCut, give_back
from legato.transport.contract import Ask, WireResponse

Begin: TypeAlias = Callable[[WireResponse], Awaitable[None]]
"""sends the head of a response, and signs of life from then on"""

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
    answer: Callable[[Begin], Awaitable[WireResponse]],
    *,
    begun: Callable[[int], None] | None = None,
    silence: float = 0.0,
) -> None:
    """Send what `answer` gives, unless the client goes away; raises `ConnectionCut` where that has to break off.

    `answer` may let the response begin before it gives it. `begun` is told the status once it is sent. A stream that
    knows a sign of life gives it after every `silence`, in seconds.
    """
    cut: ConnectionCut | None = None
    sending = Sending(send, begun)
    async with anyio.create_task_group() as group:

        async def begin(response: WireResponse) -> None:
            await sending.begin(response)
            if response.keep_alive:
                sending.sign = response.keep_alive
                group.start_soon(sending.keep_alive, silence)

        group.start_soon(_cancel_when_gone, request.receive, group.cancel_scope)
        try:
            response = await answer(begin)
            try:
                if not sending.is_begun:
                    await begin(response)
                sending.sign = response.keep_alive  # a response that began early may want none of them inside
                await sending.all(response)
            finally:
                await give_back(response)
        except ConnectionCut as error:  # told below: a task group would wrap it
            cut = error
        group.cancel_scope.cancel()
    if cut is not None:
        raise cut


class Sending:
    """A response on its way to the client: its head, its pieces, and signs of life between them.

    `begun` is told its status when the head is out.
    """

    def __init__(self, send: Send, begun: Callable[[int], None] | None = None) -> None:
        self._send = send
        self._begun = begun
        self._turn = anyio.Lock(fast_acquire=True)  # else others get a turn after each piece, which then goes out alone
        self._last = anyio.current_time()
        self.is_begun = False
        self.sign = b""
        """what the client passes over while it waits; empty: it is given none"""
        self._is_open = False
        """whether pieces may follow"""

    async def begin(self, response: WireResponse) -> None:
        """Send the head of `response`, once."""
        if self.is_begun:
            return
        head = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.items()]
        await self._send({"type": "http.response.start", "status": response.status, "headers": head})
        self.is_begun = self._is_open = True
        self._last = anyio.current_time()
        if self._begun is not None:
            self._begun(response.status)

    async def all(self, response: WireResponse) -> None:
        """Send `response` to its end; raises `ConnectionCut` where its body has none."""
        await self.begin(response)
        async for piece in response.chunks:
            await self._piece(piece)
        async with self._turn:
            self._is_open = False
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def keep_alive(self, every: float) -> None:
        """Send `sign` whenever nothing was sent for `every` seconds, until this is cancelled or there is none."""
        while self.sign:
            due = self._last + every
            await anyio.sleep_until(due)
            if self.sign and self._last + every <= due:
                await self._piece(self.sign)

    async def _piece(self, piece: bytes) -> None:
        async with self._turn:
            if self._is_open:
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
                self._last = anyio.current_time()


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
