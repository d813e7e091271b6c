"""The only sockets: requests over HTTP, with limits on waiting.

In:  a `WireRequest`.
Out: a `WireResponse` whose chunks arrive as the provider sends them.

Proxies (`HTTPS_PROXY`, `NO_PROXY`, ...) and a custom authority (`SSL_CERT_FILE`, `SSL_CERT_DIR`) are taken from the
environment; the authorities are read when something is first sent over TLS, and a local server without it never waits
for them. Nothing of one request reaches another but the connection: cookies are refused, redirects are not followed
(a redirect would carry the key to a host that no one named), and no netrc is read. Whoever cancels a request closes
its connection, so that the provider stops working for no one.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from legato.errors import BadAnswer, CallerError, ConfigError, ProviderError, TimedOut, Unreachable
from legato.transport.alarm import Alarm
from legato.transport.contract import Timeouts, WireResponse
from legato.transport.keys import missing_key, unfilled_place
from legato.transport.outgoing import WireRequest
from legato.transport.unpacking import ACCEPTED, unpacker_for
from legato.wire.bounds import Bounds

if TYPE_CHECKING:
    import ssl

    import httpx2

_CLOSING = 2.0
"""seconds that giving back a connection may take; it is shielded from cancellation, so it must have an end"""

FIRST = 3
"""pieces that are handed over one by one: our choice, about as many as come until the first words"""

AHEAD = 64 * 1024
"""bytes of an answer that are read before they are asked for: our choice, as much as `intake` decodes in one go"""


_URLS = 100
"""that stay parsed: our choice, more than a program has routes"""


class HttpTransport:
    """Sends requests over HTTP/1.1 with a pool of connections; `aclose`, or leaving `async with`, closes them."""

    def __init__(
        self,
        timeouts: Timeouts | None = None,
        *,
        bounds: Bounds | None = None,
        connections: int = 100,
        idle_for: float = 30.0,
    ) -> None:
        """`timeouts` and `bounds` limit every answer, in time and in size. `connections` bounds the pool; a connection
        that was idle for `idle_for` seconds is not used again.
        """
        self.timeouts = timeouts or Timeouts()
        self.bounds = bounds or Bounds()
        self._connections = connections
        self._idle_for = idle_for
        self._clients: dict[tuple[int, bool], httpx2.AsyncClient] = {}
        """by process and by whether they speak TLS; made when they are needed, since it takes a while and many a run
        never sends. A forked child neither uses nor closes what its parent has open: both would write to one socket"""

    async def send(self, request: WireRequest) -> WireResponse:
        """Send `request`; the response begins when its headers are here."""
        if (unfilled := unfilled_place(request.target)) is not None:
            raise unfilled
        if not request.secrets and (missing := missing_key(request.target)) is not None:
            raise missing
        import httpx2

        is_secure = not request.url.lower().startswith("http:")
        client = self._clients.get((os.getpid(), is_secure)) or self._open(is_secure)
        failure: ProviderError | CallerError
        started = anyio.current_time()
        with anyio.move_on_after(self.timeouts.first_byte):
            try:
                response = await client.send(_built(request), stream=True)
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                failure = _failure(error, request, began=False)
            else:
                chunks = _Chunks(response, request, self.timeouts, started)
                return WireResponse(
                    response.status_code, dict(response.headers), chunks, chunks.aclose, self.timeouts, self.bounds
                )
            # Not from the handler above: the client's own error holds the request with its headers.
            raise failure
        raise _timed_out(request, "first byte", self.timeouts.first_byte)

    async def aclose(self) -> None:
        """Close every connection."""
        own = {place: client for place, client in self._clients.items() if place[0] == os.getpid()}
        self._clients = {place: client for place, client in self._clients.items() if place not in own}
        for client in own.values():
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _open(self, is_secure: bool) -> httpx2.AsyncClient:
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        import httpx2

        try:
            client = self._clients[os.getpid(), is_secure] = httpx2.AsyncClient(
                verify=is_secure or _nobody(),
                trust_env=True,
                follow_redirects=False,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                timeout=httpx2.Timeout(
                    connect=self.timeouts.connect, read=None, write=None, pool=self.timeouts.connect
                ),
                limits=httpx2.Limits(
                    max_connections=self._connections,
                    max_keepalive_connections=self._connections,
                    keepalive_expiry=self._idle_for,
                ),
            )
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            raise ConfigError(
                "the proxy or certificate settings of the environment cannot be used "
                f"({type(error).__name__}); check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
            ) from None
        return client


def _built(request: WireRequest) -> httpx2.Request:
    """`request` as the client sends it: its headers are all that it has, and nothing is merged with the client's."""
    import httpx2

    headers = {"accept-encoding": ACCEPTED, **request.sent_headers()}
    return httpx2.Request(request.method, _parsed(request.url), headers=headers, content=request.body)


@lru_cache(_URLS)
def _parsed(url: str) -> httpx2.URL:
    import httpx2

    return httpx2.URL(url)


def _nobody() -> ssl.SSLContext:
    """Whom a client trusts that speaks no TLS, should it ever: no one. A proxy over TLS brings its own context."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class _Chunks:
    """The body of one response, unpacked, piece by piece; each wait has its limit.

    Behind the first pieces a task of its own reads, as far ahead as there is room: what came in one packet is then one
    piece here, in however many the server wrote it, and the work on it is done once. The HTTP client would unpack too,
    but how much in one go depends on its version.
    """

    def __init__(self, response: httpx2.Response, request: WireRequest, timeouts: Timeouts, started: float) -> None:
        self._response = response
        self._request = request
        self._timeouts = timeouts
        self._started = started
        self._pieces: AsyncGenerator[bytes, None] = response.aiter_raw()
        self._first = FIRST
        """how many are still to be read one by one"""
        self._reading: asyncio.Task[None] | None = None
        self._arrived: list[bytes] = []
        """what was read and not yet taken"""
        self._room = AHEAD
        """bytes that may still be read before some are taken"""
        self._news, self._taken = asyncio.Event(), asyncio.Event()
        self._unpack: Callable[[bytes], Iterator[bytes]] | None = None
        self._unpacked: Iterator[bytes] = iter(())
        """what the last piece from the network still holds"""
        self._began = False
        self._alarm = Alarm()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        import httpx2

        failure: ProviderError | CallerError | None = None
        with self._alarm.at(self._due()):
            try:
                return await self._next()
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                failure = _failure(error, self._request, began=self._began)
            except BadAnswer as error:
                failure = _unusable(error, self._request)
        if failure is None:
            limit = self._timeouts.between_chunks if self._began else self._timeouts.first_byte
            failure = _timed_out(self._request, "between chunks" if self._began else "first byte", limit)
        raise failure

    async def _next(self) -> bytes:
        while (piece := next(self._unpacked, None)) is None:
            packed = await self._packet()
            self._began = True
            self._unpack = self._unpack or unpacker_for(self._response.headers.get("content-encoding", ""))
            self._unpacked = self._unpack(packed)
        return piece

    async def _packet(self) -> bytes:
        """All that is here; raises what ended it once that was given out, `StopAsyncIteration` at the end."""
        if self._reading is None:
            piece = await anext(self._pieces)
            self._first -= 1
            if not self._first:
                self._reading = asyncio.create_task(self._read())
            return piece
        while not self._arrived:
            if self._reading.done():
                self._reading.result()
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        packet = self._arrived[0] if len(self._arrived) == 1 else b"".join(self._arrived)
        self._arrived.clear()
        self._room = AHEAD
        self._taken.set()
        return packet

    async def _read(self) -> None:
        try:
            async for piece in self._pieces:
                self._arrived.append(piece)
                self._room -= len(piece)
                self._news.set()
                while self._room <= 0:
                    self._taken.clear()
                    await self._taken.wait()
        finally:
            self._news.set()

    def _due(self) -> float:
        """When the next piece has to be there."""
        since = self._alarm.now() if self._began else self._started
        limit = self._timeouts.between_chunks if self._began else self._timeouts.first_byte
        return math.inf if limit is None else since + limit

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        self._alarm.close()
        with anyio.move_on_after(_CLOSING, shield=True):
            if self._reading is not None:
                self._reading.cancel()
                await asyncio.wait([self._reading])
                if not self._reading.cancelled():
                    self._reading.exception()  # whoever reads has heard of it
            await self._pieces.aclose()
            await self._response.aclose()


def _failure(error: Exception, request: WireRequest, *, began: bool) -> ProviderError | CallerError:
    """Our error for one of the HTTP client's; only the type is taken over, since its text may quote headers."""
    import httpx2

    kind = type(error).__name__
    facts = {"route": request.route, "place": request.place, "layer": "transport", "kind": kind}
    match error:
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
            return ConfigError(
                f"the endpoint of {request.route} is not a URL that can be asked: {request.place}; correct it", **facts
            )
        case httpx2.TimeoutException():
            what = "a free connection" if isinstance(error, httpx2.PoolTimeout) else "a connection"
            return TimedOut(
                f"waiting for {what} to {request.route} at {request.place} took too long ({kind}); "
                "try again, or allow more time for connecting",
                phase="connect",
                **facts,
            )
        case httpx2.ProxyError():
            return Unreachable(
                f"the proxy refused to connect {request.route} to {request.place}; check the proxy settings", **facts
            )
        case _ if began:
            return BadAnswer(
                f"the answer of {request.route} broke off: the connection to {request.place} failed ({kind})",
                **facts,
            )
        case _:
            return Unreachable(
                f"{request.route} cannot be reached at {request.place} ({kind}); check the network and the endpoint",
                **facts,
            )


def _unusable(error: BadAnswer, request: WireRequest) -> BadAnswer:
    return BadAnswer(
        f"the answer of {request.route} cannot be used: {error.message}; try again",
        route=request.route,
        place=request.place,
        layer="transport",
    )


def _timed_out(request: WireRequest, phase: str, limit: float | None) -> TimedOut:
    return TimedOut(
        f"{request.route} was silent for longer than {limit:g} seconds ({phase}); try again, or allow more time",
        phase=phase,
        limit=limit,
        route=request.route,
        place=request.place,
        layer="transport",
    )
