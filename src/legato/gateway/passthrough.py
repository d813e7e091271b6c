"""Forward a request as it came, and note what the gateway would have done to it (`--passthrough`).

In:  what the client said, and a router over routes that speak its API.
Out: the provider's own answer, byte for byte, while it arrives; a refusal as well.

So whoever runs a gateway can compare before they trust it. Nothing is mended, nobody else is asked, and the model in
the answer is the one that answered. Two things are not forwarded: the client's key, and what a provider says about the
operator's, which clients would take for their own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

import anyio
from msgspec.structs import replace

from legato.errors import BadAnswer, ConfigError, LegatoError, ProviderError, QuotaExhausted, Unauthorized
from legato.gateway.contract import Door
from legato.gateway.exchange import LEFT, Relayed, options_at
from legato.gateway.intake import ClientRequest
from legato.gateway.late_streams import told_in_stream
from legato.gateway.passed_keys import key_for
from legato.gateway.recall import Recall, Recalled
from legato.gateway.refusals import OF_CLIENT, TurnedAway
from legato.gateway.reports import RouteAttempt
from legato.gateway.speakers import AnswerSpeaker
from legato.gateway.transparency import passed_headers, refused_in, renamed_body, unchanged_body
from legato.model import Answer, Dialect, Platform, Target
from legato.request import Request, render
from legato.request.tokens import Estimator
from legato.routing import Profile, Route, Router
from legato.serving.contract import CLOSING, ConnectionCut
from legato.transport import WireRequest, scrub
from legato.transport.classification import REQUEST_IDS, classify
from legato.transport.complaint import read_complaint
from legato.transport.contract import WireResponse
from legato.transport.intake import Intake
from legato.wire.hosting import RefusalReason
from legato.world import World

SPOKEN = frozenset({Dialect.ANTHROPIC, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.GEMINI})
"""what clients speak"""

_ON = ("content-type", "retry-after", *REQUEST_IDS)
_ON_WITH = ("anthropic-ratelimit-", "x-ratelimit-", "openai-")
"""headers of an answer that mean something to the client; what belongs to the connection is not among them"""


def speaking(profile: Profile, door: Door, world: World) -> Profile:
    """`profile` with those of its routes that speak the API of a client at `door`; raises `TurnedAway` if none does."""
    routes = [route for route in profile.routes if _speaks(world.target(route.name), door.dialect)]
    if not routes:
        named = " and ".join(route.name for route in profile.routes)
        raise TurnedAway(
            f"this gateway forwards requests as they are (--passthrough), and the API of this request, {door.dialect}, "
            f"is not that of {named}; ask for a model that speaks it, or run the gateway without --passthrough",
            reason=RefusalReason.SHAPE,
        )
    return Profile(profile.name, tuple(routes), profile.policy, profile.sticky_turns)


def check_forwardable(profile: Profile, targets: Sequence[Target]) -> None:
    """Raise `ConfigError` for a profile of which no route can be sent what any client says."""
    if not any(_speaks(target, target.dialect) and target.dialect in SPOKEN for target in targets):
        named = ", ".join(route.name for route in profile.routes)
        raise ConfigError(
            f"--passthrough forwards requests as they are, and {named} cannot be sent any: clients speak the APIs of "
            "Anthropic, OpenAI and Google; name a route that does, or leave out --passthrough"
        )


def _speaks(target: Target, dialect: Dialect) -> bool:
    """Clouds take the same shapes with other fields, so what was said to a vendor cannot be said there as it is."""
    return target.dialect is dialect and target.platform is Platform.OWN


class Forwarding:
    """Carries one request and its answer as they are. `head` is known with the first of its `pieces`."""

    def __init__(
        self,
        said: ClientRequest,
        recalled: Recalled,
        *,
        world: World,
        recall: Recall,
        router: Router,
        estimator: Estimator,
        speaker: AnswerSpeaker,
        bound: str = "",
    ) -> None:
        """`bound` is the route that the turn belongs to, if one has begun it.

        `speaker` keeps a client waiting that has heard nothing yet, and tells it of a failure afterwards.
        """
        self.done = Relayed()
        self.status = 200
        self.headers: dict[str, str] = {}
        self.notes: list[str] = []
        """what the provider's rules say about the request as it came"""
        self._said = said
        self._recalled = recalled
        self._world = world
        self._recall = recall
        self._router = router
        self._estimator = estimator
        self._speaker = speaker
        self._route = router.resume(0, bound) if bound else router.choose(0)

    @property
    def route(self) -> str:
        """Who answers."""
        return self._route.name

    def keep_alive(self) -> bytes:
        """What the client passes over while it waits for the first piece; the status is out from then on."""
        return self._speaker.keep_alive()

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The bytes of the answer, or of a refusal; raises what the client is told in other words."""
        try:
            async with aclosing(told_in_stream(self._forwarded(), self._speaker)) as pieces:
                async for piece in pieces:
                    yield piece
        except (GeneratorExit, anyio.get_cancelled_exc_class()):
            if not self.done.attempts:
                self.done.attempts.append(RouteAttempt(self.route, LEFT))
            raise
        finally:
            self._recall.give_back(self._recalled, self._said.delivery.tenant)

    async def _forwarded(self) -> AsyncGenerator[bytes]:
        said, world, route = self._said, self._world, self._route
        target = world.target(route.name)
        own = key_for(said.own_key, target, route)
        if own is not None:
            target = replace(target, account=own.account)
        would = self._would_send(target, route)
        body = renamed_body(said, target)
        self.done.unchanged, self.done.own_key = body == said.body, own is not None
        wire = await world.outgoing(
            target,
            body,
            stream=said.delivery.stream,
            headers={**passed_headers(said, target), **route.headers},
            credentials=None if own is None else own.headers,
        )
        if said.delivery.door.as_array:
            wire = _as_array(wire)
        self._router.sending()
        try:
            response, wire, sent_at = await self._sent(wire, target)
        except ProviderError as error:
            raise self._failed(error, is_own=own is not None) from None
        pieces = Intake(response, wire, sent_at=sent_at)
        try:
            if 200 <= response.status < 300:
                self.status, self.headers = response.status, _passed_on(response.headers)
                self.done.sent_tokens = self._estimator.of_size(route.name, len(body))
                async with aclosing(self._answer(pieces, would)) as answer:
                    async for piece in answer:
                        yield piece
            else:
                yield await self._refusal(response, pieces, wire, is_own=own is not None)
        finally:
            pieces.close()
            await _closed(response)

    async def _sent(self, wire: WireRequest, target: Target) -> tuple[WireResponse, WireRequest, float]:
        """The response, the request that it answers, and when that was sent; refused credentials are renewed once."""
        sent_at = anyio.current_time()
        response = await self._world.transport.send(wire)
        if response.status != 401:
            return response, wire, sent_at
        renewed: WireRequest | None = wire  # until it is known that there is none, the refusal is of no use
        try:
            renewed = await self._world.renewed(wire, target)
        finally:
            if renewed is not None:
                await _closed(response)
        if renewed is None:
            return response, wire, sent_at
        sent_at = anyio.current_time()
        return await self._world.transport.send(renewed), renewed, sent_at

    def _would_send(self, target: Target, route: Route) -> Request | None:
        """The request that the gateway would have made of it, which is noted; None if it would have refused."""
        said, told = self._said, self._recalled.told
        parsed = said.parsed
        self.notes += [f"as it came: {one.path}: {one.message}" for one in refused_in(said, target, told.judge)]
        try:
            options = options_at(route, parsed.options)
            request = render(told.talk, target, tools=parsed.tools, system=parsed.system, options=options)
        except LegatoError as error:
            self.notes.append(f"the gateway would have refused it: {error.message}")
            return None
        if unchanged_body(said, request.target, told, lambda: request) is None:
            self.done.decisions = request.decisions
        return request

    async def _answer(self, pieces: Intake, would: Request | None) -> AsyncGenerator[bytes]:
        """The answer as it comes; it is read beside that, to know what it took and whose it is."""
        reading = _Reading(would, streams=self._said.delivery.stream and not self._said.delivery.door.as_array)
        has_begun = False
        try:
            async for piece in pieces:
                reading.feed(piece)
                if reading.is_new:
                    pieces.shown()
                has_begun = True
                yield piece
        except ProviderError as error:
            self._failed(error)
            if not has_begun:
                raise
            raise ConnectionCut(str(error)) from error
        self._router.succeeded()
        self.done.attempts.append(RouteAttempt(self.route))
        answer = reading.answer()
        if answer is not None:
            self.done.usage, self.done.served = answer.usage, answer.served
            await self._recall.keep(self._recalled, answer.entry, self.route, self._said.delivery.tenant)

    async def _refusal(self, response: WireResponse, pieces: Intake, wire: WireRequest, *, is_own: bool) -> bytes:
        """What the provider says, without secrets that it repeats; raises what is the operator's matter."""
        body = bytearray()
        try:
            async for piece in pieces:
                body += piece
                if len(body) > response.bounds.refusal:
                    break
        except ProviderError:
            pass  # how the body broke off says less than the status
        told = bytes(body[: response.bounds.refusal])
        complaint = read_complaint(told, response.headers)
        error = classify(complaint, wire, status=response.status, headers=response.headers, now=self._world.clock())
        self._failed(error, is_own=is_own)
        if isinstance(error, Unauthorized | QuotaExhausted) or self._speaker.started:  # its status was given before
            raise error
        self.status, self.headers = response.status, _passed_on(response.headers)
        return scrub(told.decode("utf-8", "replace"), wire.secrets.values()).encode()

    def _failed(self, error: ProviderError, *, is_own: bool = False) -> ProviderError:
        """Note that the request failed; what was noted."""
        self.done.attempts.append(RouteAttempt(self.route, type(error).__name__))
        if is_own:
            error.facts["key"] = OF_CLIENT
        self._router.judge(error, visible=True, attempt=1)
        return error


class _Reading:
    """An answer that somebody else reads as well: what cannot be read here is still forwarded."""

    def __init__(self, request: Request | None, *, streams: bool) -> None:
        self._request = request
        self._decoder = request.decoder() if request is not None and streams else None
        self._body = bytearray()
        self._is_lost = request is None
        self.is_new = False
        """whether the last piece had something to show"""

    def feed(self, piece: bytes) -> None:
        if self._is_lost or self._decoder is None:
            self.is_new = bool(piece.strip())
            self._body += b"" if self._is_lost else piece
            return
        try:
            self.is_new = bool(self._decoder.feed(piece))
        except BadAnswer:
            self._is_lost = True

    def answer(self) -> Answer | None:
        if self._is_lost or self._request is None:
            return None
        try:
            return self._request.decode(bytes(self._body)) if self._decoder is None else self._decoder.finish()
        except BadAnswer:
            return None


async def _closed(response: WireResponse) -> None:
    with anyio.move_on_after(CLOSING, shield=True):
        await response.close()


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name in _ON or name.startswith(_ON_WITH)}


def _as_array(wire: WireRequest) -> WireRequest:
    """A stream of Gemini's as the one array that the client asked for, in place of events."""
    return replace(wire, url=wire.url.removesuffix("?alt=sse").removesuffix("&alt=sse"))
