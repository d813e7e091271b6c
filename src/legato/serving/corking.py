"""Write to a connection what is ready, all at once: one packet for the head and the first words of an answer.

In:  what a protocol writes, piece by piece.
Out: the same bytes; those that are written before the event loop comes round again are handed on together.

Handing bytes to the system costs more than making them does where an answer is told in many small events. Nothing waits
for more than the work at hand: whoever wants its bytes to be out lets others have a turn.
"""

from __future__ import annotations

import asyncio
from typing import Any


class CorkedTransport:
    """A transport that collects what is written; all else is the business of `transport`."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send `data` with whatever else is written now."""
        if not self._waiting:
            self._loop.call_soon(self._hand_on)
        self._waiting.append(data)

    def get_write_buffer_size(self) -> int:
        """How many bytes were not taken by the system yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._waiting))

    def close(self) -> None:
        """Close, once all is sent."""
        self._hand_on()
        self._transport.close()

    def abort(self) -> None:
        """Close, and send nothing more."""
        self._waiting.clear()
        self._transport.abort()

    def _hand_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._transport.write(b"".join(waiting))
