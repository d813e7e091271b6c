"""One call of a batch, on its way to its one end.

    WAITING ──may run──▶ READY ──its turn──▶ STARTING ──start is durable──▶ RUNNING
       │                   │                    │                             │
       └───refused─────────┴─────withdrawn──────┴───────────▶ ENDED ◀──over, timed out, given up

A job is withdrawn while nothing has run yet: everything left of RUNNING. From there on only the tool's own end, its
time limit or the end of the grace period ends it. ENDED is final and reached once; its response has been committed.
"""

from __future__ import annotations

from enum import StrEnum

import anyio

from legato.model import ClosureReason, Json, JsonObject, ToolCall, ToolResponse
from legato.tools.attempt import Attempt
from legato.tools.registry import Tool


class Phase(StrEnum):
    """Where a call is."""

    WAITING = "waiting"
    READY = "ready"
    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"


UNSTARTED = (Phase.WAITING, Phase.READY, Phase.STARTING)
BUSY = (Phase.STARTING, Phase.RUNNING)


class Job:
    """One call of a batch and what is known about it. Only its batch moves it."""

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.phase = Phase.WAITING
        self.tool: Tool | None = None
        self.arguments: JsonObject = call.arguments
        self.writes: frozenset[str] = frozenset()
        self.unreadable: tuple[str, ...] = ()
        self.refused: ToolResponse | None = None
        """what is known to be wrong with the call before the user is asked"""
        self.withdrawn: ClosureReason | None = None
        """why it will not start after all"""
        self.attempt: Attempt | None = None
        self.response: ToolResponse | None = None
        self.scope = anyio.CancelScope()
        """everything that happens before the tool runs"""
        self.turn = anyio.Event()
        self._bell = anyio.Event()

    def withdraw(self, reason: ClosureReason) -> None:
        """Do not start it, if it has not been; the first reason stays."""
        if self.phase in UNSTARTED and self.withdrawn is None:
            self.withdrawn = reason
            self.scope.cancel()

    def ring(self) -> None:
        """Something that this job may be waiting for has happened."""
        self._bell.set()

    async def next_ring(self) -> None:
        """Wait for the next `ring`."""
        self._bell = anyio.Event()
        await self._bell.wait()

    # --- ways to end ---

    def failed(self, error: str, result: Json = None) -> ToolResponse:
        """An error as the call's result: what was wrong, in words for the model."""
        return ToolResponse(
            call_id=self.call.id, tool_name=self.call.name, result=result, error=error, is_complete=True
        )

    def closed(self, reason: ClosureReason, partial: Json = None) -> ToolResponse:
        """No result, and why; `partial` is what the tool had produced so far."""
        return ToolResponse(call_id=self.call.id, tool_name=self.call.name, result=partial, reason=reason)
