"""What passes between an application and whatever carries its responses to a client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from msgspec import Struct

from legato.transport.contract import Ask, Seconds, WireResponse

LARGEST_BODY = 64 * 1024 * 1024
"""bytes of a request; far above what any provider takes, far below what hurts"""

IDLE = 75
"""seconds for which a connection without a request stays open. A client that sends its next one at the very moment of
the closing sees an error, so this is longer than most clients keep theirs."""

CLOSING = 2.0
"""seconds that giving back an answer may take; it is shielded from cancellation, so it must have an end"""


class ConnectionPatience(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a connection may be of no use, in seconds. uvicorn itself waits for ever."""

    head: Seconds = 30.0
    """until a request has all of its head, from the first connection or its first byte: our choice"""
    reading: Seconds = 120.0
    """until a client reads any of what waits for it: our choice, longer than a network hiccups"""


class ConnectionCut(Exception):
    """Raised in place of a response, or out of its chunks: the connection to the client has to break off here.

    A stream that ended in order without its last event would be taken for a whole answer by several clients.
    """


async def give_back(response: WireResponse) -> None:
    """Stop whoever still works on `response`; twice does no harm."""
    with anyio.move_on_after(CLOSING, shield=True):
        aclose: Callable[[], Awaitable[object]] | None = getattr(response.chunks, "aclose", None)
        if aclose is not None:
            await aclose()
        await response.close()


def is_upgrade(ask: Ask) -> bool:
    """Whether `ask` wants a WebSocket, which Codex gives up at once if it is answered 426, and only then."""
    return ask.headers.get("upgrade", "").lower() == "websocket"
