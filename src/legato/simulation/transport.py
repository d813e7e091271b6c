"""Simulated providers behind the seam of `transport`, without a socket.

In:  a `WireRequest`.
Out: a `WireResponse`, or the error that the transport with sockets would raise.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio.lowlevel

from legato.errors import BadAnswer, ProviderError, TimedOut, Unreachable
from legato.simulation.contract import Manner, Reply
from legato.simulation.pace import pause_between
from legato.simulation.world import Seen, SimulatedWorld
from legato.transport import Timeouts, WireRequest, WireResponse
from legato.transport.contract import Ask


class SimulatedTransport:
    """Carries requests to the providers of a world.

    `pace` is how many pieces of a streamed answer arrive in a second; without it they arrive in one burst. Waiting
    longer than `timeouts` allows is an error here too.
    """

    def __init__(
        self, world: SimulatedWorld | None = None, *, timeouts: Timeouts | None = None, pace: float | None = None
    ) -> None:
        self.world = world or SimulatedWorld()
        self.timeouts = timeouts or Timeouts()
        self._pause = pause_between(pace)

    @property
    def requests(self) -> list[Seen]:
        """Every request that was sent, in order, with the verdict on it."""
        return self.world.requests

    @property
    def refusals(self) -> list[Seen]:
        """The requests that a provider refused because they were not in order."""
        return self.world.refusals

    async def send(self, request: WireRequest) -> WireResponse:
        """Ask the provider of the request's target; every wait is a point at which the caller may be cancelled."""
        await anyio.lowlevel.checkpoint()
        provider = self.world.provider(request.target.provider, request.target)
        reply = self.world.reply(provider, _ask(request))
        if reply.manner is Manner.NOT_AT_ALL:
            raise _unreachable(request)
        return WireResponse(reply.status, reply.headers, self._chunks(reply, request), timeouts=self.timeouts)

    async def _chunks(self, reply: Reply, request: WireRequest) -> AsyncIterator[bytes]:
        await self._wait(reply.wait, request, limit=self.timeouts.first_byte, phase="first byte")
        for number, chunk in enumerate(reply.chunks):
            if number:
                await self._wait(self._pause, request, limit=self.timeouts.between_chunks, phase="between chunks")
            yield chunk
        if reply.manner is Manner.BREAKS_OFF:
            raise _broken(request) if reply.chunks else _unreachable(request)

    async def _wait(self, seconds: float, request: WireRequest, *, limit: float | None, phase: str) -> None:
        """Let `seconds` pass; raises `TimedOut` when `limit` comes first."""
        if not seconds:
            await anyio.lowlevel.checkpoint()
            return
        await self.world.sleep(seconds if limit is None else min(seconds, limit))
        if limit is not None and seconds > limit:
            raise TimedOut(
                f"{request.route} was silent for longer than {limit:g} seconds ({phase}); try again, or allow "
                "more time",
                phase=phase,
                limit=limit,
                **_facts(request),
            )


def _ask(request: WireRequest) -> Ask:
    url = urlsplit(request.url)
    return Ask(
        method=request.method,
        path=unquote(url.path),
        query=dict(parse_qsl(url.query)),
        headers={name.lower(): value for name, value in request.sent_headers().items()},
        body=request.body,
    )


def _facts(request: WireRequest) -> dict[str, str]:
    return {"route": request.route, "place": request.place, "layer": "transport"}


def _unreachable(request: WireRequest) -> ProviderError:
    return Unreachable(
        f"{request.route} cannot be reached at {request.place} (simulated); check the network and the endpoint",
        **_facts(request),
    )


def _broken(request: WireRequest) -> ProviderError:
    return BadAnswer(
        f"the answer of {request.route} broke off: the connection to {request.place} failed (simulated)",
        **_facts(request),
    )
