"""Simulated providers as an ASGI application: what an HTTP server hands over in, what a provider replies out.

    /                     where each provider is
    /openai/v1/...        that provider, as far as it is simulated; its own way to say that something is not there

A reply says how it reaches the other side: after which wait, at which pace, and whether the connection breaks off.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import msgspec
from msgspec.structs import replace
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from legato.model import JsonObject
from legato.serving.contract import LARGEST_BODY, ConnectionCut
from legato.serving.exchange import Begin, converse, head_of, read_body
from legato.simulation.contract import Manner, Reply
from legato.simulation.pace import pause_between
from legato.simulation.world import SimulatedWorld
from legato.transport.contract import Ask, WireResponse
from legato.wire.hosting import RefusalReason


class SimulationApp:
    """Serves the providers of `world`, each under its own base path; `urls` is what the first page says of them.

    `pace` is how many pieces of a streamed answer are sent in a second; without it they leave in one burst.
    """

    def __init__(self, world: SimulatedWorld, urls: Mapping[str, str], *, pace: float | None = None) -> None:
        self._world = world
        self._urls = urls
        self._pause = pause_between(pace)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":  # an ASGI server that knows WebSockets; ours asks over HTTP and is told 426
            await send({"type": "websocket.close"})
            return
        request, ask = Request(scope, receive), head_of(scope)
        try:
            body = await read_body(request, LARGEST_BODY)
        except ClientDisconnect:
            return  # before its request was whole

        async def answer(_: Begin) -> WireResponse:
            return self._response(self._safe_reply(ask, body))

        await converse(request, send, answer)

    def _safe_reply(self, ask: Ask, body: bytes | None) -> Reply:
        try:
            return self._reply(ask, body)
        except Exception as error:  # noqa: BLE001 - one request must not end a server, be it the fault of the simulation
            told = f"the simulation failed on this request ({type(error).__name__}); please report it"
            return _plain(500, {"error": {"message": told}})

    def _reply(self, ask: Ask, body: bytes | None) -> Reply:
        provider = self._world.locate(ask.path, ask.method)
        if provider is not None:
            if body is None:
                return self._world.refuse(provider, ask, RefusalReason.TOO_LARGE)
            return self._world.reply(provider, replace(ask, body=body))
        if ask.path == "/":
            return _plain(200, {"base_urls": self._urls})
        return _plain(404, {"error": {"message": f"no provider listens at {ask.path}"}, "base_urls": self._urls})

    def _response(self, reply: Reply) -> WireResponse:
        """`reply` as a response. A body that breaks off is announced as whole: that is how the client notices."""
        if reply.manner is Manner.NOT_AT_ALL:
            raise ConnectionCut("nothing is said at all")
        headers = dict(reply.headers)
        if reply.is_stream:
            headers["cache-control"] = "no-cache"
        else:
            headers["content-length"] = str(len(reply.body) + (reply.manner is Manner.BREAKS_OFF))
        return WireResponse(reply.status, headers, self._chunks(reply))

    async def _chunks(self, reply: Reply) -> AsyncIterator[bytes]:
        if reply.wait:
            await self._world.sleep(reply.wait)
        for number, chunk in enumerate(reply.chunks):
            if number and self._pause:
                await self._world.sleep(self._pause)
            yield chunk
        if reply.manner is Manner.BREAKS_OFF:
            raise ConnectionCut("the answer breaks off")


def _plain(status: int, body: JsonObject) -> Reply:
    return Reply(status=status, headers={"content-type": "application/json"}, chunks=(msgspec.json.encode(body),))
