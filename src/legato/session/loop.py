"""The turn loop: the same for the terminal, for one-shot use and for subagents.

    turn   from a message to an answer without calls; bound to one route
    step   one request, its answer, and the batch of tools it asked for

When a route is lost before anything was visible, its turn ends as failed and a continuation begins on the next route,
from the same log. Whatever happens, the turn ends once: with its last record written, the session at rest, and whoever
waits for it told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import anyio

from legato.errors import LegatoError
from legato.model import ClosureReason, Ending, Entry, Speaker, Text, ToolCall, ToolResponse
from legato.model.records import TurnBegan, TurnCause, TurnEnded, TurnOutcome
from legato.routing import Route
from legato.session import events
from legato.session.step import RouteLost, Step
from legato.session.table import Happening, State
from legato.session.turn import Turn, TurnResult
from legato.wire.phrases import CONTINUE

if TYPE_CHECKING:
    from legato.session.session import Session


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

_HAPPENED = {
    TurnOutcome.DONE: Happening.ANSWER,
    TurnOutcome.INCOMPLETE: Happening.ANSWER,
    TurnOutcome.REFUSED: Happening.ANSWER,
    TurnOutcome.FAILED: Happening.FAILURE,
    TurnOutcome.CANCELLED: Happening.CANCEL,
    TurnOutcome.LIMIT: Happening.LIMIT,
}


class TurnLoop:
    """Runs one turn of a session, and the continuations that follow from it, once `after` is over."""

    def __init__(self, session: Session, *, after: Turn | None = None) -> None:
        self.session = session
        self.turn = Turn(self.cancel, session=session.id or "")
        self.is_ending = False
        """no step follows any more: whatever is said from now on begins a turn of its own"""
        self._after = after
        self._has_begun = self._is_cancelled = False
        self._said: deque[Entry] = deque()
        """messages that came during the turn and are not recorded yet"""
        self._hearing = anyio.Lock()
        self._number = 0
        self._route = ""
        self._step: Step | None = None
        self._steps = 0
        self._answer: Entry | None = None
        self._text = ""
        """of the last answer, with what it said before its provider paused"""
        self._spent, self._used = session.spending.cost, session.spending.usage

    # --- from outside -------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """End the turn: withdraw the request, or let the scheduler settle what runs."""
        self._is_cancelled = self.is_ending = True
        if not self._has_begun:
            return
        if self.session.state in (State.RUNNING, State.SETTLING):
            self.session.happened(Happening.CANCEL)
            self.session.scheduler.cancel()
        elif self._step is not None:
            self._step.cancel()

    def steer(self, message: Entry) -> bool:
        """Take a message into the turn; whether it can be recorded at once, because no request is under way."""
        self._said.append(message)
        if not self._has_begun:
            return False
        self.session.happened(Happening.STEERING)
        self.session.scheduler.skip_unstarted()
        return self.session.state in (State.RUNNING, State.SETTLING)

    async def hear(self) -> None:
        """Record what was said meanwhile: behind the answer that was on its way then, before the next request."""
        async with self._hearing:
            while self._said:
                await self.session.journal.record(self._said[0])
                self._said.popleft()

    # --- the turn -----------------------------------------------------------------------------------------------------

    async def run(self, message: Entry | None = None) -> None:
        """The whole turn, begun by `message`, or by going on with the calls that an earlier process left open.

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
        """The turn and its continuations, until one of them comes to an end."""
        session = self.session
        calls = session.parked
        session.happened(Happening.RESUMED if message is None else Happening.MESSAGE)
        session.active, self._has_begun = self, True
        self._spent, self._used = session.spending.cost, session.spending.usage
        cause = TurnCause.CONTINUATION if message is None else TurnCause.MESSAGE
        await self._pay()
        said: list[Entry] = []
        if message is not None:
            await self._settle(calls, ClosureReason.SKIPPED)
            said, calls = [message], ()
        while True:
            number = session.turns + 1
            try:
                route = session.router.choose(number, cause=cause)
            except LegatoError:
                if said:
                    await session.journal.write(*said)
                raise
            await session.journal.write(*said, TurnBegan(turn=number, route=route.name, cause=cause))
            said = []
            session.turns = self._number = number
            self._route = route.name
            self.turn.show(events.TurnStarted(turn=number, route=route.name, continues=cause is TurnCause.CONTINUATION))
            try:
                return await self._steps_on(route, calls)
            except RouteLost as lost:
                await self._move_on(lost)
                calls, cause = (), TurnCause.CONTINUATION

    async def _steps_on(self, route: Route, calls: Sequence[ToolCall]) -> _End:
        """Steps on one route, until the model has nothing more to ask for."""
        session = self.session
        while True:
            if calls:
                await self._run_tools(calls)
            if self._is_cancelled:
                return _CANCELLED
            await self.hear()
            if limit := session.limits.exceeded(self._steps, session.spending.cost):
                return _End(TurnOutcome.LIMIT, limit)
            self._steps += 1
            self._step = step = Step(session, self.turn, route, self._steps)
            entry = await step.ask()
            self._note_answer(entry or step.kept)
            if entry is None:
                return _CANCELLED
            calls = () if entry.ending is Ending.REFUSED else entry.calls
            if calls:
                session.happened(Happening.ANSWER_WITH_CALLS)
                self.turn.show(events.CallsMade(calls=calls))
                continue
            await step.end()
            if not await self._goes_on(entry):
                return _ANSWERED[entry.ending]
            session.happened(Happening.GOES_ON)

    async def _run_tools(self, calls: Sequence[ToolCall]) -> None:
        """Run the batch that an answer asked for; afterwards every call of it is settled in the log."""
        session, step = self.session, self._step
        if self._is_cancelled:  # before anything could start
            if session.state is State.RUNNING:
                session.happened(Happening.CANCEL)
            await self._settle(calls, ClosureReason.NOT_STARTED)
        else:
            known, tools = session.talk.ledger.calls, step.tools if step else session.tools
            responses = await session.scheduler.run(calls, session.keeper_for(self.turn), tools=tools)
            session.owed += [response for response in responses if not known[response.call_id].is_settled]
            await self._pay()
        if step is not None:
            await step.end()
        if not self._is_cancelled:
            session.happened(Happening.SETTLED)

    def _note_answer(self, answer: Entry | None) -> None:
        if answer is not None:
            goes_on = self._answer is not None and self._answer.ending is Ending.PAUSED
            self._text = f"{self._text}\n{answer.text}" if goes_on else answer.text
            self._answer = answer

    async def _goes_on(self, entry: Entry) -> bool:
        """Whether there is more to say after an answer without calls: a message came, or the provider only paused."""
        if self._said:
            return True
        if entry.ending is Ending.PAUSED:
            if not self._is_cancelled:
                await self.session.journal.record(Entry(Speaker.HUMAN, (Text(CONTINUE),)))
            return True
        self.is_ending = True
        if not entry.text.strip() and _ANSWERED[entry.ending] is _DONE:
            self.turn.show(events.Notice(text="the model thought, but said nothing; ask it to go on"))
        return False

    async def _move_on(self, lost: RouteLost) -> None:
        """End the turn whose route was lost; the continuation begins on the next one."""
        session, verdict = self.session, lost.verdict
        await session.journal.write(TurnEnded(turn=self._number, outcome=TurnOutcome.FAILED, detail=verdict.reason))
        session.happened(Happening.ROUTE_LOST)
        self.turn.show(events.RouteLost(route=self._route, reason=verdict.reason, following=verdict.route.name))

    async def _settle(self, calls: Sequence[ToolCall], reason: ClosureReason) -> None:
        keeper = self.session.keeper_for(self.turn)
        for call in calls:
            await keeper.settle(ToolResponse(call_id=call.id, tool_name=call.name, reason=reason))

    async def _pay(self) -> None:
        """Commit what the store would not take before."""
        keeper, owed = self.session.keeper_for(self.turn), self.session.owed
        while owed:
            await keeper.settle(owed[0])
            owed.pop(0)

    # --- the end ------------------------------------------------------------------------------------------------------

    async def _close(self, end: _End) -> None:
        """Write the end down, bring the session to rest, and tell whoever waits."""
        session, turn = self.session, self.turn
        self.is_ending = True
        try:
            await self.hear()
            if self._number:
                await session.journal.write(TurnEnded(turn=self._number, outcome=end.outcome, detail=end.detail))
        except LegatoError as error:  # the store failed: what it holds stays, and the turn failed
            cause = end.error or error
            if cause is not error:
                cause.facts.setdefault("also", error.message)
            end = _failed(cause)
        if self._has_begun:
            self._come_to_rest(_HAPPENED[end.outcome])
        usage, cost = session.spending.since(self._used), session.spending.cost - self._spent
        ending = None if self._answer is None else self._answer.ending
        turn.show(
            events.TurnEnded(
                turn=self._number, outcome=end.outcome, detail=end.detail, ending=ending, usage=usage, cost=cost
            )
        )
        result = TurnResult(self._text, end.outcome, self._route, self._steps, usage, cost, self._answer, end.detail)
        turn.end(result, end.error)

    def _come_to_rest(self, happening: Happening) -> None:
        session = self.session
        if happening is Happening.CANCEL and session.state is State.RUNNING:  # the session is left while tools run
            session.happened(Happening.CANCEL)
        settled = happening is Happening.CANCEL and session.state is State.SETTLING
        session.happened(Happening.SETTLED if settled else happening)
