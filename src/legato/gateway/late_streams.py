"""Streams that are not spoken piece by piece, and may still keep their clients waiting.

    told_in_stream   what is forwarded or made in one go; once the client had a sign of life, a failure is told in it
    head_of_stream   the head that a client gets before there is anything to send it
    with_first       a stream whose first piece was waited for

An answer that is forwarded is in the provider's own bytes, and a compaction is made when all of the summary is there.
Both have a speaker only for what they cannot say themselves: signs of life, and that nothing more will come.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from legato.errors import LegatoError
from legato.gateway.contract import Delivery
from legato.gateway.speakers import AnswerSpeaker
from legato.serving.contract import ConnectionCut
from legato.transport.contract import WireResponse

EVENTS = "text/event-stream; charset=utf-8"


async def told_in_stream(pieces: AsyncGenerator[bytes], speaker: AnswerSpeaker) -> AsyncGenerator[bytes]:
    """`pieces`; a failure is raised, or told and a `ConnectionCut` if `speaker` has given a sign of life before."""
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except LegatoError as error:
        if not speaker.started:
            raise
        for piece in speaker.fail(error):
            yield piece
        raise ConnectionCut(str(error)) from error


def head_of_stream(
    delivery: Delivery, headers: Mapping[str, str], chunks: AsyncGenerator[bytes], *, keep_alive: bytes
) -> WireResponse:
    """A stream as it begins, whoever will answer."""
    kind = "application/json" if delivery.door.as_array else EVENTS
    told = {"content-type": kind, "cache-control": "no-cache", **headers}
    return WireResponse(200, told, chunks, close=chunks.aclose, keep_alive=keep_alive)


async def with_first(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """`first`, and then the `rest`."""
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece
