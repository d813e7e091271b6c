"""One request and its answer: deltas while it arrives, and exactly one `Answer` at the end.

    async with open_answer(transport, request, decoder, decode=decode) as stream:
        async for delta in stream:
            ...
        answer = stream.answer

Whether the provider streams events or gives one JSON body, faces see the same: deltas, then the answer. Whatever goes
wrong raises one typed error. After an error or a cancellation `visible` says whether anything had been shown (if so,
no one may try again behind the user's back) and `partial()` gives what was. No answer is endless: `Intake` ends it in
time, `Bounds` in size.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeAlias, TypeVar, cast

import anyio

from legato.errors import BadAnswer, CallerError, IngestError, ProviderError
from legato.model import Answer, Json, JsonObject
from legato.request.answers import recordable
from legato.transport.classification import classify
from legato.transport.complaint import complaint_of, read_complaint
from legato.transport.contract import Transport, WireResponse
from legato.transport.intake import Intake
from legato.transport.outgoing import WireRequest
from legato.wire.bounds import Bounds, beyond, read_bounded_json
from legato.wire.contract import StreamDecoder
from legato.wire.deltas import Delta, Shown, deltas_of

T = TypeVar("T")

Renewal: TypeAlias = Callable[[WireRequest], Awaitable[WireRequest | None]]
"""gives a request whose credentials were refused others; None if there are none"""


def open_answer(
    transport: Transport,
    request: WireRequest,
    decoder: StreamDecoder,
    *,
    decode: Callable[[JsonObject], Answer],
    clock: Callable[[], float] = time.time,
    renew: Renewal | None = None,
) -> AnswerStream:
    """Ask for an answer: `decoder` reads it if it is streamed, `decode` if it comes as one JSON body.

    `clock` gives seconds since the epoch, for a wait that the provider names as a date. `renew` gives a request whose
    credentials were refused others, or None; it is asked once. Nothing is sent before the stream is entered.
    """
    return AnswerStream(transport, request, decoder, decode, clock, renew)


class AnswerStream:
    """An answer on its way. Made by `open_answer`; used by one task, as a context and as an iterator of deltas."""

    def __init__(
        self,
        transport: Transport,
        request: WireRequest,
        decoder: StreamDecoder,
        decode: Callable[[JsonObject], Answer],
        clock: Callable[[], float],
        renew: Renewal | None = None,
    ) -> None:
        self.request = request
        self.visible = False
        """whether there was something to show: from here on there is no retry and no failover"""
        self._transport = transport
        self._decoder = decoder
        self._decode = decode
        self._clock = clock
        self._renew = renew
        self._response: WireResponse | None = None
        self._intake: Intake | None = None
        self._taken = 0
        """bytes of the body so far"""
        self._body: bytearray | None = None
        """collects an answer that is not streamed; None while it is, or is not yet known to be, a stream"""
        self._is_stream: bool | None = None
        self._deltas: deque[Delta] = deque()
        self._answer: Answer | None = None

    @property
    def answer(self) -> Answer:
        """The whole answer, once the deltas have been iterated to their end."""
        if self._answer is None:
            raise CallerError("the answer is not complete; iterate its deltas to the end, or await finish()")
        return self._answer

    @property
    def served(self) -> str:
        """The model that answers, by its own name, as soon as the response has told it; empty until then."""
        return self._decoder.served if self._answer is None else self._answer.served

    def partial(self) -> Answer | None:
        """What had been visible when the stream broke or was left, as an answer that was cut; None if nothing was."""
        if not self.visible or not self._is_stream:
            return None
        try:
            return self._decoded(self._decoder.partial)
        except ProviderError:
            return None  # it cannot even be read as far as it came

    async def finish(self) -> Answer:
        """Read to the end and give the answer; the deltas are passed over."""
        async for _ in self:
            pass
        return self.answer

    async def __aenter__(self) -> Self:
        refusal = await self._begin()
        if refusal is not None and refusal.facts.get("about") == "key" and self._renew is not None:
            # A token may have been revoked, or have expired while it waited: one other is tried, and only one.
            renewed = await self._renew(self.request)
            if renewed is not None:
                self.request = renewed
                refusal = await self._begin()
        if refusal is not None:
            raise refusal
        return self

    async def _begin(self) -> ProviderError | None:
        """Send the request; returns the refusal if that is what comes back."""
        sent_at = anyio.current_time()
        response = self._response = await self._transport.send(self.request)
        self._intake = Intake(response, self.request, sent_at=sent_at)
        self._decoder.limit(response.bounds)
        if 200 <= response.status < 300:
            return None
        try:
            complaint = read_complaint(await self._read_refusal(response, self._intake), response.headers)
        finally:
            self._intake.close()
            await response.close()
        return classify(complaint, self.request, status=response.status, headers=response.headers, now=self._clock())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._intake is not None:
            self._intake.close()
        if self._response is not None:
            await self._response.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delta:
        await self._wait()
        if not self._deltas:
            raise StopAsyncIteration
        return self._deltas.popleft()

    async def news(self) -> list[Delta]:
        """All deltas that are here, as soon as there is one; none at the end."""
        await self._wait()
        news = list(self._deltas)
        self._deltas.clear()
        return news

    async def _wait(self) -> None:
        """Until there are deltas, or there will be no more."""
        while not self._deltas and self._answer is None:
            await self._advance()

    async def _advance(self) -> None:
        """Take one piece of the response, or its end."""
        if self._intake is None:
            raise CallerError("nothing was sent yet; enter the stream with `async with` first")
        try:
            piece = await anext(self._intake)
            self._count(piece)
        except StopAsyncIteration:
            self._end()
        except ProviderError as failure:
            # A server that never stops, or closes rudely, after the answer was complete has still answered.
            if not self._is_complete():
                raise failure from None
        else:
            self._take(piece)

    def _count(self, piece: bytes) -> None:
        """Raise `BadAnswer` if the answer is too long with `piece`."""
        self._taken += len(piece)
        bound = "stream" if self._body is None else "body"
        limit: int = getattr(self._bounds, bound)
        if self._taken > limit:
            raise self._bad(beyond(f"it is longer than {limit:,} bytes", bound=bound, limit=limit))

    def _take(self, piece: bytes) -> None:
        if self._is_stream is None:
            if not piece.strip():
                return  # a keep-alive before the answer: what kind of body it is shows later
            self._is_stream = _begins_like_events(piece)
            self._body = None if self._is_stream else bytearray()
        if self._body is None:
            self._show(self._decoded(lambda: self._decoder.feed(piece)))
        else:
            self._body += piece

    def _end(self) -> None:
        if self._is_stream is None:
            raise self._bad(BadAnswer("it is empty"))
        if self._body is None:
            self._answer = self._decoded(self._finish)
            return
        self._count(b"")  # one piece may be all of it
        body, self._body = self._body, bytearray()
        self._answer = self._decoded(lambda: self._allowed(self._decode(_json_object(bytes(body)))))
        self._show(list(deltas_of(self._answer, sys.maxsize)))

    def _finish(self) -> Answer:
        return self._allowed(self._decoder.finish())

    def _allowed(self, answer: Answer) -> Answer:
        return recordable(answer, self._bounds)

    def _is_complete(self) -> bool:
        if not self._is_stream:
            return False
        try:
            self._answer = self._decoded(self._finish)
        except ProviderError:
            return False
        return True

    def _show(self, deltas: list[Delta]) -> None:
        self._deltas.extend(deltas)
        if self._intake is not None and any(isinstance(delta, Shown) for delta in deltas):
            self._intake.shown()
            self.visible = True

    @property
    def _bounds(self) -> Bounds:
        return Bounds() if self._response is None else self._response.bounds

    def _decoded(self, read: Callable[[], T]) -> T:
        """What `read` gives; an error that the provider put in place of an answer is classified like any other.

        Decoders expect anything and know what to do with it. Should they be wrong about that, the answer is a bad one:
        it is the provider's bytes that failed, and they must not end the session.
        """
        try:
            return read()
        except BadAnswer as error:
            said = error.facts.get("error")
            failure = self._bad(error) if said is None else self._complained(said)
        except IngestError as error:
            failure = self._bad(BadAnswer(f"it is {error.message}"))
        except Exception as error:
            raise self._bad(BadAnswer(f"it is not understood ({type(error).__name__})")) from error
        raise failure

    def _complained(self, said: Json) -> ProviderError:
        headers = self._response.headers if self._response else None
        return classify(complaint_of(said), self.request, headers=headers, now=self._clock())

    def _bad(self, error: BadAnswer) -> BadAnswer:
        kept = {name: error.facts[name] for name in ("bound", "limit") if name in error.facts}
        return BadAnswer(
            f"the answer of {self.request.route} cannot be used: {error.message}; try again",
            route=self.request.route,
            place=self.request.place,
            layer="decode",
            **kept,
        )

    async def _read_refusal(self, response: WireResponse, pieces: Intake) -> bytes:
        """The body of a refusal, or as much of it as is worth waiting for: its status alone says a good deal."""
        body = bytearray()
        limit = response.bounds.refusal
        with anyio.move_on_after(response.timeouts.between_chunks):
            try:
                async for piece in pieces:
                    body += piece
                    if len(body) > limit:
                        break
            except ProviderError:
                pass  # how the body broke off says less than the status
        return bytes(body[:limit])


def _begins_like_events(beginning: bytes) -> bool:
    """Whether a body is a stream of events. Its content type is not asked: gateways mislabel both kinds."""
    return not beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))


def _json_object(body: bytes) -> JsonObject:
    value = read_bounded_json(body)
    if not isinstance(value, dict):
        raise BadAnswer("its body is JSON, but no object")
    return cast(JsonObject, value)
