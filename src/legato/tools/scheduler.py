"""The scheduler: one for each session, subagent or one-shot run.

In:  the calls of an answer, batch after batch.
Out: for every call exactly one committed response.

It holds what outlives a batch: the terms under which tools run, and the ids of all calls that it has taken on. A call
is taken on once, so a replayed id, in the same batch or in a later one, never runs a tool twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.errors import CallerError, CanonicalError
from legato.model import UNMINTED, CallId, ToolCall, ToolResponse
from legato.tools.approval import Approval
from legato.tools.batch import Batch, Terms
from legato.tools.batch_log import BatchLog
from legato.tools.budget import OutputBudget, Spill
from legato.tools.notes import Noted, NoteKind, ToolNote
from legato.tools.registry import ToolBox


class ToolScheduler:
    """Runs batches of tool calls, one batch at a time.

    `limit` is how many tools run at once, `grace` how many seconds a tool has to stop when it is told to. `spill` keeps
    outputs that are too long, and `noted` is told what happened outside the normal course. `asker` names the subagent
    whose calls they are, where a person is asked.
    """

    def __init__(
        self,
        tools: ToolBox,
        *,
        approval: Approval,
        limit: int = 8,
        grace: float = 3.0,
        budget: OutputBudget | None = None,
        spill: Spill = lambda _text, _call: None,
        noted: Noted = lambda _: None,
        asker: str = "",
    ) -> None:
        if limit < 1:
            raise CallerError(f"at least one tool must be able to run, not {limit}")
        self.tools = tools
        self._terms = Terms(
            approval=approval,
            limit=limit,
            grace=grace,
            budget=budget or OutputBudget(),
            spill=spill,
            noted=noted,
            asker=asker,
        )
        self._taken: set[CallId] = set()
        self._batch: Batch | None = None

    @property
    def is_running(self) -> bool:
        """Whether a batch is under way."""
        return self._batch is not None

    async def run(
        self, calls: Sequence[ToolCall], log: BatchLog, *, tools: ToolBox | None = None
    ) -> tuple[ToolResponse, ...]:
        """Run `calls` and return when every one has ended, however it ended; the responses are in call order.

        `tools` are those that the request offered, if they are no longer the scheduler's own. A failing tool, a denied
        call and a cancellation are responses; if the caller itself is cancelled, everything is committed first.
        """
        if self._batch is not None:
            raise CallerError("a batch is running; a scheduler runs one at a time, so wait for it or use another one")
        fresh = self._take(calls)
        offered = self.tools if tools is None else tools
        self._batch = Batch(fresh, log, tools=offered, terms=self._terms)
        try:
            return await self._batch.run()
        finally:
            self._batch = None

    def cancel(self) -> None:
        """End the batch that runs: unstarted calls are not started, running ones get the grace period.

        Called again, the grace period is over at once. Without a batch, nothing happens. Call it on the event loop.
        """
        if self._batch is not None:
            self._batch.cancel()

    def skip_unstarted(self) -> None:
        """A newer message came: what has not started is skipped, what runs goes on. Call it on the event loop."""
        if self._batch is not None:
            self._batch.skip_unstarted()

    def _take(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        fresh: list[ToolCall] = []
        for call in calls:
            if call.id == UNMINTED:
                raise CanonicalError(
                    f"the call of {call.name!r} has no id of ours; record the answer before running it"
                )
            if call.id in self._taken:
                detail = f"{call.id} was run before; the repeated call is not"
                self._terms.noted(ToolNote(NoteKind.DUPLICATE, call.id, detail))
                continue
            self._taken.add(call.id)
            fresh.append(call)
        return fresh
