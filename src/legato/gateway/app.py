"""The gateway as an ASGI application: what an HTTP server hands over in, what the gateway answers out.

    any path of an API          the gateway's answer; any prefix may stand before it
    /healthz                    whether the process lives
    /readyz                     whether it takes requests now
    /legato/requests/{id}       what was done to a request, for whoever sent it

While an answer is on its way three things may happen beside it. If nothing comes for a while, the client gets a sign of
life in the form of its dialect. If the client goes away, whoever works on the answer is stopped. And if the answer
breaks off, so does the connection: a stream that ended in order would be taken for a whole answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any, cast
from urllib.parse import parse_qsl

import anyio
import msgspec
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from legato.diagnostics import Redactor
from legato.errors import OurFault
from legato.gateway.contract import LARGEST_BODY, ConnectionCut, give_back
from legato.gateway.gatekeeper import Gatekeeper
from legato.gateway.gateway import REQUEST_HEADER, Gateway
from legato.gateway.limits import Meter
from legato.gateway.operator_settings import MOST_AT_ONCE
from legato.gateway.refusals import TurnedAway, refusal, too_large
from legato.gateway.reports import RequestReport
from legato.gateway.surfaces import door_or_any, is_upgrade
from legato.transport.contract import Ask, WireResponse
from legato.transport.operations import Operation
from legato.wire.hosting import RefusalReason

_THROWN_AWAY = 4
"""times the largest body: so much of one that is refused is read and dropped"""

GONE = 499
"""the status in the log for a client that went away before it got one"""


class AppLimits(Struct, frozen=True, kw_only=True):
    """How much a gateway takes on. `keep_alive` is the longest silence in a stream, in seconds."""

    requests: int = MOST_AT_ONCE
    body: int = LARGEST_BODY
    keep_alive: float = 15.0


class Served(Struct, kw_only=True):
    """One request when it is done: what was asked, what it was answered with, and how long that took."""

    ask: Ask
    """without its body"""
    tenant: str = ""
    status: int = GONE
    is_cut: bool = False
    """whether the answer broke off"""
    seconds: float = 0.0
    report: RequestReport | None = None
    """what the gateway did; None if the request did not get that far"""


class GatewayApp:
    """Serves `gateway` to whomever `keeper` admits, as much as `meter` allows.

    `finished` is told of every request when it is done; `simulated` says that answers cost nothing.
    """

    def __init__(
        self,
        gateway: Gateway,
        *,
        keeper: Gatekeeper | None = None,
        limits: AppLimits | None = None,
        meter: Meter | None = None,
        simulated: bool = False,
        finished: Callable[[Served], None] | None = None,
    ) -> None:
        self._gateway = gateway
        self._keeper = keeper or Gatekeeper()
        self._limits = limits or AppLimits()
        self._meter = meter or Meter(clock=gateway.world.monotonic)
        self._finished = finished
        self._simulated = simulated
        self._running = 0
        self._is_stopping = False
        self._serving: set[anyio.CancelScope] = set()
        routes = [
            Route("/healthz", self._healthz),
            Route("/readyz", self._readyz),
            Route("/legato/requests/{id}", self._report),
        ]
        self._app = Starlette(routes=routes, exception_handlers={Exception: _apologise})
        self._app.router.redirect_slashes = False
        self._app.router.default = self._serve  # whatever the path is: APIs have their own way to say that it is wrong

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)

    def stop(self) -> None:
        """Take no more requests; those that run go on to their end."""
        self._is_stopping = True

    def abort(self) -> None:
        """End those that run, in the middle of their answers."""
        self._is_stopping = True
        for scope in self._serving:
            scope.cancel()

    # --- about the gateway itself -------------------------------------------------------------------------------------

    async def _healthz(self, _: Request) -> Response:
        return JSONResponse({"status": "ok", "simulated": self._simulated})

    async def _readyz(self, _: Request) -> Response:
        busy = self._busy()
        return JSONResponse({"status": busy or "ready"}, status_code=503 if busy else 200)

    async def _report(self, request: Request) -> Response:
        ask = _head(request.scope)
        try:
            tenant = self._keeper.admit(ask)
            report = await self._gateway.report(request.path_params["id"], tenant)
            if report is None:
                raise TurnedAway("there is no report under this id", reason=RefusalReason.PATH)
        except TurnedAway as error:
            return await _whole(refusal(error, door_or_any(ask)))
        told: dict[str, Any] = {**msgspec.to_builtins(report), "route": report.route}
        return JSONResponse(Redactor().value(told))

    # --- answers ------------------------------------------------------------------------------------------------------

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # an ASGI server that knows WebSockets; ours asks over HTTP and is told 426
            await send({"type": "websocket.close"})
            return
        served, began = Served(ask=_head(scope)), self._gateway.world.monotonic()
        self._running += 1
        aborted = anyio.CancelScope()
        self._serving.add(aborted)
        try:
            with aborted:
                await self._exchange(served, Request(scope, receive), send)
            if aborted.cancelled_caught:
                served.is_cut = True
                raise ConnectionCut("the gateway was ended")
        except ClientDisconnect:
            return  # before its request was whole
        finally:
            self._serving.discard(aborted)
            self._running -= 1
            served.seconds = self._gateway.world.monotonic() - began
            if self._finished is not None:
                self._finished(served)

    async def _exchange(self, served: Served, request: Request, send: Send) -> None:
        with ExitStack() as stack:
            refused: TurnedAway | None = None
            try:
                served.tenant = self._admit(served.ask)
                stack.enter_context(self._metered(served))
            except TurnedAway as error:
                refused = error
            # Also what is refused is read to its end: few clients look at a response before they have sent everything.
            body = await self._read(request, 0 if refused else self._limits.body)
            if refused is None and body is not None:
                await self._answer(served, body, request, send)
                return
            response = refusal(refused or too_large(self._limits.body), door_or_any(served.ask))
            headers = {**response.headers, "connection": "close"}  # whatever may still come is not read any more
            await _Sending(served, msgspec.structs.replace(response, headers=headers), send).all()

    @contextmanager
    def _metered(self, served: Served) -> Generator[None]:
        """Counts a request that asks for an answer; raises `TurnedAway` if it has to wait."""
        if door_or_any(served.ask).operation not in (Operation.ANSWER, Operation.COMPACT):
            yield
            return
        self._meter.begin(served.tenant)
        try:
            yield
        finally:
            self._meter.end(served.tenant, served.report.tokens if served.report is not None else 0)

    async def _answer(self, served: Served, body: bytes, request: Request, send: Send) -> None:
        ask = self._keeper.without_own_keys(msgspec.structs.replace(served.ask, body=body))
        cut: ConnectionCut | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_when_gone, request.receive, group.cancel_scope)
            try:
                response = await self._gateway.answer(ask, tenant=served.tenant)
                sending = _Sending(served, response, send)
                try:
                    if response.keep_alive:
                        group.start_soon(sending.keep_alive, self._limits.keep_alive)
                    await sending.all()
                finally:
                    # The report is known when the last of the answer was given back.
                    await give_back(response)
                    served.report = self._gateway.reports.find(response.headers.get(REQUEST_HEADER, ""), served.tenant)
            except ConnectionCut as error:  # told below: a task group would wrap it
                cut, served.is_cut = error, True
            group.cancel_scope.cancel()
        if cut is not None:
            raise cut

    def _admit(self, ask: Ask) -> str:
        tenant = self._keeper.admit(ask)
        if is_upgrade(ask):
            message = "there is no WebSocket here; send the request over HTTP, and the answer will be streamed"
            raise TurnedAway(message, reason=RefusalReason.METHOD, status=426)
        coding = ask.headers.get("content-encoding", "identity")
        if coding != "identity":
            message = f"bodies have to be sent as they are, and not as {coding}"
            raise TurnedAway(message, reason=RefusalReason.SHAPE, status=415)
        if busy := self._busy(also=-1):
            raise TurnedAway(f"the gateway is {busy}; ask again", reason=RefusalReason.OVERLOADED, retry_after=1)
        return tenant

    def _busy(self, *, also: int = 0) -> str:
        """Why no request is taken now, apart from the `also` that is being asked about; empty if one is."""
        if self._is_stopping:
            return "stopping"
        return "busy" if self._running + also >= self._limits.requests else ""

    async def _read(self, request: Request, most: int) -> bytes | None:
        """The body of `request`; None if it has more bytes than `most`."""
        size, body = 0, bytearray()
        async for piece in request.stream():
            size += len(piece)
            if size <= most:
                body += piece
            elif size > self._limits.body * _THROWN_AWAY:
                break
        return bytes(body) if size <= most else None


class _Sending:
    """A response on its way to the client: pieces, and signs of life between them."""

    def __init__(self, served: Served, response: WireResponse, send: Send) -> None:
        self._served = served
        self._response = response
        self._send = send
        self._turn = anyio.Lock()
        self._last = anyio.current_time()
        self._is_open = False

    async def all(self) -> None:
        """Send the head and the body to its end; raises `ConnectionCut` where the body has none."""
        head = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._response.headers.items()]
        await self._send({"type": "http.response.start", "status": self._response.status, "headers": head})
        self._served.status = self._response.status
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


async def _apologise(request: Request, error: Exception) -> Response:
    """Tell a client, in its own words, of what should not have happened; the server logs it as well."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    if isinstance(error, ConnectionCut):
        fault = TurnedAway("the answer broke off before it had begun", reason=RefusalReason.UPSTREAM)
    else:
        fault = OurFault(f"an unexpected {type(error).__name__}, which is in the log of the gateway")
    return await _whole(refusal(fault, door_or_any(_head(request.scope))))


async def _whole(response: WireResponse) -> Response:
    body = b"".join([chunk async for chunk in response.chunks])
    return Response(body, status_code=response.status, headers=dict(response.headers))


def _head(scope: Scope) -> Ask:
    """A request without its body."""
    headers = cast("list[tuple[bytes, bytes]]", scope["headers"])
    return Ask(
        method=scope["method"],
        path=scope["path"],
        query=dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        headers={name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers},
        body=b"",
    )
