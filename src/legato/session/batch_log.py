"""Writes down what a batch of tools does.

`settle` is the one function through which a tool's result enters a log: real, failed or cancelled, in every mode.
"""

from __future__ import annotations

from collections.abc import Callable

from legato.model import Entry, JsonObject, Speaker, ToolCall, ToolResponse
from legato.model.records import Answered, Asked, Scope, Started, Verdict
from legato.session.events import Event, ToolBegan, ToolEnded, ToolProgress
from legato.session.journal import Journal


class SessionBatchLog:
    """Writes to the journal of a session, and shows it to a turn; implements `legato.tools.BatchLog`."""

    def __init__(self, journal: Journal, show: Callable[[Event], None]) -> None:
        self._journal = journal
        self._show = show

    async def asked(self, call: ToolCall, digest: str) -> None:
        """The user is about to be asked about `call`."""
        await self._journal.write(Asked(call=call.id, digest=digest))

    async def answered(
        self,
        call: ToolCall,
        verdict: Verdict,
        *,
        scope: Scope = Scope.ONCE,
        reason: str | None = None,
        arguments: JsonObject | None = None,
    ) -> None:
        """The question was answered, or no one was there to answer it."""
        await self._journal.write(
            Answered(call=call.id, verdict=verdict, scope=scope, reason=reason, arguments=arguments)
        )

    async def started(self, call: ToolCall, digest: str) -> None:
        """The tool is about to run."""
        await self._journal.write(Started(call=call.id, digest=digest))
        answered = self._journal.talk.ledger.calls[call.id].answered
        edited = answered.arguments if answered is not None and answered.verdict is Verdict.ALLOWED else None
        self._show(ToolBegan(call=call.id, name=call.name, arguments=call.arguments if edited is None else edited))

    async def settle(self, response: ToolResponse) -> None:
        """Commit how a call ended."""
        await self._journal.record(Entry(Speaker.TOOL, (response,)))

    def publish(self, call: ToolCall, response: ToolResponse) -> None:
        """Show how a call ended, in call order."""
        self._show(ToolEnded(call=call.id, name=call.name, response=response))

    def progress(self, call: ToolCall, text: str) -> None:
        """Show output of a tool that is still running."""
        self._show(ToolProgress(call=call.id, text=text))
