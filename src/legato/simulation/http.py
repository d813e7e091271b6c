"""As much of HTTP/1.1 as a client of a provider needs: one connection, request after request.

In:  bytes of a connection.
Out: an `Ask` for each request, and the bytes of each `Reply`.

Sizes are bounded, so that a client cannot fill the memory; what is not understood gets a 4xx and the end of the
connection. Bodies come with a length or in chunks; event streams go out in chunks, everything else with a length.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

from legato.simulation.contract import Manner, Reply
from legato.transport.contract import Ask

MAX_HEAD = 64 * 1024
"""bytes of a request's first line and headers"""

MAX_BODY = 64 * 1024 * 1024
"""bytes of a request's body"""

IDLE = 75.0
"""seconds that a connection may be silent"""


class Unreadable(Exception):
    """A request that is not HTTP/1.1, or too large; `status` says which."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class Connection:
    """One connection with a client."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._incoming = BufferedByteReceiveStream(stream)
        self.stays_open = True
        """whether the client will send another request"""

    async def receive(self) -> Ask | None:
        """The next request; None if there is none."""
        try:
            with anyio.move_on_after(IDLE):
                return await self._read()
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        self.stays_open = False
        return None

    async def send(
        self, reply: Reply, *, sleep: Callable[[float], Awaitable[None]] = anyio.sleep, pause: float = 0.0
    ) -> None:
        """Write `reply`, in the manner it asks for; `pause` is how many seconds pass between two chunks of a stream."""
        if reply.manner is Manner.NOT_AT_ALL:
            self.stays_open = False
            return
        async for piece in _pieces(reply, sleep, pause=pause, stays_open=self.stays_open):
            await self._stream.send(piece)
        if reply.manner is Manner.BREAKS_OFF:
            self.stays_open = False

    # --- reading ------------------------------------------------------------------------------------------------------

    async def _read(self) -> Ask:
        try:
            head = await self._incoming.receive_until(b"\r\n\r\n", MAX_HEAD)
        except anyio.DelimiterNotFound:
            raise Unreadable(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE) from None
        first, *lines = head.decode("latin-1").lstrip("\r\n").split("\r\n")
        match first.split(" "):
            case [method, place, "HTTP/1.1" | "HTTP/1.0" as version] if method.isalpha():
                pass
            case _:
                raise Unreadable(HTTPStatus.BAD_REQUEST)
        headers = _headers(lines)
        default = "keep-alive" if version == "HTTP/1.1" else "close"
        self.stays_open = headers.get("connection", default).lower() == "keep-alive"
        if headers.get("expect", "").lower() == "100-continue":
            await self._stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            url = urlsplit(place)
        except ValueError:  # brackets that hold no address
            raise Unreadable(HTTPStatus.BAD_REQUEST) from None
        return Ask(
            method=method.upper(),
            path=unquote(url.path),
            query=dict(parse_qsl(url.query)),
            headers=headers,
            body=await self._body(headers),
        )

    async def _body(self, headers: dict[str, str]) -> bytes:
        if "transfer-encoding" in headers:
            if headers["transfer-encoding"].lower() != "chunked" or "content-length" in headers:
                raise Unreadable(HTTPStatus.BAD_REQUEST)
            return await self._chunked()
        length = headers.get("content-length", "0")
        if not length.isdecimal() or not length.isascii():
            raise Unreadable(HTTPStatus.BAD_REQUEST)
        if len(length) > _MOST_DIGITS:
            raise Unreadable(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if int(length) > MAX_BODY:
            raise Unreadable(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return await self._incoming.receive_exactly(int(length)) if int(length) else b""

    async def _chunked(self) -> bytes:
        body = bytearray()
        while size := await self._chunk_size():
            if len(body) + size > MAX_BODY:
                raise Unreadable(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            body += await self._incoming.receive_exactly(size)
            await self._line()
        while await self._line():
            pass  # trailers say nothing that is needed here
        return bytes(body)

    async def _chunk_size(self) -> int:
        digits = (await self._line()).partition(b";")[0].strip()
        try:
            size = int(digits, 16)
        except ValueError:
            raise Unreadable(HTTPStatus.BAD_REQUEST) from None
        if size < 0:
            raise Unreadable(HTTPStatus.BAD_REQUEST)
        return size

    async def _line(self) -> bytes:
        try:
            return await self._incoming.receive_until(b"\r\n", _LONGEST_LINE)
        except anyio.DelimiterNotFound:
            raise Unreadable(HTTPStatus.BAD_REQUEST) from None


_LONGEST_LINE = 8 * 1024
"""bytes of a line in a chunked body: our choice, sizes have a few digits"""

_MOST_DIGITS = 20
"""of a length: Python refuses to read thousands of them"""


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise Unreadable(HTTPStatus.BAD_REQUEST)
        name, value = name.lower(), value.strip()
        if name in ("content-length", "transfer-encoding") and headers.get(name, value) != value:
            raise Unreadable(HTTPStatus.BAD_REQUEST)
        headers[name] = value
    return headers


# --- writing ----------------------------------------------------------------------------------------------------------


async def _pieces(
    reply: Reply, sleep: Callable[[float], Awaitable[None]], *, pause: float, stays_open: bool
) -> AsyncIterator[bytes]:
    """The bytes of a reply. A body that breaks off is announced as whole: that is how the client notices."""
    headers = dict(reply.headers)
    if reply.is_stream:
        headers |= {"transfer-encoding": "chunked", "cache-control": "no-cache"}
    else:
        breaks_off = reply.manner is Manner.BREAKS_OFF
        headers["content-length"] = str(len(reply.body) + (1 if breaks_off else 0))
    headers["connection"] = "keep-alive" if stays_open else "close"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    phrase = _PHRASES.get(reply.status, "")
    yield f"HTTP/1.1 {reply.status} {phrase}\r\n{lines}\r\n".encode("latin-1", "replace")
    if reply.wait:
        await sleep(reply.wait)
    if not reply.is_stream:
        yield reply.body
        return
    for number, chunk in enumerate(reply.chunks):
        if number and pause:
            await sleep(pause)
        yield b"%x\r\n%s\r\n" % (len(chunk), chunk)
    if reply.manner is Manner.WHOLE:
        yield b"0\r\n\r\n"


_PHRASES = {status.value: status.phrase for status in HTTPStatus} | {529: "Site is overloaded"}
