"""What a batch of tool calls tells the log of its conversation.

One method per record. `settle` is the only way for a tool's result to enter a conversation, whether the call succeeded,
failed or was cancelled; a session implements it with the function that commits everything else. A cancellation may come
at any moment, so every write goes through `finish`.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

import anyio

from legato.model import JsonObject, ToolCall, ToolResponse
from legato.model.records import Scope, Verdict


class ApprovalRecords(Protocol):
    """Where questions and answers are written down, before anything follows from them."""

    async def asked(self, call: ToolCall, digest: str) -> None:
        """`call` is about to be shown; `digest` names what is shown."""
        ...

    async def answered(
        self,
        call: ToolCall,
        verdict: Verdict,
        *,
        scope: Scope = Scope.ONCE,
        reason: str | None = None,
        arguments: JsonObject | None = None,
    ) -> None:
        """The verdict; `arguments` are those that run, where a person changed them."""
        ...


class BatchLog(ApprovalRecords, Protocol):
    """The log of the conversation that a batch belongs to, and what is shown of the batch."""

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


async def finish(write: Awaitable[None]) -> None:
    """Await `write` to its end, whatever is cancelled meanwhile: a record is never half written."""
    with anyio.CancelScope(shield=True):
        await write
