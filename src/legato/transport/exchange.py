"""One request and its answer: deltas while it arrives, and exactly one `Answer` at the end.

    async with open_answer(transport, request, decoder, decode=decode) as stream:
        async for delta in stream:
            ...
        answer = stream.answer

Whether the provider streams events or gives one JSON body, faces see the same: deltas, then the answer. Whatever goes
wrong raises one typed error. After an error or a cancellation `visible` says whether anything had been shown (if so,
nobody may try again behind the user's back) and `partial()` gives what was.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self, TypeVar, cast

import msgspec

from legato.errors import BadAnswer, CallerError, IngestError, ProviderError
from legato.model import Answer, JsonObject, Text, Thinking, ToolCall, read_json_leniently
from legato.transport.classify import classify
from legato.transport.complaint import complaint_of, read_complaint
from legato.transport.contract import Transport, WireResponse
from legato.transport.outgoing import WireRequest
from legato.wire.contract import CallDelta, Delta, StreamDecoder, TextDelta, ThinkingDelta

T = TypeVar("T")

MAX_BODY = 64 * 1024 * 1024
"""bytes of an answer that is not streamed; a longer one is refused before it fills the memory"""

MAX_COMPLAINT = 256 * 1024
"""bytes of an error body that are read; what follows can be cut without loss"""


def open_answer(
    transport: Transport,
    request: WireRequest,
    decoder: StreamDecoder,
    *,
    decode: Callable[[JsonObject], Answer],
    clock: Callable[[], float] = time.time,
) -> AnswerStream:
    """Ask for an answer: `decoder` reads it if it is streamed, `decode` if it comes as one JSON body.

    `clock` gives seconds since the epoch, for a wait that the provider names as a date. Nothing is sent before the
    stream is entered.
    """
    return AnswerStream(transport, request, decoder, decode, clock)


class AnswerStream:
    """An answer on its way. Made by `open_answer`; used by one task, as a context and as an iterator of deltas."""

    def __init__(
        self,
        transport: Transport,
        request: WireRequest,
        decoder: StreamDecoder,
        decode: Callable[[JsonObject], Answer],
        clock: Callable[[], float],
    ) -> None:
        self.request = request
        self.visible = False
        """whether a delta has been decoded: from here on there is no retry and no failover"""
        self._transport = transport
        self._decoder = decoder
        self._decode = decode
        self._clock = clock
        self._response: WireResponse | None = None
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

    def partial(self) -> Answer | None:
        """What had been visible when the stream broke or was left, as an answer that was cut; None if nothing was."""
        return self._decoder.partial() if self.visible and self._is_stream else None

    async def finish(self) -> Answer:
        """Read to the end and give the answer; the deltas are passed over."""
        async for _ in self:
            pass
        return self.answer

    async def __aenter__(self) -> Self:
        response = self._response = await self._transport.send(self.request)
        if not 200 <= response.status < 300:
            try:
                complaint = read_complaint(await self._read_complaint(response))
            finally:
                await response.close()
            raise classify(complaint, self.request, status=response.status, headers=response.headers, now=self._clock())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._response is not None:
            await self._response.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delta:
        while not self._deltas:
            if self._answer is not None:
                raise StopAsyncIteration
            await self._advance()
        return self._deltas.popleft()

    async def _advance(self) -> None:
        """Take one piece of the response, or its end."""
        if self._response is None:
            raise CallerError("nothing was sent yet; enter the stream with `async with` first")
        try:
            piece = await anext(self._response.chunks)
        except StopAsyncIteration:
            self._end()
        except ProviderError as failure:
            # A server that never closes, or closes rudely, after the answer was complete has still answered.
            if not self._is_complete():
                raise failure from None
        else:
            self._take(piece)

    def _take(self, piece: bytes) -> None:
        if self._is_stream is None:
            if not piece.strip():
                return  # a keep-alive before the answer: what kind of body it is shows later
            self._is_stream = _begins_like_events(piece)
            self._body = None if self._is_stream else bytearray()
        if self._body is None:
            self._show(self._decoded(lambda: self._decoder.feed(piece)))
            return
        self._body += piece
        if len(self._body) > MAX_BODY:
            raise self._bad(f"it is longer than the {MAX_BODY:,} bytes that are read")

    def _end(self) -> None:
        if self._is_stream is None:
            raise self._bad("it is empty")
        if self._body is None:
            self._answer = self._decoded(self._decoder.finish)
            return
        body = bytes(self._body)
        self._answer = self._decoded(lambda: self._decode(_json_object(body)))
        self._show(deltas_of(self._answer))

    def _is_complete(self) -> bool:
        if not self._is_stream:
            return False
        try:
            self._answer = self._decoder.finish()
        except BadAnswer:
            return False
        return True

    def _show(self, deltas: Iterable[Delta]) -> None:
        self._deltas.extend(deltas)
        self.visible = self.visible or bool(self._deltas)

    def _decoded(self, read: Callable[[], T]) -> T:
        """What `read` gives; an error that the provider put in place of an answer is classified like any other."""
        try:
            return read()
        except BadAnswer as error:
            if (said := error.facts.get("error")) is None:
                raise self._bad(error.message) from None
            failure = classify(
                complaint_of(said),
                self.request,
                headers=self._response.headers if self._response else None,
                now=self._clock(),
            )
        except IngestError as error:
            failure = self._bad(f"it is {error.message}")
        raise failure

    def _bad(self, what: str) -> BadAnswer:
        return BadAnswer(
            f"the answer of {self.request.route} cannot be used: {what}; try again",
            route=self.request.route,
            place=self.request.place,
            layer="decode",
        )

    async def _read_complaint(self, response: WireResponse) -> bytes:
        body = bytearray()
        try:
            async for piece in response.chunks:
                body += piece
                if len(body) > MAX_COMPLAINT:
                    break
        except ProviderError:
            pass  # the status alone says more about the refusal than the way in which its body broke off
        return bytes(body[:MAX_COMPLAINT])


def deltas_of(answer: Answer) -> list[Delta]:
    """The deltas that show an answer which came whole."""
    deltas: list[Delta] = []
    calls = 0
    for block in answer.entry.blocks:
        match block:
            case Text() if block.text:
                deltas.append(TextDelta(block.text))
            case Thinking() if block.text:
                deltas.append(ThinkingDelta(block.text))
            case ToolCall():
                deltas.append(CallDelta(calls, block.name, block.raw or msgspec.json.encode(block.arguments).decode()))
                calls += 1
            case _:
                pass  # hosted tools and media have no delta in any stream
    return deltas


def _begins_like_events(beginning: bytes) -> bool:
    """Whether a body is a stream of events. Its content type is not asked: gateways mislabel both kinds."""
    return not beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))


def _json_object(body: bytes) -> JsonObject:
    value = read_json_leniently(body)
    if not isinstance(value, dict):
        raise BadAnswer("its body is JSON, but no object")
    return cast(JsonObject, value)
