"""What goes into a simulated provider and what comes out of it, as data.

In:  an `Ask` of `transport.contract`: one HTTP request, from a socket or from a transport in this process.
Out: a `Reply`: all that would be sent back, and how. A wait and a broken connection are data too, so that a provider
     never sleeps and never touches a socket; the carrier of the reply does.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from legato.transport import HTTP_APIS

_STREAMS = tuple({api.accepts for api in HTTP_APIS.values()})


class Manner(StrEnum):
    """How a reply reaches the other side."""

    WHOLE = "whole"
    BREAKS_OFF = "breaks-off"
    """the connection fails after the last chunk"""
    NOT_AT_ALL = "not-at-all"
    """the connection is refused, or closed before anything was said"""


class Reply(Struct, frozen=True, kw_only=True):
    """What is sent back. `wait` is how many seconds pass before the first byte of the body."""

    status: int
    headers: dict[str, str]
    chunks: tuple[bytes, ...]
    wait: float = 0.0
    manner: Manner = Manner.WHOLE

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.chunks)

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return self.headers.get("content-type", "").startswith(_STREAMS)
