"""The bodies of requests, read no longer than they deserve: so many bytes, in so much time.

In:  the head of a request, and the pieces of its body as they arrive.
Out: the body; or `TurnedAway`, once what was still on its way is thrown away.

What is refused is read as well, up to a point, because few clients look at a response before they have sent everything.
A client that wants to know first (`Expect: 100-continue`) is told at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager

import anyio
from msgspec import Struct

from legato.gateway.refusals import TurnedAway, too_large
from legato.serving.contract import LARGEST_BODY
from legato.transport.contract import Ask
from legato.wire.hosting import RefusalReason

_THROWN_AWAY = 4
"""times the largest body: so much of one that is refused is read and dropped"""

_RETRY = 2.0
"""seconds after which a client may try again for which there was no room: our choice"""


class UploadLimits(Struct, frozen=True, kw_only=True):
    """How much is read, and how fast it has to come."""

    body: int = LARGEST_BODY
    """bytes of one body"""
    bodies: int = 8 * LARGEST_BODY
    """bytes of all that are worked on: our choice, what a server can spare"""
    grace: float = 30.0
    """seconds that a body may take however short it is: our choice, for a client that has it ready"""
    pace: float = 10_000.0
    """bytes for each of which it may take a second longer: our choice, slower than any network in use"""


class Uploads:
    """All bodies that are read and worked on."""

    def __init__(self, limits: UploadLimits | None = None) -> None:
        self.limits = limits or UploadLimits()
        self.held = 0
        """bytes"""

    @contextmanager
    def upload(self, ask: Ask) -> Generator[Upload]:
        """The body of `ask`, which counts as worked on until the context ends."""
        upload = Upload(self, ask)
        try:
            yield upload
        finally:
            upload.drop()


class Upload:
    """One body."""

    def __init__(self, uploads: Uploads, ask: Ask) -> None:
        self._uploads = uploads
        self._expects = "expect" in ask.headers
        self._declared = ask.headers.get("content-length", "")
        self._body = bytearray()

    async def read(self, pieces: AsyncIterator[bytes], refused: TurnedAway | None = None) -> bytes:
        """The body. Raises `refused`, if its head was enough to refuse it, or what is wrong with the body itself."""
        limits = self._uploads.limits
        # The first nineteen digits are too large already, and Python does not read any number of them.
        if self._declared.isdecimal() and int(self._declared[:19]) > limits.body:
            refused = refused or too_large(limits.body)
        if refused is not None and self._expects:
            raise refused
        size, began = 0, anyio.current_time()
        with anyio.CancelScope(deadline=began + limits.grace) as scope:
            async for piece in pieces:
                size += len(piece)
                scope.deadline = began + limits.grace + size / limits.pace
                refused = refused or self._take(piece)
                if size > limits.body * _THROWN_AWAY:
                    break
        if scope.cancelled_caught:
            refused = refused or _too_slow(anyio.current_time() - began)
        if refused is not None:
            raise refused
        return bytes(self._body)

    def drop(self) -> None:
        """Hold it no longer."""
        self._uploads.held -= len(self._body)
        self._body.clear()

    def _take(self, piece: bytes) -> TurnedAway | None:
        """Add `piece`, or say why all of it is too much."""
        uploads = self._uploads
        if len(self._body) + len(piece) > uploads.limits.body:
            refused = too_large(uploads.limits.body)
        elif uploads.held + len(piece) > max(uploads.limits.bodies, uploads.limits.body):
            message = "the gateway has too many long requests at the moment; ask again"
            refused = TurnedAway(message, reason=RefusalReason.OVERLOADED, retry_after=_RETRY)
        else:
            self._body += piece
            uploads.held += len(piece)
            return None
        self.drop()
        return refused


def _too_slow(seconds: float) -> TurnedAway:
    message = f"the body of the request was not complete after {seconds:.0f} seconds"
    return TurnedAway(message, reason=RefusalReason.SLOW, status=408)
