"""All simulated providers together, and a record of what they were asked.

One world serves the transport in this process and the server on a socket, so tests of either look at the same
`requests` and `refusals`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.model import JsonObject, Target
from legato.request import Catalogue, default_catalogue
from legato.simulation.contract import Reply
from legato.simulation.faults.plan import FaultSource, InjectedFault
from legato.simulation.provider import SECRET, Outcome, SimulatedProvider
from legato.simulation.refusals import SimulatedRefusal
from legato.transport.contract import Ask
from legato.transport.operations import Operation, find_operation
from legato.wire.hosting import IdHabit, RefusalReason

_SHARED = frozenset({Operation.MODELS, Operation.MODEL})
"""what providers with one base answer alike"""


class Seen(Struct, frozen=True, kw_only=True):
    """One request as a provider saw it, and what it made of it."""

    provider: str
    model: str
    method: str
    path: str
    body: bytes
    status: int
    refusal: SimulatedRefusal | None = None
    """why the request was not in order; a fault that was asked for is none"""
    fault: InjectedFault | None = None

    @property
    def json(self) -> JsonObject:
        """The body as a value."""
        return msgspec.json.decode(self.body, type=dict[str, Any])


class SimulatedWorld:
    """Every provider of a catalogue, simulated; each is made when it is first asked.

    The options are those of `SimulatedProvider`. `sleep` is how the world waits (tests bring a clock of their own), and
    `keeps` how many requests it remembers.
    """

    def __init__(
        self,
        *,
        catalogue: Catalogue | None = None,
        faults: FaultSource | None = None,
        checks_signatures: bool = True,
        needs_keys: bool = False,
        window: int | None = None,
        ids: IdHabit | None = None,
        secret: str = SECRET,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        keeps: int = 10_000,
    ) -> None:
        self.catalogue = catalogue or default_catalogue()
        self.faults = faults
        self.checks_signatures = checks_signatures
        self.needs_keys = needs_keys
        self.window = window
        self.ids = ids
        self.secret = secret
        self.sleep = sleep
        self._seen: deque[Seen] = deque(maxlen=keeps)
        self._providers: dict[str, SimulatedProvider] = {}

    @property
    def requests(self) -> list[Seen]:
        """Every request, in order."""
        return list(self._seen)

    @property
    def refusals(self) -> list[Seen]:
        """The requests that were refused: the provider's verdict on the program that wrote them."""
        return [seen for seen in self._seen if seen.refusal is not None]

    def provider(self, name: str, target: Target | None = None) -> SimulatedProvider:
        """The provider of that name; one that the catalogue does not have is what `target` says it is."""
        provider = self._providers.get(name)
        if provider is None:
            provider = self._providers[name] = self._open(name, target)
        return provider

    def put(self, provider: SimulatedProvider) -> None:
        """Let `provider` answer under its name from now on."""
        self._providers[provider.name] = provider

    def reply(self, provider: SimulatedProvider, ask: Ask) -> Reply:
        """What `provider` replies to `ask`; the request is remembered."""
        return self.remember(provider, ask, provider.answer(ask))

    def refuse(self, provider: SimulatedProvider, ask: Ask, reason: RefusalReason) -> Reply:
        """How `provider` refuses `ask` for a reason that shows before its body is read; it is remembered as well."""
        return self.remember(provider, ask, provider.refuse(reason))

    def remember(self, provider: SimulatedProvider, ask: Ask, outcome: Outcome) -> Reply:
        """Note what became of a request; its reply."""
        self._seen.append(
            Seen(
                provider=provider.name,
                model=outcome.model,
                method=ask.method,
                path=ask.path,
                body=ask.body,
                status=outcome.reply.status,
                refusal=outcome.refusal,
                fault=outcome.fault,
            )
        )
        return outcome.reply

    def locate(self, path: str, method: str = "POST") -> SimulatedProvider | None:
        """The provider that listens at `path` of a server; of two with one base, the one whose API it is.

        Only the first step of the path counts: clients differ in which version of an API they ask for.
        """
        first = path.split("/")[1:2]
        here = [
            provider
            for provider in map(self.provider, self.catalogue.providers)
            if provider.habits.base.split("/")[1:2] == first
        ]
        found = [(one, find_operation(one.dialect, method, path)) for one in here]
        own = (one for one, operation in found if operation is not None and operation.operation not in _SHARED)
        return next(own, here[0] if here else None)

    def _open(self, name: str, target: Target | None) -> SimulatedProvider:
        known = self.catalogue.providers.get(name)
        described = None if known is not None or target is None else target
        return SimulatedProvider(
            name,
            catalogue=self.catalogue,
            resolve=None if described is None else lambda model: replace(described, model=model),
            faults=self.faults,
            checks_signatures=self.checks_signatures,
            needs_key=self.needs_keys and (known is None or bool(known.keys)),
            window=self.window,
            ids=self.ids,
            secret=self.secret,
        )
