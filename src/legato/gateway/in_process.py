"""HTTP without a network: what a client library sends is answered in this process.

In:  a request of httpx2 or httpx.
Out: a response of the same library, whose body arrives piece by piece.

The asynchronous transport runs in the caller's event loop. The synchronous one lets the same code run in the loop that
all synchronous callers of a process share, and takes the pieces over from there. A client expects of either what it
would see of a network: silence longer than its `read` timeout is a `ReadTimeout`, a connection that has to be cut is
a `RemoteProtocolError`, and a response that is closed early stops whoever still works on it. There is nothing to
connect to and nothing to wait for in a pool, so the other timeouts never run out.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

import anyio

from legato.gateway.http_libraries import HttpLibrary, as_one_of
from legato.gateway.refusals import refusal, too_large
from legato.gateway.surfaces import door_or_any
from legato.portal import SHARED, Running
from legato.serving.contract import CLOSING, LARGEST_BODY, ConnectionCut, give_back
from legato.transport.alarm import Alarm
from legato.transport.contract import Ask, WireResponse

if TYPE_CHECKING:
    import httpx2


class Responder(Protocol):
    """Whoever answers requests, and holds connections that have to be closed in the end."""

    async def answer(self, ask: Ask) -> WireResponse:
        """The beginning of the answer to `ask`."""
        ...

    async def close(self) -> None:
        """Close the connections; they are made again if something is asked later."""
        ...


def in_process(build: Callable[[], Responder], library: HttpLibrary) -> httpx2.BaseTransport:
    """The transport of a synchronous client; any number of threads may use it.

    `build` makes the responder. Its connections belong to the process that opened them, and its locks may be held by
    threads that a child does not have, so a forked child builds another one.
    """
    return as_one_of(library.transport, _InProcess)(build, library)


def async_in_process(responder: Responder, library: HttpLibrary) -> httpx2.AsyncBaseTransport:
    """The transport of an asynchronous client."""
    return as_one_of(library.async_transport, _AsyncInProcess)(responder, library)


class _AsyncInProcess:
    def __init__(self, responder: Responder, library: HttpLibrary) -> None:
        self._responder = responder
        self._library = library

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        pieces, size = list[bytes](), 0
        async for piece in cast("AsyncIterable[bytes]", request.stream):
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_BODY:
                break
        answer = await _Answer.begin(self._responder, request, b"".join(pieces), self._library)
        stream = as_one_of(self._library.async_body, _AsyncBody)(answer)
        return self._library.response(answer.status, headers=answer.headers, stream=stream)

    async def aclose(self) -> None:
        await self._responder.close()


class _InProcess:
    def __init__(self, build: Callable[[], Responder], library: HttpLibrary) -> None:
        self._build = build
        self._library = library
        self._responder: Responder | None = build()
        self._held: Running[None] | None = None
        self._lock = threading.Lock()
        _TRANSPORTS.add(self)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        pieces, size = list[bytes](), 0
        for piece in cast("Iterable[bytes]", request.stream):
            pieces.append(piece)  # mostly there is one, which `join` does not copy
            size += len(piece)
            if size > LARGEST_BODY:
                break
        begin = partial(_Answer.begin, self._engaged(), request, b"".join(pieces), self._library)
        taken = _Taken(begin, self._library)
        stream = as_one_of(self._library.body, _Body)(taken)
        return self._library.response(taken.answer.status, headers=taken.answer.headers, stream=stream)

    def close(self) -> None:
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            held.stop()

    def forget(self) -> None:
        """In a forked child: begin anew, and touch nothing of the parent's."""
        self._lock = threading.Lock()  # another thread may have held the old one at the moment of the fork
        _LEFT_BEHIND.append((self._responder, self._held))
        self._responder = self._held = None

    def _engaged(self) -> Responder:
        """The responder, with somebody in the shared loop who closes it: at `close`, when nobody holds the client any
        more, or when the process ends.
        """
        with self._lock:
            if self._responder is None:
                self._responder = self._build()
            if self._held is None or self._held.is_done:
                self._held = SHARED.start(_hold, self._responder)
                weakref.finalize(self, self._held.cancel).atexit = False
            return self._responder


async def _hold(responder: Responder) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.move_on_after(CLOSING, shield=True):
            await responder.close()


_TRANSPORTS: weakref.WeakSet[_InProcess] = weakref.WeakSet()

_LEFT_BEHIND: list[object] = []
"""what a parent had open, kept in its child because its finalisers would touch what both processes share"""


def _forget_all() -> None:
    for transport in tuple(_TRANSPORTS):
        transport.forget()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_forget_all)


# --- one answer -------------------------------------------------------------------------------------------------------


class _Answer:
    """A response on its way, with the client's patience and the client's errors."""

    def __init__(self, response: WireResponse, library: HttpLibrary, patience: float | None) -> None:
        self.status = response.status
        self.headers = dict(response.headers)
        self._response = response
        self._library = library
        self._patience = patience
        self._alarm = Alarm()
        self._is_awaited = self._is_closed = self._is_released = False

    @classmethod
    async def begin(cls, responder: Responder, request: httpx2.Request, body: bytes, library: HttpLibrary) -> _Answer:
        """Ask, and wait until the answer begins."""
        patience: float | None = request.extensions.get("timeout", {}).get("read")
        response: WireResponse | None = None
        with anyio.move_on_after(patience):
            try:
                response = await _answered(responder, _ask(request, body))
            except ConnectionCut as error:
                raise _cut(library, error) from None
        if response is None:
            raise _too_slow(library, patience)
        return cls(response, library, patience)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._is_closed:
            raise _given_up(self._library)  # an end in order would be taken for a whole answer
        piece: bytes | None = None
        due = math.inf if self._patience is None else self._alarm.now() + self._patience
        self._is_awaited = True
        try:
            with self._alarm.at(due):
                piece = await anext(self._response.chunks)
        except StopAsyncIteration:
            raise
        except ConnectionCut as error:
            await self._release()
            raise _cut(self._library, error) from None
        except BaseException:
            await self._release()
            raise
        finally:
            self._is_awaited = False
        if piece is None:
            await self._release()
            raise _given_up(self._library) if self._is_closed else _too_slow(self._library, self._patience)
        return piece

    async def aclose(self) -> None:
        """Stop whoever works on it, and whoever waits for the next piece; twice does no harm."""
        self._is_closed = True
        if self._is_awaited:
            self._alarm.ring()  # who waits there gives it back
        else:
            await self._release()

    async def _release(self) -> None:
        if self._is_released:
            return
        self._is_released = True
        self._alarm.close()
        await give_back(self._response)


def _ask(request: httpx2.Request, body: bytes) -> Ask:
    return Ask(
        method=request.method,
        path=request.url.path,
        query=dict(request.url.params) if request.url.query else {},
        headers=dict(request.headers.items()),  # a lookup of each name would look through all of them
        body=body,
    )


async def _answered(responder: Responder, ask: Ask) -> WireResponse:
    if len(ask.body) <= LARGEST_BODY:
        return await responder.answer(ask)
    return refusal(too_large(LARGEST_BODY), door_or_any(ask))


def _cut(library: HttpLibrary, error: ConnectionCut) -> Exception:
    return library.cut(str(error) or "the answer broke off before its end")


def _too_slow(library: HttpLibrary, patience: float | None) -> Exception:
    return library.too_slow(f"nothing came for {patience:g} seconds")


def _given_up(library: HttpLibrary) -> Exception:
    return library.closed("the answer was given up while it was read")


class _AsyncBody:
    """The body of an asynchronous response."""

    def __init__(self, answer: _Answer) -> None:
        self._answer = answer

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._answer

    async def aclose(self) -> None:
        await self._answer.aclose()


# --- the same, taken over by another thread ---------------------------------------------------------------------------


async def _exchange(begin: Callable[[], Awaitable[_Answer]]) -> AsyncIterator[_Answer | bytes]:
    """The beginning of an answer, then the pieces of its body."""
    answer = await begin()
    try:
        yield answer
        async for piece in answer:
            yield piece
    finally:
        await answer.aclose()


class _Taken:
    """An answer that is made in the shared loop and read in the thread that asked.

    Nothing in the loop holds it, so one that nobody reads any more is closed.
    """

    def __init__(self, begin: Callable[[], Awaitable[_Answer]], library: HttpLibrary) -> None:
        """Wait for the beginning of the answer: its status and headers."""
        items = SHARED.iterate(partial(_exchange, begin))
        self._items = cast("Generator[_Answer | bytes, None, None]", items)
        self._library = library
        self._is_closed = False
        self.answer = cast(_Answer, self._next())

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._next()) is not None:
            yield cast(bytes, piece)
        if self._is_closed:
            raise _given_up(self._library)  # an end in order would be taken for a whole answer

    def close(self) -> None:
        """Stop whoever works on it and wait for the end; from another thread than the one that reads, too."""
        self._is_closed = True
        try:
            self._items.close()
        except ValueError:  # another thread waits in it
            SHARED.call(self.answer.aclose)

    def _next(self) -> _Answer | bytes | None:
        try:
            return next(self._items, None)
        except CancelledError:
            if _EXITING.is_set() and threading.current_thread().daemon:
                threading.Event().wait()  # for ever: an error would be printed in the last moment of the process
            raise _given_up(self._library) from None


_EXITING = threading.Event()
atexit.register(_EXITING.set)  # after the portal's own, so it is called before that


class _Body:
    """The body of a synchronous response."""

    def __init__(self, taken: _Taken) -> None:
        self._taken = taken

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._taken)

    def close(self) -> None:
        self._taken.close()
