"""The gateway: an `Ask` in, a response out, whoever answers.

The answer carries the model name that was asked for. Who really answered is in the header `x-legato-route` and in the
report, which the header `x-legato-request` names.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from functools import partial

import msgspec

from legato.errors import LegatoError
from legato.gateway import control
from legato.gateway.bodies import OpenedBody, whole_fields
from legato.gateway.carriers import Sealer
from legato.gateway.compacting import SummaryRelay
from legato.gateway.contract import Delivery, Door, KeptWaiting, first_piece
from legato.gateway.exchange import Relay
from legato.gateway.intake import ClientRequest, open_ask, read_body
from legato.gateway.late_streams import head_of_stream, with_first
from legato.gateway.naming import ROUTE_HEADER, ModelNames
from legato.gateway.operator_settings import SwitchAt
from legato.gateway.passed_keys import PassedKey, find_passed_key
from legato.gateway.passthrough import Forwarding, speaking
from legato.gateway.recall import Recall, Recalled
from legato.gateway.references import not_held, with_items
from legato.gateway.refusals import TurnedAway, refusal
from legato.gateway.reporting import Carrying, Reporter, new_report
from legato.gateway.reports import Reports, RequestReport
from legato.gateway.side_operations import count_body, count_tokens, models_body
from legato.gateway.speakers import AnswerSpeaker
from legato.gateway.state import GatewayState, MemoryState, RecentlyUsed
from legato.gateway.surfaces import door_or_any, doors_beside, find_door
from legato.gateway.tellings import Tellings
from legato.model import Answer, Dialect, JsonObject, Target
from legato.model.hashing import digits62
from legato.request.tokens import Estimator
from legato.routing import HealthBook, Policy, Profile, Router, only
from legato.transport.contract import Ask, WireResponse, whole_response
from legato.transport.operations import Operation
from legato.transport.stored_responses import go_on_from, list_inputs, previous_id, refuse_stored, wants_keeping
from legato.wire.dialects import dialect_parts
from legato.wire.hosting import RefusalReason
from legato.world import World

REQUEST_HEADER = "x-legato-request"
_ACCOUNTS = 1_000
"""accounts of clients for which it is known how routes are: our choice, a small record each"""

_ID_DIGITS = 22
"""of an id in base62: about 128 bits, so that no two are ever the same"""


def _random_id() -> str:
    return digits62(secrets.randbelow(62**_ID_DIGITS), _ID_DIGITS)


class Gateway:
    """Answers clients of any API with any route.

    `default` answers for every model name that is not otherwise known. `key` signs what the client carries for us; with
    the same key, another process of the same deployment reads it. `state` is where it remembers; whoever made it closes
    it. With `pass_keys`, a key that the client has for its own vendor is used there in place of the operator's. With
    `passthrough` requests are forwarded as they are.
    """

    def __init__(
        self,
        world: World,
        default: Profile | str,
        *,
        profiles: Iterable[Profile] = (),
        models: Mapping[str, str] | None = None,
        switch: SwitchAt = SwitchAt.TURN,
        pass_keys: bool = False,
        passthrough: bool = False,
        key: bytes | None = None,
        state: GatewayState | None = None,
        fresh_id: Callable[[], str] = _random_id,
    ) -> None:
        profile = only(default) if isinstance(default, str) else default
        self.world = world
        self.names = ModelNames(profile, world.catalogue, profiles=profiles, patterns=models)
        self._switch = switch
        self._pass_keys = pass_keys
        self._passthrough = passthrough
        self._health: RecentlyUsed[HealthBook] = RecentlyUsed(_ACCOUNTS, _ACCOUNTS)
        """by account: how routes are for clients with a key of their own"""
        self._sealer = Sealer(key or secrets.token_bytes(32))
        self._state = state or MemoryState()
        self._recall = Recall(self._sealer, self._state)
        self._reporter = Reporter(self._state)
        self._tellings = Tellings()
        self._forgettings: int | None = None
        """of the state, when it was last asked"""
        self._estimator = Estimator()
        self._fresh_id = fresh_id
        self._opened: dict[str, str] = {}
        """by profile: the route that the newest conversation was opened on, so that conversations take turns too"""

    @property
    def reports(self) -> Reports:
        """The newest reports of this process."""
        return self._reporter.newest

    def new_request_id(self) -> str:
        """An id under which a request can be reported."""
        return "req_" + self._fresh_id()

    async def answer(
        self, ask: Ask, *, tenant: str = "", request_id: str = "", waiting: KeptWaiting | None = None
    ) -> WireResponse:
        """The response to `ask`. A stream has begun when it is returned, so a failure before is a status.

        `request_id` is one of `new_request_id`, for whoever wants the report even if nothing is returned. `waiting` is
        for clients that would not wait any longer.
        """
        request_id, created = request_id or self.new_request_id(), self._now()
        await self._drop_forgotten()
        door = find_door(ask)
        if door is None:
            return _nothing_there(ask, request_id)
        try:
            response = await self._at(door, ask, tenant, request_id, waiting)
        except LegatoError as error:
            await self._reporter.note_refusal(error, request_id, tenant, door)
            response = refusal(error, door, request_id=request_id, catalogue=self.world.catalogue, created=created)
        return msgspec.structs.replace(response, headers={**response.headers, REQUEST_HEADER: request_id})

    def _now(self) -> int:
        """When it is, as answers tell it."""
        return int(self.world.clock())

    async def report(self, request_id: str, tenant: str = "") -> RequestReport | None:
        """What became of a request, for its own tenant alone: one of the newest, or one that the state has kept."""
        await self._drop_forgotten()
        return await self._reporter.find(request_id, tenant)

    async def _drop_forgotten(self) -> None:
        """Have nothing in memory that somebody had forgotten in the state: all of it goes, and is found anew."""
        count = await self._state.forgettings()
        if count is None or count == self._forgettings:
            return
        if self._forgettings is not None:
            self._recall, self._tellings = Recall(self._sealer, self._state), Tellings()
            self._reporter.forget()
        self._forgettings = count

    async def close(self) -> None:
        """Close the connections to providers."""
        await self.world.aclose()

    async def _at(
        self, door: Door, ask: Ask, tenant: str, request_id: str, waiting: KeptWaiting | None
    ) -> WireResponse:
        match door.operation:
            case Operation.MODELS | Operation.MODEL:
                return _json(models_body(door, self._targets(door.name)))
            case Operation.STORED | Operation.FORGET | Operation.INPUTS | Operation.CANCEL:
                return _json(await self._stored(ask, door, tenant))
            case Operation.COUNT:
                return _json(await self._count(ask, door, tenant))
            case Operation.COMPACT | Operation.ANSWER:
                said = await self._said(ask, door, tenant)
                if self._pass_keys:
                    said = msgspec.structs.replace(said, own_key=find_passed_key(ask, door))
                if self._passthrough:
                    return await self._forwarded(said, request_id, waiting)
                if control.asks_for_compaction(door, said.fields):
                    return await self._compacted(said, request_id, waiting)
                return await self._answered(said, request_id, waiting)

    async def _count(self, ask: Ask, door: Door, tenant: str) -> JsonObject:
        said = await self._said(ask, door, tenant)
        target = self.world.target(self._profile(said).routes[0].name)
        return count_body(door, count_tokens(said.parsed, target, self._estimator))

    # --- answers ------------------------------------------------------------------------------------------------------

    async def _said(self, ask: Ask, door: Door, tenant: str) -> ClientRequest:
        """What the client said, with all that came before it if it only names that."""
        opened = open_ask(ask, door, self._tellings, tenant)
        previous = None if self._passthrough else previous_id(opened.fields, door.dialect)
        if previous is not None:
            opened = await self._going_on(opened, previous, door, tenant)
        said = read_body(opened, ask, door, self._tellings, tenant=tenant, previous=previous)
        if previous is not None:
            said = msgspec.structs.replace(said, body=None)
        if self._passthrough or door.dialect is not Dialect.OPENAI_RESPONSES:
            return said
        if not_held(said.parsed):
            fields = await with_items(said.fields, partial(self._recall.stored_with, tenant=tenant))
            if fields is not said.fields:
                said = read_body(OpenedBody(fields), ask, door, self._tellings, tenant=tenant, previous=previous)
                said = msgspec.structs.replace(said, body=None)
        unseal = partial(self._sealer.signed, tenant=tenant)
        parsed = control.read_compactions_of(said.parsed, unseal, said.telling.compactions)
        return said if parsed is said.parsed else msgspec.structs.replace(said, parsed=parsed, body=None)

    async def _going_on(self, opened: OpenedBody, previous: str, door: Door, tenant: str) -> OpenedBody:
        """A body with all that came before it."""
        stored = await self._recall.stored(previous, tenant)
        if stored is None:
            message = f"the response {previous!r} is not kept here; send the whole conversation"
            raise TurnedAway(message, reason=RefusalReason.PREVIOUS)
        return OpenedBody(go_on_from(stored, whole_fields(opened, dialect_parts(door.dialect).messages_field)))

    async def _answered(self, said: ClientRequest, request_id: str, waiting: KeptWaiting | None) -> WireResponse:
        relay, report = await self._relay(said, request_id)
        if not said.delivery.stream:
            try:
                body = await relay.whole()
            finally:
                await self._reporter.note(relay, report)
            return whole_response(200, body, self._headers(relay))
        return await self._begun(said, request_id, waiting, relay, self._reporter.pieces(relay, report))

    async def _begun(
        self,
        said: ClientRequest,
        request_id: str,
        waiting: KeptWaiting | None,
        relay: Relay | SummaryRelay,
        pieces: AsyncGenerator[bytes],
    ) -> WireResponse:
        """The stream of `pieces` that `relay` makes, once it has begun."""

        def begun(chunks: AsyncGenerator[bytes]) -> WireResponse:
            headers = {**self._headers(relay), REQUEST_HEADER: request_id}
            return head_of_stream(said.delivery, headers, chunks, keep_alive=relay.keep_alive())

        first = await first_piece(pieces, waiting, lambda: begun(pieces))
        return begun(with_first(first, pieces))

    async def _forwarded(self, said: ClientRequest, request_id: str, waiting: KeptWaiting | None) -> WireResponse:
        """The answer of a provider that speaks the client's API, as it is."""
        door = said.delivery.door
        if door.operation is Operation.COMPACT:
            raise TurnedAway("/responses/compact is not forwarded (--passthrough)", reason=RefusalReason.PATH)
        profile = speaking(self._profile(said), door, self.world)
        recalled = await self._recall.take(said.parsed, door.dialect, said.delivery.tenant, said.telling.links)
        forwarding = Forwarding(
            said,
            recalled,
            world=self.world,
            recall=self._recall,
            router=self._router(profile, recalled, said.own_key),
            estimator=self._estimator,
            speaker=self._speaker(said.delivery),
            bound=recalled.route if self._switch is SwitchAt.TURN else "",
        )
        report = new_report(said, request_id, profile.name, recalled)
        report.passthrough = True
        pieces = self._reporter.pieces(forwarding, report)

        def early() -> WireResponse:
            headers = {**self._headers(forwarding), REQUEST_HEADER: request_id}
            return head_of_stream(said.delivery, headers, pieces, keep_alive=forwarding.keep_alive())

        first = await first_piece(pieces, waiting if said.delivery.stream else None, early)
        report.notes += forwarding.notes
        headers = {**forwarding.headers, **self._headers(forwarding)}
        return WireResponse(forwarding.status, headers, with_first(first, pieces), close=pieces.aclose)

    async def _compacted(self, said: ClientRequest, request_id: str, waiting: KeptWaiting | None) -> WireResponse:
        """A summary in place of the conversation, which no model said and every model can read."""
        relay, report = await self._relay(said, request_id, control.summary_request(said.parsed.options))
        compaction = SummaryRelay(
            said,
            relay,
            self._speaker(said.delivery),
            lambda data: self._sealer.sign(data, said.delivery.tenant),
            seed=request_id,
            created=self._now(),
        )
        if said.delivery.stream and said.delivery.door.operation is Operation.ANSWER:
            return await self._begun(said, request_id, waiting, compaction, self._reporter.pieces(compaction, report))
        try:
            body = await compaction.whole()
        finally:
            await self._reporter.note(compaction, report)
        return _json(body, self._headers(compaction))

    async def _relay(
        self, said: ClientRequest, request_id: str, summary: control.SummaryRequest | None = None
    ) -> tuple[Relay, RequestReport]:
        delivery, profile = said.delivery, self._profile(said)
        recalled = await self._recall.take(said.parsed, delivery.door.dialect, delivery.tenant, said.telling.links)
        answer_id, created = self._fresh_id(), self._now()

        def speaker() -> AnswerSpeaker:
            return AnswerSpeaker(delivery, self._sealer, answer_id, created=created)

        async def keep(answer: Answer, target: Target) -> None:
            if wants_keeping(said.fields, delivery.door.dialect):
                response = spoken.response() or _spoken_anew(speaker(), answer, target)
                await self._recall.keep_response(response, said.fields, delivery.tenant)

        spoken = speaker()
        relay = Relay(
            said,
            recalled,
            spoken,
            world=self.world,
            recall=self._recall,
            router=self._router(profile, recalled, said.own_key),
            estimator=self._estimator,
            bound=recalled.route if self._switch is SwitchAt.TURN else "",
            summary=summary,
            kept=keep,
        )
        return relay, new_report(said, request_id, profile.name, recalled)

    def _speaker(self, delivery: Delivery) -> AnswerSpeaker:
        return AnswerSpeaker(delivery, self._sealer, self._fresh_id(), created=self._now())

    def _profile(self, said: ClientRequest) -> Profile:
        """Who is to answer."""
        by_hand = said.headers.get(ROUTE_HEADER, "")
        return self.names.find(said.delivery.model, by_hand=by_hand, prefix=said.delivery.door.prefix)

    def _router(self, profile: Profile, recalled: Recalled, own_key: PassedKey | None) -> Router:
        last = recalled.last or self._opened.get(profile.name)
        if profile.policy is Policy.ROUND_ROBIN and not recalled.last:
            self._opened[profile.name] = _after(last, profile)
        world = self.world
        return Router(
            profile,
            clock=world.monotonic,
            chance=world.chance,
            health=world.health if own_key is None else self._health_of(own_key.account),
            budget=world.budget,
            patience=world.patience,
            last=last,
            turns=recalled.turns,
        )

    def _health_of(self, account: str) -> HealthBook:
        """How routes are for a client with a key of its own: what its account is refused says nothing about others."""
        book = self._health.get("", account) or HealthBook()
        self._health.put("", account, book, 1)
        return book

    def _headers(self, relay: Carrying) -> dict[str, str]:
        return {ROUTE_HEADER: relay.route}

    # --- what is kept -------------------------------------------------------------------------------------------------

    async def _stored(self, ask: Ask, door: Door, tenant: str) -> JsonObject:
        stored = await self._recall.stored(door.name, tenant)
        if stored is None:
            raise TurnedAway(f"the response {door.name!r} is not kept here", reason=RefusalReason.STORED)
        if message := refuse_stored(door.operation, stored, ask.query):
            raise TurnedAway(message, reason=RefusalReason.SHAPE)
        if door.operation is Operation.INPUTS:
            return list_inputs(stored, ask.query)
        if door.operation is not Operation.FORGET:
            return stored.response
        await self._recall.forget(door.name, tenant)
        return {"id": door.name, "object": "response", "deleted": True}

    def _targets(self, model: str) -> dict[str, Target]:
        """What is offered, and `model` if it names somebody: the target that a request for each would open with."""
        is_somebody = bool(model) and self.names.named(model) is not None
        names = [*self.names.offered, *([model] if is_somebody else [])]
        return {name: self.world.target(self.names.find(name).routes[0].name) for name in names}


def _spoken_anew(speaker: AnswerSpeaker, answer: Answer, target: Target) -> JsonObject:
    """The whole response, of which the client had a stream that does not repeat it."""
    speaker.begin(target, target.route)
    return msgspec.json.decode(speaker.whole(answer))


def _after(last: str | None, profile: Profile) -> str:
    """The route behind `last`, with which the next conversation is opened."""
    names = [route.name for route in profile.routes]
    return names[(names.index(last) + 1) % len(names)] if last in names else names[0]


def _json(body: JsonObject, headers: Mapping[str, str] | None = None) -> WireResponse:
    return whole_response(200, msgspec.json.encode(body), headers)


def _nothing_there(ask: Ask, request_id: str) -> WireResponse:
    methods = ", ".join(doors_beside(ask))
    if methods:
        error = TurnedAway(f"{ask.path} takes {methods}, and not {ask.method}", reason=RefusalReason.METHOD)
    else:
        served = "Messages, Chat Completions, Responses and Gemini's generateContent"
        message = f"{ask.method} {ask.path} is not served here, only {served}; check the base URL of the client"
        error = TurnedAway(message, reason=RefusalReason.PATH)
    response = refusal(error, door_or_any(ask), request_id=request_id)
    headers = {**response.headers, "allow": methods} if methods else response.headers
    return msgspec.structs.replace(response, headers=headers)
