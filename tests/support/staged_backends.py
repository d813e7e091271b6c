"""Backends whose answers go on when a test says so: for what happens while an answer is on its way."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Mapping

from gateway_clients import no_wait
from legato.routing import Patience
from legato.transport import KeyRing, WireRequest, WireResponse
from legato.world import World

Stage = Callable[[], AsyncIterator[bytes]]
"""makes the chunks of one answer"""


class StagedTransport:
    """Answers each provider's requests with its stage. Counters may be read by another thread."""

    def __init__(self, stages: Mapping[str, Stage]) -> None:
        self._stages = stages
        self._changed = threading.Condition()
        self.sent: list[str] = []
        """the providers that were asked"""
        self.closed: list[str] = []
        """those whose responses were closed"""
        self.bytes = 0
        """taken by whoever reads the answers"""

    async def send(self, request: WireRequest) -> WireResponse:
        provider = request.target.provider
        self._note(self.sent, provider)

        async def close() -> None:
            self._note(self.closed, provider)

        return WireResponse(200, {}, self._chunks(provider), close=close)

    def wait_for(self, is_so: Callable[[StagedTransport], bool]) -> bool:
        """Wait, in another thread, until `is_so`; False if that does not happen."""
        with self._changed:
            return self._changed.wait_for(lambda: is_so(self), 60)

    def _note(self, events: list[str], provider: str) -> None:
        with self._changed:
            events.append(provider)
            self._changed.notify_all()

    async def _chunks(self, provider: str) -> AsyncIterator[bytes]:
        async for chunk in self._stages[provider]():
            with self._changed:
                self.bytes += len(chunk)
                self._changed.notify_all()
            yield chunk


def staged_world(stages: Mapping[str, Stage]) -> World:
    """A world of `stages`, by provider, in which nobody is asked twice."""
    return World(
        transport=StagedTransport(stages),
        keys=KeyRing({}, {}),
        sleep=no_wait,
        patience=Patience(attempts=1, slow_attempts=1),
    )


def staged_in(world: World) -> StagedTransport:
    """The transport of `world`."""
    assert isinstance(world.transport, StagedTransport)
    return world.transport
