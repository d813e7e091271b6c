"""What a scheduler tells the one who keeps the log.

One method per record. `settle` is the only way by which a tool's result enters a conversation, for real results and for
cancelled ones alike; a session implements it with the function that commits everything else. Each write is shielded: a
cancellation may come at any moment, but it does not tear a record.
"""

from __future__ import annotations

from typing import Protocol

import anyio

from legato.model import JsonObject, ToolCall, ToolResponse
from legato.model.records import Scope, Verdict
from legato.tools.approval import ApprovalRecords


class Keeper(ApprovalRecords, Protocol):
    """Who keeps the log of the conversation that a batch belongs to."""

    async def started(self, call: ToolCall, digest: str) -> None:
        """The tool is about to run with arguments of that digest; durable when this returns."""
        ...

    async def settle(self, response: ToolResponse) -> None:
        """Commit how a call ended. Called once for each call, when it ends; called again only if it raised."""
        ...

    def publish(self, call: ToolCall, response: ToolResponse) -> None:
        """Show how a call ended. Called once for each call, in call order, after `settle`."""
        ...

    def progress(self, call: ToolCall, text: str) -> None:
        """Show output of a call whose tool is still running."""
        ...


class Shielded:
    """A keeper whose writes finish once they began."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    async def asked(self, call: ToolCall, digest: str) -> None:
        """As the keeper's, shielded."""
        with anyio.CancelScope(shield=True):
            await self._keeper.asked(call, digest)

    async def answered(
        self,
        call: ToolCall,
        verdict: Verdict,
        *,
        scope: Scope = Scope.ONCE,
        reason: str | None = None,
        arguments: JsonObject | None = None,
    ) -> None:
        """As the keeper's, shielded."""
        with anyio.CancelScope(shield=True):
            await self._keeper.answered(call, verdict, scope=scope, reason=reason, arguments=arguments)

    async def started(self, call: ToolCall, digest: str) -> None:
        """As the keeper's, shielded."""
        with anyio.CancelScope(shield=True):
            await self._keeper.started(call, digest)

    async def settle(self, response: ToolResponse) -> None:
        """As the keeper's, shielded."""
        with anyio.CancelScope(shield=True):
            await self._keeper.settle(response)

    def publish(self, call: ToolCall, response: ToolResponse) -> None:
        """As the keeper's."""
        self._keeper.publish(call, response)

    def progress(self, call: ToolCall, text: str) -> None:
        """As the keeper's."""
        self._keeper.progress(call, text)
