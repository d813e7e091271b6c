"""The body of a response as it may be worked on: in small pieces, for a limited time, never holding up the program.

In:  the chunks of a response, as its transport gives them.
Out: the same bytes in pieces of at most `PIECE`, or `TimedOut`.

A transport limits each wait. That is not enough: a server that sends a sign of life now and then would keep a turn
waiting forever, so an answer that shows nothing new for too long, or takes too long as a whole, is ended here. And
bytes may arrive faster than they are decoded, or all at once out of a few compressed ones: the work on each piece is
small, and after each full piece other tasks get a turn, so that a person can still cancel.
"""

from __future__ import annotations

import math
from typing import Self

import anyio.lowlevel

from legato.errors import TimedOut
from legato.transport.alarm import Alarm
from legato.transport.contract import WireResponse
from legato.transport.outgoing import WireRequest

PIECE = 64 * 1024
"""bytes that are decoded in one go"""

FIRST_PIECE = 512
"""bytes of the first piece: about what an answer begins with before it says anything. Each piece is twice as long as
the one before until something is shown, so that the first words do not wait for all that came in one packet"""

_CHUNK_COST = 64
"""what a chunk counts beside its bytes: a million empty ones are work too"""


class Intake:
    """The pieces of one response; `close` it when nobody wants more. `sent_at` is the moment of sending, by the clock
    of the event loop.
    """

    def __init__(self, response: WireResponse, request: WireRequest, *, sent_at: float) -> None:
        self._chunks = response.chunks
        self._alarm = Alarm()
        self._timeouts = response.timeouts
        self._request = request
        self._ends_at = _after(sent_at, self._timeouts.whole)
        self._shows_by = _after(sent_at, self._timeouts.between_deltas)
        self._chunk = b""
        self._at = 0
        self._largest = FIRST_PIECE
        """bytes of the next piece at most"""
        self._work = 0
        """what was given out since others last had a turn"""

    def shown(self) -> None:
        """Something new was shown: the answer makes progress."""
        self._shows_by = _after(self._alarm.now(), self._timeouts.between_deltas)
        self._largest = PIECE

    def close(self) -> None:
        """Wait for nothing any more; twice does no harm."""
        self._alarm.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._work >= PIECE:
            self._work = 0
            await anyio.lowlevel.checkpoint()
        deadline = min(self._ends_at, self._shows_by)
        if self._alarm.now() >= deadline:
            raise self._timed_out()
        if self._at >= len(self._chunk):
            chunk: bytes | None = None
            with self._alarm.at(deadline):
                chunk = await anext(self._chunks)
            if chunk is None:
                raise self._timed_out()
            self._chunk, self._at = chunk, 0
        piece = self._chunk[self._at : self._at + self._largest]
        self._at += self._largest
        self._largest = min(self._largest * 2, PIECE)
        self._work += len(piece) + _CHUNK_COST
        return piece

    def _timed_out(self) -> TimedOut:
        if self._ends_at <= self._shows_by:
            phase, limit, what = "whole", self._timeouts.whole, "took longer than {:g} seconds to answer"
        else:
            phase, limit, what = "between deltas", self._timeouts.between_deltas, "showed nothing new for {:g} seconds"
        return TimedOut(
            f"{self._request.route} {what.format(limit)} ({phase}); try again, or allow more time",
            phase=phase,
            limit=limit,
            route=self._request.route,
            place=self._request.place,
            layer="transport",
        )


def _after(moment: float, limit: float | None) -> float:
    return math.inf if limit is None else moment + limit
