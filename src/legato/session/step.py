"""One request and its answer: render, check, send, decode, record.

Errors are judged by the router; this module does what its verdict says. Nothing is recorded of an attempt that showed
nothing; of one that did, what was visible stays, marked as cut or cancelled. A step is bound to the tools that its
request offered, and a retry sends the very same body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import anyio
import msgspec
from msgspec.structs import replace

from legato.errors import ProtocolRefused, ProviderError, RenderError
from legato.model import Answer, CallId, ClosureReason, Ending, Entry
from legato.model.records import ContentRefused, ReasoningRefused, StepBegan, StepEnded
from legato.request import Request, render
from legato.routing import Compact, NextRoute, ReplaceContent, Retry, Route, Stop, StripReasoning
from legato.session import events
from legato.session.sent import Sent
from legato.session.table import Happening
from legato.session.unproven import unproven_media
from legato.transport import AnswerStream, open_answer, wire_request
from legato.wire.deltas import CallDelta, Shown, TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from legato.session.session import Session
    from legato.session.turn import Turn


class RouteLost(Exception):  # not an error: the turn goes on elsewhere
    """The present route failed before anything was visible; the turn continues on another one."""

    def __init__(self, verdict: NextRoute) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict


class Step:
    """The step of a turn that is under way; `cancel` withdraws it."""

    def __init__(self, session: Session, turn: Turn, route: Route, number: int) -> None:
        self.session = session
        self.turn = turn
        self.route = route
        self.number = number
        self.tools = session.tools
        self.kept: Entry | None = None
        """what was visible of an answer that did not end well"""
        self._scope = anyio.CancelScope()
        self._stream: AnswerStream | None = None
        self._answer: Answer | None = None
        self._cost = 0.0

    def cancel(self) -> None:
        """Withdraw the request; closing the connection tells the provider."""
        self._scope.cancel()

    async def ask(self) -> Entry | None:
        """The recorded answer; None if the step was cancelled. Raises `RouteLost`, or what made the turn fail."""
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
        await self.session.journal.write(StepEnded(step=self.number, usage=usage, served=served))
        self.turn.show(events.StepEnded(step=self.number, usage=usage, served=served, cost=self._cost, ending=ending))

    async def _receive_answer(self) -> Entry:
        attempt = 1
        await self.session.room.for_step(self.route, self.turn)
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
                return await self._take(answer, request, len(body))

    # --- out ----------------------------------------------------------------------------------------------------------

    def _request(self, attempt: int) -> Request:
        """A request that the provider will accept; what it would refuse never leaves."""
        session = self.session
        request = render(
            session.talk,
            session.target(self.route),
            tools=self.tools.specs,
            system=session.system,
            options=session.options_for(self.route),
            thinking=session.thinking,
        )
        try:
            request.verify()
        except RenderError as error:  # `verify` has logged it
            session.last = Sent(request, route=self.route.name, step=self.number, attempt=attempt, has_left=False)
            self.turn.show(session.last.fail(error))
            raise
        return request

    async def _note_beginning(self, request: Request, attempt: int) -> Sent:
        session, ledger = self.session, self.session.talk.ledger
        session.router.sending(attempt=attempt)
        open_calls: dict[CallId, ClosureReason] = {
            call.id: ledger.closure_reason(call) for call in ledger.pending.values() if call.frozen is None
        }
        await session.journal.write(
            StepBegan(
                step=self.number,
                target=self.route.name,
                attempt=attempt,
                digest=request.digest(),
                closures=open_calls,
            )
        )
        change = request.prefix_change
        self.turn.show(
            events.StepStarted(
                step=self.number,
                route=self.route.name,
                attempt=attempt,
                closed={call: reason.value for call, reason in open_calls.items()},
                prefix=change.cause.value if change else "",
            )
        )
        session.last = Sent(request, route=self.route.name, step=self.number, attempt=attempt)
        if session.reports:
            self.turn.show(session.last.reported())
        return session.last

    # --- in -----------------------------------------------------------------------------------------------------------

    async def _send(self, request: Request, body: bytes) -> Answer:
        session, world = self.session, self.session.world
        wire = wire_request(
            request.target,
            body,
            key=world.keys.find(request.target.provider),
            stream=request.options.stream,
            headers=self.route.headers,
        )
        self._stream = open_answer(world.transport, wire, request.decoder(), decode=request.decode, clock=world.clock)
        async with self._stream as stream:
            is_first = True
            async for delta in stream:
                if not isinstance(delta, Shown):
                    continue
                if is_first:
                    session.happened(Happening.FIRST_DELTA)
                    is_first = False
                self.turn.show(_shown(delta))
        return stream.answer

    async def _take(self, answer: Answer, request: Request, size: int) -> Entry:
        """Record the answer and count what it used."""
        session = self.session
        entry = await session.journal.record(answer)
        self._answer = answer
        session.router.succeeded()
        if answer.usage is not None:
            session.estimator.observe(self.route.name, size, answer.usage.input)
            self._cost = session.spending.add(self.route.name, answer.usage, request.target.capabilities)
        return entry

    # --- when it fails ------------------------------------------------------------------------------------------------

    def _tell_refusal(self, error: ProviderError, sent: Sent) -> None:
        """Tell everybody who listens that the request failed, and why: the log, a trace, and who watches the turn."""
        from legato.diagnostics import emit_fault  # most steps do not fail

        emit_fault(error, session=self.session.id or "", step=sent.step, attempt=sent.attempt)
        self.turn.show(sent.fail(error))

    async def _overcome(self, error: ProviderError, attempt: int) -> bool:
        """Do what the router says about `error`; whether the request has to be made anew. Raises if it is over."""
        session = self.session
        visible = self._stream is not None and self._stream.visible
        verdict = session.router.judge(error, visible=visible, attempt=attempt)
        match verdict:
            case Retry():
                session.happened(Happening.TRANSIENT_ERROR)
                self.turn.show(events.Waiting(seconds=verdict.after, reason=verdict.reason))
                await session.world.sleep(verdict.after)
                session.happened(Happening.TIMER)
                return False
            case StripReasoning():
                session.happened(Happening.REASONING_REFUSED)
                await session.journal.write(ReasoningRefused(origin=session.target(self.route).origin()))
                self.turn.show(events.Notice(text=f"{self.route.name} refused its own reasoning; sending without it"))
                return True
            case ReplaceContent():
                await self._replace_content(error)
                return True
            case Compact():
                session.happened(Happening.TOO_LONG)
                if not await session.room.for_step(self.route, self.turn, overflowed=True):
                    raise error
                session.happened(Happening.COMPACTED)
                return True
            case NextRoute():
                raise RouteLost(verdict)
            case Stop():
                await self._keep_partial(Ending.CUT)
                raise verdict.error
            case _:
                assert_never(verdict)

    async def _replace_content(self, error: ProviderError) -> None:
        """Let a note stand for what the provider could not read; raises `error` if no result holds anything new."""
        session, provider = self.session, self.session.target(self.route).provider
        known = session.talk.ledger.refused_content.get(provider, frozenset())
        calls = tuple(call for call in unproven_media(session.talk, self.route.name) if call not in known)
        if not calls:
            raise error
        session.happened(Happening.CONTENT_REFUSED)
        await session.journal.write(ContentRefused(provider=provider, calls=calls))
        what = "a tool's result holds" if len(calls) == 1 else f"the results of {len(calls)} tools hold"
        self.turn.show(events.Notice(text=f"{self.route.name} cannot read what {what}; sending a note in its place"))

    async def _keep_partial(self, ending: Ending) -> None:
        """Record what was visible of an answer that did not end well."""
        partial = self._stream.partial() if self._stream is not None and self._answer is None else None
        if partial is not None:
            self.kept = await self.session.journal.record(replace(partial.entry, ending=ending))


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
            return events.Said(text=delta.text)
        case ThinkingDelta():
            return events.Thought(text=delta.text)
        case CallDelta():
            return events.Calling(index=delta.index, name=delta.name, arguments=delta.arguments)
        case _:
            assert_never(delta)
