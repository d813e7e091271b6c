"""The gateway as an ASGI application: what an HTTP server hands over in, what the gateway answers out.

    any path of an API          the gateway's answer; any prefix may stand before it
    /healthz                    whether the process lives
    /readyz                     whether it takes requests now
    /legato/requests/{id}       what was done to a request, for whoever sent it

What happens beside an answer while it is on its way (signs of life, clients that leave) is the business of `serving`.
The pages of the gateway itself are a Starlette application. The APIs have no routes in it: any path may lead to one,
and each has its own way to say that it is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

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
from legato.gateway.contract import KeptWaiting
from legato.gateway.gatekeeper import Gatekeeper
from legato.gateway.gateway import Gateway
from legato.gateway.limits import Meter
from legato.gateway.operator_settings import FIRST_SIGN, MOST_AT_ONCE
from legato.gateway.refusals import TurnedAway, refusal
from legato.gateway.reports import RequestReport
from legato.gateway.surfaces import door_or_any
from legato.gateway.uploads import UploadLimits, Uploads
from legato.gateway.web_pages import preflight, readable_by
from legato.serving.contract import ConnectionCut, is_upgrade
from legato.serving.exchange import Begin, Sending, converse, head_of
from legato.transport.contract import Ask, WireResponse
from legato.transport.operations import Operation
from legato.wire.hosting import RefusalReason

_OWN = re.compile(r"/(?:healthz|readyz|legato/requests/[^/]+)")
"""the paths of the gateway itself"""

GONE = 499
"""the status in the log for a client that went away before it got one"""


class AppLimits(Struct, frozen=True, kw_only=True):
    """How much a gateway takes on."""

    requests: int = MOST_AT_ONCE
    """at the same time"""
    uploads: UploadLimits = UploadLimits()
    first_sign: float = FIRST_SIGN
    """seconds after which a stream begins although nobody has said anything"""
    keep_alive: float = 15.0
    """the longest silence in a stream, in seconds"""


class Served(Struct, kw_only=True):
    """One request when it is done: what was asked, what it was answered with, and how long that took."""

    ask: Ask
    """without its body"""
    tenant: str = ""
    status: int = GONE
    is_cut: bool = False
    """whether the answer broke off"""
    seconds: float = 0.0
    refused: str = ""
    """why it was refused before the gateway did anything"""
    report: RequestReport | None = None
    """what the gateway did; None if the request did not get that far"""

    def begin(self, status: int) -> None:
        """The client gets a response with this status."""
        self.status = status


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
        self.limits = limits or AppLimits()
        self._meter = meter or Meter(clock=gateway.world.monotonic)
        self._uploads = Uploads(self.limits.uploads)
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
        self._own = Starlette(routes=routes, exception_handlers={Exception: _apologise})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":  # also a WebSocket, which Starlette closes; our own server asks over HTTP
            await self._own(scope, receive, send)
            return
        ask = head_of(scope)
        send = readable_by(ask, self._keeper, send)
        allowed = preflight(ask, self._keeper)
        if allowed is not None:
            await Response(status_code=204, headers=allowed)(scope, receive, send)
        elif _OWN.fullmatch(ask.path.removeprefix(scope.get("root_path", ""))):
            await self._own(scope, receive, send)
        else:
            await self._serve(ask, Request(scope, receive), send)

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
        ask = head_of(request.scope)
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

    async def _serve(self, ask: Ask, request: Request, send: Send) -> None:
        served, began = Served(ask=ask), self._gateway.world.monotonic()
        self._running += 1
        aborted = anyio.CancelScope()
        self._serving.add(aborted)
        try:
            with aborted:
                await self._exchange(served, request, send)
            if aborted.cancelled_caught:
                served.is_cut = True
                raise ConnectionCut("the gateway was ended")
        except ClientDisconnect:
            return  # before its request was whole
        except Exception as error:
            if served.status == GONE:
                begun = None if isinstance(error, ConnectionCut) else served.begin  # who ends it leaves no status
                await Sending(send, begun).all(_apology(ask, error))
            raise
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
            upload = stack.enter_context(self._uploads.upload(served.ask))
            try:
                body = await upload.read(request.stream(), refused)
            except TurnedAway as error:
                served.refused = error.message
                response = refusal(error, door_or_any(served.ask))
                headers = {**response.headers, "connection": "close"}  # whatever may still come is not read any more
                await Sending(send, served.begin).all(msgspec.structs.replace(response, headers=headers))
            else:
                await self._answer(served, body, request, send)

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
        request_id, waits = self._gateway.new_request_id(), self.limits.first_sign

        async def answer(begin: Begin) -> WireResponse:
            waiting = KeptWaiting(waits, begin)
            return await self._gateway.answer(ask, tenant=served.tenant, request_id=request_id, waiting=waiting)

        try:
            await converse(request, send, answer, begun=served.begin, silence=self.limits.keep_alive)
        except ConnectionCut:
            served.is_cut = True
            raise
        finally:  # the report is known when the last of the answer was given back
            served.report = self._gateway.reports.find(request_id, served.tenant)

    def _admit(self, ask: Ask) -> str:
        tenant = self._keeper.admit(ask)
        if is_upgrade(ask):
            message = "there is no WebSocket here; send the request over HTTP, and the answer will be streamed"
            raise TurnedAway(message, reason=RefusalReason.METHOD, status=426)
        coding = ask.headers.get("content-encoding", "")
        if coding.lower() not in ("", "identity"):
            message = f"bodies have to be sent as they are, and not as {coding}"
            raise TurnedAway(message, reason=RefusalReason.SHAPE, status=415)
        if busy := self._busy(also=-1):
            raise TurnedAway(f"the gateway is {busy}; ask again", reason=RefusalReason.OVERLOADED, retry_after=1)
        return tenant

    def _busy(self, *, also: int = 0) -> str:
        """Why no request is taken now, apart from the `also` that is being asked about; empty if one is."""
        if self._is_stopping:
            return "stopping"
        return "busy" if self._running + also >= self.limits.requests else ""


async def _apologise(request: Request, error: Exception) -> Response:
    return await _whole(_apology(head_of(request.scope), error))


def _apology(ask: Ask, error: Exception) -> WireResponse:
    """Tells a client, in its own words, of what should not have happened; the server logs it as well."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    if isinstance(error, ConnectionCut):
        fault = TurnedAway("the answer broke off before it had begun", reason=RefusalReason.UPSTREAM)
    else:
        fault = OurFault(f"an unexpected {type(error).__name__}, which is in the log of the gateway")
    return refusal(fault, door_or_any(ask))


async def _whole(response: WireResponse) -> Response:
    body = b"".join([chunk async for chunk in response.chunks])
    return Response(body, status_code=response.status, headers=dict(response.headers))
