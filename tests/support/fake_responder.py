"""Whoever stands behind a client in this process, as tests need it: it echoes, streams, breaks off, or never ends."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import cast

import anyio
import anyio.to_thread

from legato.serving.contract import ConnectionCut
from legato.transport.contract import Ask, WireResponse, whole_response

BASE = "http://anywhere.invalid/v1"


class FakeResponder:
    """Answers as the last step of the path says, and remembers what became of it."""

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self.made = 0
        self.stopped = threading.Event()
        self.is_closed = threading.Event()
        self.waits = threading.Event()
        self.go_on = threading.Event()

    async def answer(self, ask: Ask) -> WireResponse:
        self.asks.append(ask)
        step = ask.path.rpartition("/")[2]
        if step == "echo":
            return whole_response(200, ask.body, {"X-Thread": str(threading.get_ident())})
        if step == "refuse":
            return whole_response(529, b'{"error": {}}', {"retry-after": "7"})
        if step == "cut-at-once":
            raise ConnectionCut
        if step == "fail":
            raise ZeroDivisionError("a fault of the gateway")
        if step == "silent":
            await self._wait()
        chunks = cast(AsyncIterator[bytes], getattr(self, f"_{step}")())
        return WireResponse(200, {"content-type": "text/event-stream"}, chunks, close=self._stop)

    async def close(self) -> None:
        self.is_closed.set()

    async def _stop(self) -> None:
        self.stopped.set()

    async def _wait(self) -> None:
        self.waits.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.stopped.set()

    async def _endless(self) -> AsyncIterator[bytes]:
        yield b"first"
        await self._wait()

    async def _many(self) -> AsyncIterator[bytes]:
        while True:
            self.made += 1
            yield b"piece"

    async def _stepwise(self) -> AsyncIterator[bytes]:
        """The second piece is not made before somebody has read the first."""
        yield b"first"
        await anyio.to_thread.run_sync(self.go_on.wait)
        yield b"second"

    async def _cut(self) -> AsyncIterator[bytes]:
        yield b"first"
        raise ConnectionCut
