"""One request and its answer: render, check, send, decode, record.

The router judges errors; a step does what its verdict says. An attempt that showed nothing leaves no entry in the log;
of one that did, the visible part is recorded, marked as cut or cancelled. A step keeps the settings and the tools that
it began with, and a retry sends the very same body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.errors import ProtocolRefused, ProviderError, RenderError
from legato.model import Answer, CallId, ClosureReason, Ending, Entry, Usage
from legato.model.records import ContentRefused, ReasoningRefused, StepBegan, StepEnded
from legato.request import Request, render
from legato.request.tokens import Estimator
from legato.routing import Compact, NextRoute, ReplaceContent, Retry, Route, Router, Stop, StripReasoning
from legato.session import events
from legato.session.attached import media_of
from legato.session.compaction import Compactor
from legato.session.costs import Spending
from legato.session.journal import Journal
from legato.session.request_settings import RequestSettings
from legato.session.sent import Sent
from legato.session.table import SessionEvent, StateMachine
from legato.session.turn import Turn
from legato.transcript.unproven import unproven_media
from legato.transport import AnswerStream
from legato.wire.deltas import CallDelta, Shown, TextDelta, ThinkingDelta
from legato.world import World


class RouteAbandoned(Exception):  # not an error: the turn goes on elsewhere
    """The present route failed before anything was visible; the turn continues on another one."""

    def __init__(self, verdict: NextRoute) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict


class StepParts(Struct, frozen=True, kw_only=True):
    """What every step of a session works with."""

    session: str
    """the id of the session, for logs"""
    world: World
    journal: Journal
    router: Router
    compactor: Compactor
    machine: StateMachine
    estimator: Estimator
    spending: Spending
    sent: Callable[[Sent], None]
    """is told of each request that was made, before its outcome is known"""


class Step:
    """A step of a turn; `ask` for its answer, run the tools it asks for, then `end` it. `cancel` withdraws it."""

    def __init__(self, parts: StepParts, settings: RequestSettings, turn: Turn, route: Route, number: int) -> None:
        self.tools = settings.tools
        self.kept: Entry | None = None
        """the visible part of an answer that broke off"""
        self._parts = parts
        self._settings = settings
        self._turn = turn
        self._route = route
        self._target = parts.world.target(route.name)
        self._number = number
        self._scope = anyio.CancelScope()
        self._waiting: anyio.CancelScope | None = None
        """while the next attempt is waited for"""
        self._stream: AnswerStream | None = None
        self._answer: Answer | None = None
        self._cost: float | None = 0.0

    def cancel(self) -> None:
        """Withdraw the request; closing the connection tells the provider."""
        self._scope.cancel()

    def hurry(self) -> bool:
        """End the wait for the next attempt; False if nothing is waited for."""
        if self._waiting is None:
            return False
        self._waiting.cancel()
        return True

    async def ask(self) -> Entry | None:
        """The recorded answer; None if the step was cancelled. Raises `RouteAbandoned`, or what made the turn fail."""
        try:
            with self._scope:
                return await self._receive_answer()
        except anyio.get_cancelled_exc_class():  # the whole session is being left
            await self._keep_partial(Ending.CANCELLED)
            raise
        await self._keep_partial(Ending.CANCELLED)
        return None

    async def end(self) -> None:
        """The answer is recorded and its tools are settled."""
        answer = self._answer
        usage, served = (answer.usage, answer.served) if answer is not None else (None, "")
        ending = answer.entry.ending if answer is not None else None
        await self._parts.journal.write(StepEnded(step=self._number, usage=usage, served=served))
        self._turn.show(
            events.StepFinished(step=self._number, usage=usage, served=served, cost=self._cost, ending=ending)
        )

    async def _receive_answer(self) -> Entry:
        attempt = 1
        await self._ensure_fits()
        request = self._request(attempt)
        while True:
            body = request.json()
            sent = await self._note_beginning(request, attempt)
            try:
                answer = await self._send(request, body)
            except ProviderError as error:
                self._tell_refusal(_diagnosed(error, request), sent)
                if await self._overcome(error, attempt):
                    request = self._request(attempt + 1)
                attempt += 1
            else:
                sent.answer = answer
                return await self._take(answer, request, body)

    # --- out ----------------------------------------------------------------------------------------------------------

    async def _ensure_fits(self, *, overflowed: bool = False) -> bool:
        """See that the conversation fits; returns whether it had to be compacted."""
        return await self._parts.compactor.ensure_fits(
            self._route, self._settings, show=self._turn.show, overflowed=overflowed
        )

    def _request(self, attempt: int) -> Request:
        """A request that the provider will accept; what it would refuse never leaves."""
        settings = self._settings
        request = render(
            self._parts.journal.talk,
            self._target,
            tools=settings.tools.specs,
            system=settings.system,
            options=settings.options_for(self._route),
            thinking=settings.thinking,
        )
        try:
            request.verify()
        except RenderError as error:  # `verify` has logged it
            sent = self._note_sent(request, attempt, has_left=False)
            self._turn.show(sent.fail(error))
            raise
        return request

    def _note_sent(self, request: Request, attempt: int, *, has_left: bool = True) -> Sent:
        sent = Sent(request, route=self._route.name, step=self._number, attempt=attempt, has_left=has_left)
        self._parts.sent(sent)
        return sent

    async def _note_beginning(self, request: Request, attempt: int) -> Sent:
        parts, ledger = self._parts, self._parts.journal.talk.ledger
        parts.router.sending(attempt=attempt)
        open_calls: dict[CallId, ClosureReason] = {
            call.id: ledger.closure_reason(call) for call in ledger.pending.values() if call.frozen is None
        }
        await parts.journal.write(
            StepBegan(
                step=self._number,
                target=self._route.name,
                attempt=attempt,
                digest=request.digest(),
                closures=open_calls,
            )
        )
        change = request.prefix_change
        self._turn.show(
            events.StepStarted(
                step=self._number,
                route=self._route.name,
                attempt=attempt,
                closed={call: reason.value for call, reason in open_calls.items()},
                prefix=change.cause.value if change else "",
            )
        )
        sent = self._note_sent(request, attempt)
        if self._settings.reports:
            self._turn.show(sent.reported())
        return sent

    # --- in -----------------------------------------------------------------------------------------------------------

    async def _send(self, request: Request, body: bytes) -> Answer:
        self._stream = await self._parts.world.open_answer(
            request, body=body, stream=request.options.stream, headers=self._route.headers
        )
        async with self._stream as stream:
            is_first = True
            async for delta in stream:
                if not isinstance(delta, Shown):
                    continue
                if is_first:
                    self._parts.machine.advance(SessionEvent.FIRST_DELTA)
                    is_first = False
                self._turn.show(_shown(delta))
        return stream.answer

    async def _take(self, answer: Answer, request: Request, body: bytes) -> Entry:
        """Record the answer and count what it used."""
        parts = self._parts
        media = media_of(parts.journal.talk)
        entry = await parts.journal.record(answer)
        self._answer = answer
        parts.router.succeeded()
        if answer.usage is not None:
            parts.estimator.observe_with_media(self._route.name, body, media, answer.usage.input)
            self._cost = parts.spending.add(self._route.name, answer.usage, request.target.capabilities)
        if answer.usage is None or not (answer.usage.input or answer.usage.output):
            sent = parts.estimator.tokens(self._route.name, request.json())
            came = parts.estimator.tokens(self._route.name, msgspec.json.encode(answer.entry))
            parts.spending.guess(Usage(input=sent, output=came), request.target.capabilities)
        return entry

    # --- when it fails ------------------------------------------------------------------------------------------------

    def _tell_refusal(self, error: ProviderError, sent: Sent) -> None:
        """Report why the request failed: to the log, to a trace, and to the turn."""
        from legato.diagnostics import emit_fault  # most steps do not fail

        emit_fault(error, session=self._parts.session, step=sent.step, attempt=sent.attempt)
        self._turn.show(sent.fail(error))

    async def _overcome(self, error: ProviderError, attempt: int) -> bool:
        """Do what the router says about `error`; returns whether to render a new request. Raises if it is over."""
        parts, machine = self._parts, self._parts.machine
        visible = self._stream is not None and self._stream.visible
        verdict = parts.router.judge(error, visible=visible, attempt=attempt)
        match verdict:
            case Retry():
                await self._wait(verdict, attempt)
                return False
            case StripReasoning():
                machine.advance(SessionEvent.REASONING_REFUSED)
                await parts.journal.write(ReasoningRefused(origin=self._target.origin()))
                self._turn.show(events.Notice(text=f"{self._route.name} refused its own reasoning; sending without it"))
                return True
            case ReplaceContent():
                await self._replace_content(error)
                return True
            case Compact():
                machine.advance(SessionEvent.TOO_LONG)
                if not await self._ensure_fits(overflowed=True):
                    raise error
                machine.advance(SessionEvent.COMPACTED)
                return True
            case NextRoute():
                raise RouteAbandoned(verdict)
            case Stop():
                await self._keep_partial(Ending.CUT)
                raise verdict.error
            case _:
                assert_never(verdict)

    async def _wait(self, verdict: Retry, attempt: int) -> None:
        """Wait for the next attempt; raises `RouteAbandoned` if another route is chosen before or meanwhile."""
        parts, machine = self._parts, self._parts.machine
        if (overtaken := parts.router.overtaken()) is None:
            machine.advance(SessionEvent.TRANSIENT_ERROR)
            self._turn.show(
                events.Waiting(
                    seconds=verdict.after,
                    reason=verdict.reason,
                    route=self._route.name,
                    attempt=attempt,
                    left=verdict.left,
                )
            )
            with anyio.CancelScope() as self._waiting:
                await parts.world.sleep(verdict.after)
            self._waiting = None
            machine.advance(SessionEvent.TIMER)
            overtaken = parts.router.overtaken()
        if overtaken is not None:
            raise RouteAbandoned(overtaken)

    async def _replace_content(self, error: ProviderError) -> None:
        """Put a note in place of media that the provider cannot read; raises `error` if no result has any new ones."""
        journal, provider = self._parts.journal, self._target.provider
        known = journal.talk.ledger.refused_content.get(provider, frozenset())
        calls = tuple(call for call in unproven_media(journal.talk, self._route.name) if call not in known)
        if not calls:
            raise error
        self._parts.machine.advance(SessionEvent.CONTENT_REFUSED)
        await journal.write(ContentRefused(provider=provider, calls=calls))
        what = "a tool's result holds" if len(calls) == 1 else f"the results of {len(calls)} tools hold"
        self._turn.show(events.Notice(text=f"{self._route.name} cannot read what {what}; sending a note in its place"))

    async def _keep_partial(self, ending: Ending) -> None:
        """Record what was visible of an answer that did not end well."""
        partial = self._stream.partial() if self._stream is not None and self._answer is None else None
        if partial is not None:
            self.kept = await self._parts.journal.record(replace(partial.entry, ending=ending))


def _diagnosed(error: ProviderError, request: Request) -> ProviderError:
    """`error`, with what was done to the refused request and which rules it may have broken, as plain data."""
    if isinstance(error, ProtocolRefused):
        error.facts.setdefault("report", msgspec.to_builtins(request.report))
        violations = request.check()
        error.facts.setdefault("violations", [msgspec.to_builtins(violation) for violation in violations])
        error.facts.setdefault("rules", sorted({violation.rule for violation in violations}))
    return error


def _shown(delta: Shown) -> events.Event:
    match delta:
        case TextDelta():
            return events.TextShown(text=delta.text)
        case ThinkingDelta():
            return events.Thought(text=delta.text)
        case CallDelta():
            return events.Calling(index=delta.index, name=delta.name, arguments=delta.arguments)
        case _:
            assert_never(delta)
