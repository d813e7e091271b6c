"""One answer on its way to the client, from whichever route gives it.

In:  what the client said, the conversation that it belongs to, and a router.
Out: the bytes of the answer while it arrives, or the whole of it.

The router judges errors, as it does for sessions; what its verdicts lead to differs, because the conversation is the
client's: nothing is compacted here, and an overflow is told in the words that start the client's own compaction. Until
something visible was said (thinking is not), another route may answer and the client does not notice.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from functools import cache, partial
from typing import assert_never

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from legato.errors import LegatoError, ProviderError
from legato.gateway.control import SummaryRequest
from legato.gateway.intake import ClientRequest
from legato.gateway.passed_keys import PassedKey, key_for
from legato.gateway.recall import Recall, Recalled, holds_reasoning
from legato.gateway.references import check_held
from legato.gateway.refusals import OF_CLIENT
from legato.gateway.reports import RouteAttempt
from legato.gateway.speakers import AnswerSpeaker
from legato.gateway.transparency import passed_headers, unchanged_body
from legato.model import Action, Answer, Decision, Ending, Fault, Options, Target, Usage
from legato.model.records import ContentRefused, ReasoningRefused, TurnCause
from legato.request import Request, render
from legato.request.reader import Answerable, AnswerReader
from legato.request.rendering import prepare
from legato.request.tokens import Estimator
from legato.routing import Compact, NextRoute, ReplaceContent, Retry, Route, Router, Stop, StripReasoning
from legato.serving.contract import ConnectionCut
from legato.transcript.unproven import unproven_media
from legato.transport import AnswerStream
from legato.wire.deltas import Delta
from legato.world import World

LEFT = "ClientLeft"
"""how an attempt ended for which the client did not wait"""


class Relayed(Struct, kw_only=True):
    """What is known of an answer afterwards."""

    attempts: list[RouteAttempt] = field(default_factory=list[RouteAttempt])
    decisions: tuple[Decision, ...] = ()
    """what was closed, moved, dropped and renamed in the request that was answered, or in the last one; and what was
    done to the answer"""
    unchanged: bool = False
    """whether the client's own bytes were sent"""
    own_key: bool = False
    """whether the client's own key was used"""
    sent_tokens: int = 0
    """about how many a provider took that began to answer: it wants to be paid for them, whatever comes of it"""
    usage: Usage | None = None
    served: str = ""


class RelayedRequest(Struct, frozen=True):
    """What a route is asked."""

    request: Answerable
    body: bytes
    stream: bool

    @property
    def target(self) -> Target:
        """Who is asked."""
        return self.request.target


class Relay:
    """Carries one answer. `pieces` streams it, `whole` gives its body; one of them is used, once."""

    def __init__(
        self,
        said: ClientRequest,
        recalled: Recalled,
        speaker: AnswerSpeaker,
        *,
        world: World,
        recall: Recall,
        router: Router,
        estimator: Estimator,
        bound: str = "",
        summary: SummaryRequest | None = None,
        kept: Callable[[Answer, Target], Awaitable[None]] | None = None,
    ) -> None:
        """`bound` is the route that the turn belongs to, if one has begun it.

        With `summary` the answer is to be one of the conversation, and no part of it. `kept` is told of the answer when
        the client is given all of it.
        """
        self.done = Relayed()
        self._said = said
        self._recalled = recalled
        self._speaker = speaker
        self._world = world
        self._recall = recall
        self._router = router
        self._estimator = estimator
        self._bound = bound
        self._summary = summary
        self._told = kept
        self._answer: Answer | None = None
        self._stream: AnswerStream | None = None
        self._target: Target | None = None
        self._turn = 0
        """counts the routes that were asked"""

    @property
    def route(self) -> str:
        """Who answers, or was asked last."""
        return self._router.route.name if self._router.route is not None else ""

    def keep_alive(self) -> bytes:
        """What the client passes over while it waits for the next piece of a stream that has begun."""
        return self._speaker.keep_alive()

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The bytes of a streamed answer. Raises what made it fail, or `ConnectionCut` once bytes were given out."""
        speaker = self._speaker
        try:
            async with aclosing(self._news()) as news:
                async for deltas in news:
                    if told := [piece for delta in deltas for piece in speaker.feed(delta)]:
                        yield b"".join(told)
            if self._answer is not None:
                last = speaker.finish(self._answer)
                self._prepare_for_next()
                await self._keep(self._answer)  # first: OpenAI's client hangs up when it reads the last event
                yield b"".join(last)
            if speaker.is_cut:
                raise ConnectionCut("the answer broke off, and so must the stream")
        except LegatoError as error:
            if not speaker.started:
                raise
            for piece in speaker.fail(error):
                yield piece
            raise ConnectionCut(str(error)) from error
        finally:
            await self._keep_partial()
            self._release()

    async def whole(self) -> bytes:
        """The body of the answer."""
        try:
            answer = await self._whole_answer()
            body = self._speaker.whole(answer)
            await self._keep(answer)
            return body
        finally:
            self._release()

    async def summary(self) -> Answer:
        """The answer itself, which is no part of the conversation."""
        try:
            return await self._whole_answer()
        finally:
            self._release()

    async def _whole_answer(self) -> Answer:
        async with aclosing(self._news()) as news:
            async for _ in news:
                pass
        if self._answer is None:
            raise AssertionError("the deltas of an answer end with it, or raise")
        return self._answer

    async def _keep(self, answer: Answer) -> None:
        """The client is given the whole answer: it is part of the conversation now."""
        await self._remember()
        if self._told is not None and self._target is not None:
            await self._told(answer, self._target)

    async def _keep_partial(self) -> None:
        """Remember what the client saw of an answer that failed, or that it did not wait for."""
        if self._answer is None and self._speaker.visible and self._stream is not None:
            partial = self._stream.partial()
            if partial is not None:
                self._speaker.record(replace(partial, entry=replace(partial.entry, ending=Ending.CUT)))
                await self._remember()

    async def _remember(self) -> None:
        speaker, tenant = self._speaker, self._said.delivery.tenant
        await self._recall.keep(self._recalled, speaker.entry, self.route, tenant, speaker.response_id)

    def _prepare_for_next(self) -> None:
        """Render a conversation that went through as it came, if it will not do so again.

        What the client gives back of a thought is a carrier, or nothing, so the next request has to be rendered. This
        is done before the last event of a stream, when only the end is still to be told: the client has all it can work
        with, and an answer that is not streamed would come later by as much as the next one comes sooner.
        """
        said, target = self._said, self._target
        if not self.done.unchanged or target is None or not holds_reasoning(self._speaker.entry):
            return
        parsed = said.parsed
        with suppress(LegatoError, RecursionError):  # that it cannot be is said when it has to be
            prepare(self._recalled.talk, target, tools=parsed.tools, system=parsed.system, options=parsed.options)

    def _release(self) -> None:
        """Give the conversation back, if `_keep` has not done so."""
        self._recall.give_back(self._recalled, self._said.delivery.tenant)

    # --- attempts -----------------------------------------------------------------------------------------------------

    async def _news(self) -> AsyncGenerator[list[Delta]]:
        """The deltas of the answer, those that came together in one list; whoever gives it in the end."""
        route, attempt = self._route(), 1
        asked = self._ask(route)
        while True:
            self._router.sending(attempt=attempt)
            try:
                self._stream = await self._open(asked, route)
                async with self._stream as stream:
                    self.done.sent_tokens = self._estimator.of_size(route.name, len(asked.body))
                    while news := await stream.news():
                        self._speaker.served = stream.served
                        yield news
                self._succeed(stream.answer, route, len(asked.body))
                return
            except (GeneratorExit, anyio.get_cancelled_exc_class()):
                self.done.attempts.append(RouteAttempt(route.name, LEFT))
                raise
            except ProviderError as error:
                self.done.attempts.append(RouteAttempt(route.name, type(error).__name__))
                if self._own_key_for(asked.target, route) is not None:
                    error.facts["key"] = OF_CLIENT
                verdict = self._router.judge(error, visible=self._speaker.visible, attempt=attempt)
                attempt += 1
                match verdict:
                    case Retry():
                        await self._world.sleep(verdict.after)
                    case NextRoute():
                        route, attempt = self._next_route(), 1
                        asked = self._ask(route)
                    case StripReasoning():
                        self._recalled.talk.apply([ReasoningRefused(origin=asked.target.origin())])
                        asked = self._ask(route)
                    case ReplaceContent():
                        self._replace_content(error, asked.target, route)
                        asked = self._ask(route)
                    case Compact():
                        raise error from None  # the client does that, once it is told in its own words
                    case Stop():
                        raise verdict.error from None
                    case _:
                        assert_never(verdict)

    def _succeed(self, answer: Answer, route: Route, size: int) -> None:
        self._answer = answer = self._ended_in_order(answer)
        self.done.attempts.append(RouteAttempt(route.name))
        self._router.succeeded()
        self.done.usage, self.done.served = answer.usage, answer.served
        if answer.usage is not None:
            self._estimator.observe(route.name, size, answer.usage.input)

    def _ended_in_order(self, answer: Answer) -> Answer:
        """`answer`, in order if its provider ended it with a word that is new to us.

        The client would take a cut for a failure, ask again, and get the same word. But a call that is not whole shows
        that the answer is not either.
        """
        if not answer.new_word or not all(call.finished for call in answer.calls):
            return answer
        ending = Ending.CALLS if answer.calls else Ending.DONE
        detail = f"the provider's word for how it ended is {answer.new_word!r}, and the client was told {ending!s}"
        told = Decision(Action.CONVERTED, "unknown-ending", Fault.PROJECTION, detail)
        self.done.decisions = (*self.done.decisions, told)
        return replace(answer, entry=replace(answer.entry, ending=ending))

    async def _open(self, asked: RelayedRequest, route: Route) -> AnswerStream:
        """The answer to what is `asked`."""
        target = asked.target
        size = self._estimator.of_size(route.name, len(asked.body))
        self._speaker.begin(target, route.name, Usage(input=size))
        own = self._own_key_for(target, route)
        self.done.own_key = own is not None
        return await self._world.open_answer(
            asked.request,
            body=asked.body,
            stream=asked.stream,
            headers={**passed_headers(self._said, target), **route.headers},
            credentials=None if own is None else own.headers,
        )

    def _own_key_for(self, target: Target, route: Route) -> PassedKey | None:
        """The client's own key, if a request to `target` is made with it."""
        return key_for(self._said.own_key, target, route)

    def _route(self) -> Route:
        """Who answers: a turn keeps its route, a message may move on."""
        return self._router.resume(self._turn, self._bound) if self._bound else self._router.choose(self._turn)

    def _next_route(self) -> Route:
        """The route that the router named when it gave up the one before."""
        self._turn += 1
        return self._router.choose(self._turn, cause=TurnCause.CONTINUATION)

    def _ask(self, route: Route) -> RelayedRequest:
        """What `route` is asked: what the client said, in its own bytes if nothing in them needs mending.

        Nothing is rendered for those: what a rendering would have changed was not changed.
        """
        said, recalled = self._said, self._recalled
        target = self._target_at(route)
        self.done.decisions, self._target = (), target
        rendered = cache(partial(self._render, route, target))
        if self._asks_as_said(route, target):
            body = unchanged_body(said, target, recalled.told, rendered)
            if body is not None:
                self.done.unchanged = True
                return RelayedRequest(AnswerReader.of_others(target), body, said.delivery.stream)
        self.done.unchanged = False
        request = rendered()
        self.done.decisions = request.decisions
        check_held(said.parsed, target, is_home=target.home == said.home)
        request.verify()
        return RelayedRequest(request, request.json(), request.options.stream)

    def _target_at(self, route: Route) -> Target:
        """Who answers on `route`: for an account of the client's own, where its key is used."""
        target = self._world.target(route.name)
        own = self._own_key_for(target, route)
        return target if own is None else replace(target, account=own.account)

    def _asks_as_said(self, route: Route, target: Target) -> bool:
        """Whether nothing is asked but what the client said: nothing that the operator set, or the provider refused."""
        asked = self._said.parsed.options
        # options_at gives the very same object where it adds nothing.
        is_refused = bool(self._recalled.told.refused_content(target))
        return self._summary is None and options_at(route, asked) is asked and not is_refused

    def _render(self, route: Route, target: Target) -> Request:
        parsed, summary = self._said.parsed, self._summary
        return render(
            self._recalled.talk,
            target,
            tools=parsed.tools,
            system=parsed.system,
            options=options_at(route, summary.options if summary else parsed.options),
            tail=summary.tail if summary else (),
        )

    def _replace_content(self, error: ProviderError, target: Target, route: Route) -> None:
        """Put a note in place of media that the provider cannot read; raises `error` if no result has any new ones."""
        talk, known = self._recalled.talk, self._recalled.told.refused_content(target)
        calls = tuple(call for call in unproven_media(talk, route.name) if call not in known)
        if not calls:
            raise error
        talk.apply([ContentRefused(provider=target.provider, calls=calls)])


def options_at(route: Route, asked: Options) -> Options:
    """What the client asked for; where it says nothing, what the operator set for `route`."""
    defaults = Options()
    if route.options == defaults:
        return asked
    unsaid = {
        name: value
        for name in Options.__struct_fields__
        if getattr(asked, name) == (default := getattr(defaults, name))
        and (value := getattr(route.options, name)) != default
    }
    return replace(asked, **unsaid) if unsaid else asked
