"""Write to a connection what is ready, all at once: one packet for the head and the first words of an answer.

In:  what a protocol writes, piece by piece.
Out: the same bytes; those that are written before the event loop comes round again are handed on together.

Handing bytes to the system costs more than making them does where an answer is told in many small events. Nothing waits
for more than the work at hand, and what nobody should wait for at all is flushed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.types import Message, Send


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
            self._loop.call_soon(self.flush)
        self._waiting.append(data)

    def get_write_buffer_size(self) -> int:
        """How many bytes were not taken by the system yet."""
        return self._transport.get_write_buffer_size() + sum(map(len, self._waiting))

    def close(self) -> None:
        """Close, once all is sent."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close, and send nothing more."""
        self._waiting.clear()
        self._transport.abort()

    def flush(self) -> None:
        """Hand on what was written so far."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._transport.write(b"".join(waiting))


class FirstWords:
    """Answers of which no first bytes are out yet, on all connections of a server; a sign of life counts as such."""

    def __init__(self) -> None:
        self.awaited = 0
        """how many"""

    async def hasten(self, answer: Callable[[Send], Awaitable[None]], send: Send, transport: CorkedTransport) -> None:
        """Let `answer` be written to `transport`, with `send`: its first bytes wait for nobody's work."""
        is_out = False

        async def sent(message: Message) -> None:
            nonlocal is_out
            await send(message)
            if not is_out and message.get("body"):
                transport.flush()
                is_out = True
                self.awaited -= 1

        self.awaited += 1
        try:
            await answer(sent)
        finally:
            self.awaited -= not is_out
