"""The batch of calls that one answer asked for, from the first check to the last commit.

In:  calls with canonical ids, in call order, and the log of their conversation.
Out: one response for every call, each committed when it came about and published in call order.

Every call has a task that leads it through the phases of `jobs`. `_admit` alone decides who may run: at most so many at
once, and writes to one file one after the other in call order. The batch is shielded from the cancellation of its
caller, not deaf to it: it feels it and settles every call, and only then lets it pass. So what happened is always
committed, by the one function that also commits normal results.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence

import anyio
import anyio.lowlevel
import msgspec
from msgspec import Struct, field

from legato.errors import IngestError
from legato.model import ClosureReason, Json, Media, ToolCall, ToolResponse, clean_text, ingest
from legato.model.hashing import digest
from legato.tools.approval import Approval, Permit
from legato.tools.attempt import Attempt, describe
from legato.tools.batch_log import BatchLog, finish
from legato.tools.budget import OutputBudget, Spill, as_text, cut
from legato.tools.checks import check_arguments, check_call
from legato.tools.jobs import BUSY, Job, Phase
from legato.tools.notes import Noted, NoteKind, ToolNote
from legato.tools.registry import Tool, ToolBox, ToolContext, ToolOutput


class Terms(Struct, frozen=True, kw_only=True):
    """What holds for every batch of a scheduler."""

    approval: Approval
    limit: int = 8
    grace: float = 3.0
    budget: OutputBudget = field(default_factory=OutputBudget)
    spill: Spill = lambda _text, _call: None
    noted: Noted = lambda _: None
    asker: str = ""


class Batch:
    """One batch; `run` it once."""

    def __init__(self, calls: Sequence[ToolCall], log: BatchLog, *, tools: ToolBox, terms: Terms) -> None:
        self._log = log
        self._tools = tools
        self._terms = terms
        self._share = terms.budget.share(len(calls))
        self._jobs = [Job(call) for call in calls]
        self._published = 0
        self._cancels = 0

    async def run(self) -> tuple[ToolResponse, ...]:
        """Lead every call to its end; the responses are in call order."""
        for job in self._jobs:
            self._check(job)
        if anyio.current_effective_deadline() == -math.inf:  # cancelled before it began
            self.cancel()
        async with anyio.create_task_group() as sentry:
            sentry.start_soon(self._feel_cancellation)
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as group:
                    for job in self._jobs:
                        group.start_soon(self._live, job)
            sentry.cancel_scope.cancel()
        await anyio.lowlevel.checkpoint_if_cancelled()
        return tuple(job.response for job in self._jobs if job.response is not None)

    def cancel(self) -> None:
        """Withdraw what has not started and ask the rest to stop; the second time, wait no longer."""
        self._cancels += 1
        for job in self._jobs:
            job.withdraw(ClosureReason.NOT_STARTED)
            job.ring()

    def skip_unstarted(self) -> None:
        """Withdraw what has not started, because a newer message makes it obsolete."""
        for job in self._jobs:
            job.withdraw(ClosureReason.SKIPPED)

    async def _feel_cancellation(self) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            if self._cancels == 0:  # at the normal end nothing is left to withdraw
                self.cancel()

    # --- the way of one call ---

    async def _live(self, job: Job) -> None:
        try:
            response = await self._prepare(job) or await self._execute(job)
        except anyio.get_cancelled_exc_class():
            # Not by us: the task that runs the batch was cancelled. No grace then, but still an end on record.
            await self._end(job, self._cut_short(job))
            raise
        await self._end(job, response)

    def _check(self, job: Job) -> None:
        """Everything that needs no approval, before anything starts; so writes are known in call order."""
        checked = check_call(job.call, self._tools)
        if isinstance(checked, str):
            job.refused = job.failed(checked)
            return
        job.tool, job.arguments = checked
        try:
            job.writes = job.tool.writes(job.arguments)
        except Exception as error:  # noqa: BLE001  # the tool's own function; what it raises is a fault of the call
            job.refused = job.failed(describe(error))

    async def _prepare(self, job: Job) -> ToolResponse | None:
        """Until the tool may run: None then, else why it will not."""
        response = job.refused
        with job.scope:
            if response is None:
                response = await self._ask_and_queue(job)
        if response is None and job.withdrawn is not None:
            return job.closed(job.withdrawn)
        return response

    async def _ask_and_queue(self, job: Job) -> ToolResponse | None:
        tool = _tool_of(job)
        try:
            decision = await self._terms.approval.decide(
                job.call, tool, arguments=job.arguments, records=self._log, asker=self._terms.asker
            )
            if not isinstance(decision, Permit):
                return decision.response(job.call)
            job.writes, job.unreadable = decision.writes, decision.unreadable
            if decision.arguments is not job.arguments:
                if fault := check_arguments(tool, decision.arguments):
                    return job.failed(f"The user changed the arguments. {fault}")
                job.arguments, job.writes = decision.arguments, tool.writes(decision.arguments)
            job.phase = Phase.READY
            self._admit()
            await job.turn.wait()
            name = digest(msgspec.json.encode(job.arguments, order="sorted"))
            await finish(self._log.started(job.call, name))
        except Exception as error:  # noqa: BLE001  # a preview or the log failed: this call ends, the batch goes on
            return job.failed(f"The tool {tool.name!r} did not run: {describe(error)}")
        return None

    def _admit(self) -> None:
        """Let the ready jobs run for which there is room, in call order."""
        room = self._terms.limit - sum(job.phase in BUSY for job in self._jobs)
        for job in self._jobs:
            if room <= 0:
                return
            if job.phase is Phase.READY and job.withdrawn is None and not self._is_blocked(job):
                job.phase = Phase.STARTING
                job.turn.set()
                room -= 1

    def _is_blocked(self, job: Job) -> bool:
        """Whether a job before it, or one that is running, writes a file that it writes too."""
        earlier = True
        if not job.writes:
            return False
        for other in self._jobs:
            if other is job:
                earlier = False
            elif other.writes & job.writes and (other.phase in BUSY or (earlier and other.phase is not Phase.ENDED)):
                return True
        return False

    async def _execute(self, job: Job) -> ToolResponse:
        """Run the tool until it is over, or too long, or until it is no longer waited for."""
        tool = _tool_of(job)
        attempt = self._begin(job, tool)
        await _wait(job, lambda: attempt.is_over or self._cancels > 0, tool.timeout)
        if attempt.output is not None:
            return self._respond(job, attempt.output)
        reason = ClosureReason.CANCELLED_RUNNING if self._cancels else ClosureReason.TIMED_OUT
        attempt.cancel()
        await _wait(job, lambda: attempt.is_over or self._cancels > 1, self._terms.grace)
        if attempt.output is not None and reason is ClosureReason.CANCELLED_RUNNING:
            return self._respond(job, attempt.output)  # it came to its own end within the grace period
        return self._abandon(job, reason)

    def _begin(self, job: Job, tool: Tool) -> Attempt:
        loop = asyncio.get_running_loop()
        call = job.call

        def progress(text: str) -> None:
            if job.phase is Phase.RUNNING:
                loop.call_soon_threadsafe(self._log.progress, call, text)

        def late() -> None:
            detail = f"the tool {tool.name!r} returned after its call had been settled; what it returned is dropped"
            self._terms.noted(ToolNote(NoteKind.LATE_RETURN, call.id, detail))

        async def offer(why: str) -> bool:
            terms = self._terms
            return await terms.approval.offer_outside(call.id, tool, job.arguments, why=why, asker=terms.asker)

        job.phase = Phase.RUNNING
        context = ToolContext(
            name=tool.name,
            call_id=call.id,
            progress=progress,
            writes=job.writes,
            unreadable=job.unreadable,
            offer=offer,
        )
        job.attempt = Attempt(tool, job.arguments, context=context, ended=job.ring, late=late)
        return job.attempt

    def _cut_short(self, job: Job) -> ToolResponse:
        """The end of a call for which there is no time left; what its tool has already said still counts."""
        if job.attempt is not None and job.attempt.output is not None:
            return self._respond(job, job.attempt.output)
        return self._abandon(job, ClosureReason.CANCELLED_RUNNING)

    def _abandon(self, job: Job, reason: ClosureReason) -> ToolResponse:
        """The end of a call without its tool's word: nothing that it says later counts."""
        attempt = job.attempt
        if attempt is None:
            return job.closed(job.withdrawn or ClosureReason.NOT_STARTED)
        attempt.cancel()
        attempt.give_up()
        partial = attempt.context.partial
        return job.closed(reason, self._fit(job, partial) if partial else None)

    # --- the end of one call ---

    def _respond(self, job: Job, output: ToolOutput) -> ToolResponse:
        """What the tool gave, as the one thing that may leave here: JSON in a response, however it looked before."""
        try:
            result = self._fit(job, ingest(output.result))
        except IngestError as error:
            return job.failed(f"The tool ran, but its result cannot be passed on: {error.message}")
        error = None if output.error is None else as_text(self._fit(job, clean_text(output.error)))
        return ToolResponse(
            call_id=job.call.id,
            tool_name=job.call.name,
            result=result,
            error=error,
            is_complete=True,
            media=tuple(item for item in output.media if type(item) is Media),
        )

    def _fit(self, job: Job, value: Json) -> Json:
        """`value`, cut to the call's share of the budget."""
        text = as_text(value)
        if len(text) <= self._share:
            return value
        kept = None
        try:
            kept = self._terms.spill(text, job.call)
        except Exception as error:  # noqa: BLE001  # a full disk must not cost the part that does fit
            self._terms.noted(ToolNote(NoteKind.NOT_SPILLED, job.call.id, describe(error)))
        return cut(text, self._share, kept=kept)

    async def _end(self, job: Job, response: ToolResponse) -> None:
        """Commit, then let others have the place, then show what can be shown in call order."""
        job.response = await self._commit(job, response)
        job.phase = Phase.ENDED
        self._admit()
        while self._published < len(self._jobs):
            shown = self._jobs[self._published]
            if shown.phase is not Phase.ENDED or shown.response is None:
                return
            self._published += 1
            try:
                self._log.publish(shown.call, shown.response)
            except Exception as error:  # noqa: BLE001  # a face that cannot show a result does not undo it
                self._terms.noted(ToolNote(NoteKind.NOT_PUBLISHED, shown.call.id, describe(error)))

    async def _commit(self, job: Job, response: ToolResponse) -> ToolResponse:
        """Commit `response`, or where that fails an error in its place; the call ends in any case."""
        for _ in range(2):
            try:
                await finish(self._log.settle(response))
            except Exception as error:  # noqa: BLE001  # whatever went wrong in the log, no call may stay open
                self._terms.noted(ToolNote(NoteKind.NOT_COMMITTED, job.call.id, describe(error)))
                ran = "The tool ran" if job.attempt else "The tool did not run"
                response = job.failed(f"{ran}, but how the call ended could not be recorded: {describe(error)}")
            else:
                break
        return response


def _tool_of(job: Job) -> Tool:
    assert job.tool is not None, "a call without a tool is refused before it gets here"
    return job.tool


async def _wait(job: Job, is_enough: Callable[[], bool], seconds: float | None) -> None:
    """Until `is_enough`, which can change only when the job's bell rings, or until the time is over."""
    with anyio.move_on_after(seconds):
        while not is_enough():
            await job.next_ring()
