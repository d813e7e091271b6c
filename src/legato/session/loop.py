"""The turn loop: the same for the terminal, for one-shot use and for subagents.

    turn   from a message to an answer without calls; bound to one route
    step   one request, its answer, and the batch of tools it asked for

When a route is lost before anything was visible, its turn ends as failed and a continuation begins on the next route,
from the same log. Whatever happens, the turn ends exactly once: its last record is written, the session is at rest, and
everyone awaiting the turn is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import anyio

from legato.errors import LegatoError
from legato.model import ClosureReason, Ending, Entry, Speaker, Text, ToolCall, ToolResponse
from legato.model.records import TurnBegan, TurnCause, TurnEnded, TurnOutcome
from legato.request.prices import in_dollars
from legato.routing import Route, Router
from legato.session import events
from legato.session.batch_log import SessionBatchLog
from legato.session.costs import Spending
from legato.session.journal import Journal
from legato.session.limits import Limits
from legato.session.parked import parked_calls
from legato.session.step import RouteAbandoned, Step
from legato.session.table import SessionEvent, State, StateMachine
from legato.session.turn import Turn, TurnResult
from legato.tools import ToolScheduler
from legato.wire.phrases import CONTINUE

BeginStep: TypeAlias = Callable[[Turn, Route, int], Step]
"""makes the step of a turn that has that number, on that route, with the session's settings as they are now"""


class _End(NamedTuple):
    outcome: TurnOutcome
    detail: str = ""
    error: LegatoError | None = None


def _failed(error: LegatoError) -> _End:
    """How a turn ends that `error` ended. What a provider said may quote a secret, which is not written down."""
    from legato.diagnostics import Redactor  # most turns do not fail

    return _End(TurnOutcome.FAILED, Redactor().text(error.message), error)


_CANCELLED = _End(TurnOutcome.CANCELLED, "cancelled")
_DONE = _End(TurnOutcome.DONE)
_BROKEN_OFF = _End(TurnOutcome.INCOMPLETE, "the provider broke the answer off; ask to go on")

_ANSWERED: dict[Ending | None, _End] = {
    None: _DONE,  # the provider does not say how its answers end
    Ending.DONE: _DONE,
    Ending.CALLS: _DONE,
    Ending.LENGTH: _End(
        TurnOutcome.INCOMPLETE,
        "the answer was cut at the output limit; ask to go on, or raise max_tokens",
    ),
    Ending.CUT: _BROKEN_OFF,
    Ending.CANCELLED: _BROKEN_OFF,
    Ending.PAUSED: _BROKEN_OFF,
    Ending.REFUSED: _End(
        TurnOutcome.REFUSED,
        "the model refused to answer; ask in another way, or ask another model",
    ),
}
"""how a turn ends whose last answer ended so and asks for no tools"""

_EVENT_OF = {
    TurnOutcome.DONE: SessionEvent.ANSWER,
    TurnOutcome.INCOMPLETE: SessionEvent.ANSWER,
    TurnOutcome.REFUSED: SessionEvent.ANSWER,
    TurnOutcome.FAILED: SessionEvent.FAILURE,
    TurnOutcome.CANCELLED: SessionEvent.CANCEL,
    TurnOutcome.LIMIT: SessionEvent.LIMIT,
}


class TurnLoop:
    """Runs one turn of a session, and the continuations that follow from it, once `after` is over."""

    def __init__(
        self,
        *,
        session: str,
        journal: Journal,
        router: Router,
        scheduler: ToolScheduler,
        machine: StateMachine,
        spending: Spending,
        limits: Limits,
        begin_step: BeginStep,
        after: Turn | None = None,
    ) -> None:
        """`session` is the id of the session, for logs."""
        self.turn = Turn(self.cancel, session=session)
        self.is_ending = False
        """no step follows any more: a message that comes now begins a turn of its own"""
        self._journal = journal
        self._router = router
        self._scheduler = scheduler
        self._machine = machine
        self._spending = spending
        self._limits = limits
        self._begin_step = begin_step
        self._after = after
        self._batch_log = SessionBatchLog(journal, self.turn.show)
        self._has_begun = self._is_cancelled = False
        self._pending: deque[Entry] = deque()
        """messages that came during the turn and are not recorded yet"""
        self._recording = anyio.Lock()
        self._number = 0
        self._route = ""
        self._step: Step | None = None
        self._steps = 0
        self._answer: Entry | None = None
        self._text = ""
        """of the last answer, with what it said before its provider paused"""
        self._before = spending.now()

    # --- from outside -------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """End the turn: withdraw the request, or let the scheduler settle what runs."""
        self._is_cancelled = self.is_ending = True
        if not self._has_begun:
            return
        if self._machine.is_running_tools:
            self._machine.advance(SessionEvent.CANCEL)
            self._scheduler.cancel()
        elif self._step is not None:
            self._step.cancel()

    def hurry(self) -> bool:
        """Make the next attempt now, if one is waited for; False if none is."""
        return self._step is not None and self._step.hurry()

    def interject(self, message: Entry) -> bool:
        """Take a message into the turn; returns whether it can be recorded now, because no request is under way."""
        self._pending.append(message)
        if not self._has_begun:
            return False
        self._machine.advance(SessionEvent.INTERJECTION)
        self._scheduler.skip_unstarted()
        return self._machine.is_running_tools

    async def record_pending(self) -> None:
        """Record the messages that came in: after the answer that was on its way then, before the next request."""
        async with self._recording:
            while self._pending:
                await self._journal.record(self._pending[0])
                self._pending.popleft()

    # --- the turn -----------------------------------------------------------------------------------------------------

    async def run(self, message: Entry | None = None) -> None:
        """The whole turn, begun by `message`, or by going on with what is open: calls that an earlier process left, or
        what was said and never answered.

        If there are such calls and a message comes instead of a verdict, they are skipped for it.
        """
        try:
            if self._after is not None:
                await self._after.ended()
                self._after = None  # or every turn of the session would stay in memory, held by the one after it
            end = await self._turns(message)
        except LegatoError as error:
            end = _failed(error)
        except anyio.get_cancelled_exc_class():  # the session is being left
            with anyio.CancelScope(shield=True):
                await self._close(_CANCELLED)
            raise
        await self._close(end)

    async def _turns(self, message: Entry | None) -> _End:
        """The turn and its continuations, until one of them ends."""
        calls = parked_calls(self._journal.talk)
        asked_again = SessionEvent.RESUMED if calls else SessionEvent.RETRY
        self._machine.advance(asked_again if message is None else SessionEvent.MESSAGE)
        self._has_begun = True
        self._before = self._spending.now()
        await self._commit_pending()
        said: tuple[Entry, ...] = ()
        cause = TurnCause.CONTINUATION
        if message is not None:
            await self._settle(calls, ClosureReason.SKIPPED)
            said, calls, cause = (message,), (), TurnCause.MESSAGE
        while True:
            route = await self._begin(cause, said)
            try:
                return await self._steps_on(route, calls)
            except RouteAbandoned as lost:
                await self._move_on(lost)
                said, calls, cause = (), (), TurnCause.CONTINUATION

    async def _begin(self, cause: TurnCause, said: Sequence[Entry]) -> Route:
        """Choose a route, and record that a turn begins there with what was `said`; it is recorded in any case."""
        number = self._journal.turns + 1
        try:
            route = self._router.choose(number, cause=cause)
        except LegatoError:
            if said:
                await self._journal.write(*said)
            raise
        await self._journal.write(*said, TurnBegan(turn=number, route=route.name, cause=cause))
        self._number, self._route = number, route.name
        self.turn.show(events.TurnStarted(turn=number, route=route.name, continues=cause is TurnCause.CONTINUATION))
        return route

    async def _steps_on(self, route: Route, calls: Sequence[ToolCall]) -> _End:
        """Steps on one route, until the model has nothing more to ask for."""
        while True:
            if calls:
                await self._run_tools(calls)
            if self._is_cancelled:
                return _CANCELLED
            await self.record_pending()
            if limit := self._limits.exceeded(self._steps, self._spending.limited):
                return _End(TurnOutcome.LIMIT, limit)
            self._steps += 1
            self._step = step = self._begin_step(self.turn, route, self._steps)
            entry = await step.ask()
            self._note_answer(entry or step.kept)
            if entry is None:
                return _CANCELLED
            calls = () if entry.ending is Ending.REFUSED else entry.calls
            if calls:
                self._machine.advance(SessionEvent.ANSWER_WITH_CALLS)
                self.turn.show(events.CallsMade(calls=calls))
                continue
            await step.end()
            if not await self._goes_on(entry):
                return _ANSWERED[entry.ending]
            self._machine.advance(SessionEvent.GOES_ON)

    async def _run_tools(self, calls: Sequence[ToolCall]) -> None:
        """Run the batch that an answer asked for; afterwards every call of it is settled in the log."""
        journal, machine, step = self._journal, self._machine, self._step
        if self._is_cancelled:  # before anything could start
            if machine.state is State.RUNNING:
                machine.advance(SessionEvent.CANCEL)
            await self._settle(calls, ClosureReason.NOT_STARTED)
        else:
            # Calls that an earlier process left open have no step: they run with the session's present tools.
            responses = await self._scheduler.run(calls, self._batch_log, tools=step.tools if step else None)
            known = journal.talk.ledger.calls
            journal.uncommitted += [response for response in responses if not known[response.call_id].is_settled]
            await self._commit_pending()
        if step is not None:
            await step.end()
        if not self._is_cancelled:
            machine.advance(SessionEvent.SETTLED)

    def _note_answer(self, answer: Entry | None) -> None:
        if answer is not None:
            goes_on = self._answer is not None and self._answer.ending is Ending.PAUSED
            self._text = f"{self._text}\n{answer.text}" if goes_on else answer.text
            self._answer = answer

    async def _goes_on(self, entry: Entry) -> bool:
        """Whether there is more to say after an answer without calls: a message came, or the provider only paused."""
        if self._pending:
            return True
        if entry.ending is Ending.PAUSED:
            if not self._is_cancelled:
                await self._journal.record(Entry(Speaker.HUMAN, (Text(CONTINUE),)))
            return True
        self.is_ending = True
        if not entry.text.strip() and _ANSWERED[entry.ending] is _DONE:
            self.turn.show(events.Notice(text="the model thought, but said nothing; ask it to go on"))
        return False

    async def _move_on(self, lost: RouteAbandoned) -> None:
        """End the turn whose route was lost; the continuation begins on the next one."""
        verdict = lost.verdict
        await self._journal.write(TurnEnded(turn=self._number, outcome=TurnOutcome.FAILED, detail=verdict.reason))
        self._machine.advance(SessionEvent.ROUTE_LOST)
        self.turn.show(events.RouteLost(route=self._route, reason=verdict.reason, following=verdict.route.name))

    async def _settle(self, calls: Sequence[ToolCall], reason: ClosureReason) -> None:
        for call in calls:
            await self._batch_log.settle(ToolResponse(call_id=call.id, tool_name=call.name, reason=reason))

    async def _commit_pending(self) -> None:
        """Commit what the store would not take before."""
        uncommitted = self._journal.uncommitted
        while uncommitted:
            await self._batch_log.settle(uncommitted[0])
            uncommitted.pop(0)

    # --- the end ------------------------------------------------------------------------------------------------------

    async def _close(self, end: _End) -> None:
        """Write the end down, bring the session to rest, and tell everyone who awaits the turn."""
        spending, turn = self._spending, self.turn
        self.is_ending = True
        try:
            await self.record_pending()
            if self._number:
                await self._journal.write(TurnEnded(turn=self._number, outcome=end.outcome, detail=end.detail))
        except LegatoError as error:  # the store failed: what it holds stays, and the turn failed
            cause = end.error or error
            if cause is not error:
                cause.facts.setdefault("also", error.message)
            end = _failed(cause)
        if self._has_begun:
            self._come_to_rest(_EVENT_OF[end.outcome])
        usage, cost = spending.since(self._before)
        if cost is None and (limit := self._limits.max_cost) is not None:
            told = f"the limit of {in_dollars(limit)} leaves out what is not known: the price of {self._route}"
            turn.show(events.Notice(text=f"{told}; set price_input and price_output in the settings"))
        ending = None if self._answer is None else self._answer.ending
        turn.show(
            events.TurnFinished(
                turn=self._number, outcome=end.outcome, detail=end.detail, ending=ending, usage=usage, cost=cost
            )
        )
        result = TurnResult(self._text, end.outcome, self._route, self._steps, usage, cost, self._answer, end.detail)
        turn.end(result, end.error)

    def _come_to_rest(self, event: SessionEvent) -> None:
        machine = self._machine
        if event is SessionEvent.CANCEL and machine.state is State.RUNNING:  # the session is left while tools run
            machine.advance(SessionEvent.CANCEL)
        settled = event is SessionEvent.CANCEL and machine.state is State.SETTLING
        machine.advance(SessionEvent.SETTLED if settled else event)
