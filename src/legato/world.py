"""What all sessions of a program share: whom they can reach, with which keys, by which clock.

A subagent lives in its parent's world. Tests bring their own: simulated providers, a clock that does not move, a random
source with a seed.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from legato.errors import UnknownTarget
from legato.model import Capabilities, Target
from legato.request import Catalogue, default_catalogue
from legato.request.reader import Answerable
from legato.routing import HealthBook, Patience, RetryBudget
from legato.transport import (
    AnswerStream,
    HttpTransport,
    Key,
    KeyRing,
    Transport,
    WireRequest,
    open_answer,
    wire_request,
)
from legato.transport.credentials import account_of, authorise, renew


def _keys_of_environment() -> KeyRing:
    return KeyRing({}, os.environ)


class World(Struct, frozen=True, kw_only=True):
    """The surroundings of a session. `endpoints` replaces a provider's base URL: a proxy, a simulated server."""

    transport: Transport = field(default_factory=HttpTransport)
    catalogue: Catalogue = field(default_factory=default_catalogue)
    keys: KeyRing = field(default_factory=_keys_of_environment)
    endpoints: Mapping[str, str] = field(default_factory=dict[str, str])
    health: HealthBook = field(default_factory=HealthBook)
    budget: RetryBudget = field(default_factory=RetryBudget)
    patience: Patience = field(default_factory=Patience)
    clock: Callable[[], float] = time.time
    """seconds since the epoch, for records"""
    monotonic: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    def target(self, route: str) -> Target:
        """`route` resolved, with a whole endpoint and the account that its key belongs to."""
        target = self.catalogue.resolve(route, endpoint=self.endpoints.get(route.partition("/")[0], ""))
        # What is missing is said when something is sent there: a simulated provider does without.
        target = self.catalogue.fill(target, self.keys.environment, leaves_missing=True)
        account = account_of(target, self.keys)
        return target if account == target.account else replace(target, account=account)

    async def outgoing(
        self,
        target: Target,
        body: bytes,
        *,
        stream: bool,
        headers: Mapping[str, str] | None = None,
        credentials: Mapping[str, Key] | None = None,
    ) -> WireRequest:
        """The request that carries `body` to `target`, with what authorises it.

        `credentials` are secret headers in place of what this world has for it.
        """
        if credentials is not None:
            request = wire_request(target, body, key=None, stream=stream, headers=headers)
            return replace(request, secrets={**request.secrets, **credentials})
        key = self.keys.find(target.provider)
        request = wire_request(target, body, key=key, stream=stream, headers=headers)
        provider = self.catalogue.providers.get(target.provider)
        return await authorise(request, provider, self.keys, now=self.clock())

    async def open_answer(
        self,
        request: Answerable,
        *,
        body: bytes,
        stream: bool,
        headers: Mapping[str, str] | None = None,
        credentials: Mapping[str, Key] | None = None,
    ) -> AnswerStream:
        """Ask for an answer to `request`, whose JSON is `body`; refused credentials are asked for once more.

        `credentials` are secret headers in place of what this world has for it.
        """
        target = request.target

        async def renewed(refused: WireRequest) -> WireRequest | None:
            return await self.renewed(refused, target)

        wire = await self.outgoing(target, body, stream=stream, headers=headers, credentials=credentials)
        return open_answer(
            self.transport, wire, request.decoder(), decode=request.decode, clock=self.clock, renew=renewed
        )

    async def renewed(self, refused: WireRequest, target: Target) -> WireRequest | None:
        """A request to `target` with fresh credentials in place of those that were refused; None if there are none."""
        return await renew(refused, self.catalogue.providers.get(target.provider), self.keys, now=self.clock())

    def prices(self, route: str) -> Capabilities:
        """What `route` costs; unknown if the catalogue no longer knows the route."""
        try:
            return self.catalogue.resolve(route).capabilities
        except UnknownTarget:
            return Capabilities()

    async def aclose(self) -> None:
        """Close the connections; they are made again when something is sent."""
        if isinstance(self.transport, HttpTransport):
            await self.transport.aclose()
