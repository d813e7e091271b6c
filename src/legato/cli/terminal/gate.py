"""A gate before the screen: while a question is there, nothing else is written."""

from __future__ import annotations

import anyio


class InputGate:
    """Open, or closed for a while; several may close it, and it opens when the last of them is done."""

    def __init__(self) -> None:
        self._closed = 0
        self._opened = anyio.Event()

    @property
    def is_open(self) -> bool:
        """Whether anyone may write."""
        return self._closed == 0

    async def close(self) -> None:
        """Let no one through."""
        self._closed += 1

    def open(self) -> None:
        """One who closed it is done."""
        self._closed -= 1
        if self._closed == 0:
            self._opened.set()
            self._opened = anyio.Event()

    async def passed(self) -> None:
        """Wait until it is open."""
        while self._closed:
            await self._opened.wait()
