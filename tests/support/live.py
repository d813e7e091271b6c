"""Real providers, paid for by whoever runs the tests: only if they say so, only with their keys, and only up to a cap.

    LEGATO_LIVE=1           that it is wanted; without it nothing is sent
    LEGATO_LIVE_MAX_USD     how much may be spent, in dollars (0.50)
    LEGATO_LIVE_ROUTES      who is asked, as `provider/model,provider/model`; otherwise the cheap routes below whose keys
                            are in the environment

A request is counted before it is sent, with the most that it can cost, and again when it is known what it did cost. So
the cap is never passed, whatever fails in between. A route without a known price is asked only if it is named, and then
counted as dear.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from gateway_clients import read
from legato.gateway.gateway import Gateway, SwitchAt
from legato.model import Capabilities, Options, Usage
from legato.request import default_catalogue
from legato.request.prices import cost
from legato.routing import Policy, Profile, Route
from legato.transport import KeyRing, Transport, WireRequest, WireResponse
from legato.world import World
from raw_agents import RawAgent

MAX_USD = 0.50
"""dollars that may be spent if nobody says otherwise: our choice, some twenty times what a run takes"""

MAX_TOKENS = 4_000
"""of an answer, so that the most that it can cost is known: our choice, enough to think and to call a tool"""

DEAR = Capabilities(price_input=15.0, price_output=75.0)
"""what a route without a known price is taken to cost"""

CHEAP = (
    "anthropic/claude-haiku-4-5",
    "openai/gpt-4.1",
    "openai-responses/gpt-5",
    "gemini/gemini-2.5-flash",
    "deepseek/deepseek-v4-flash",
    "mistral/mistral-small-latest",
    "kimi/kimi-k2.5",
)
"""a route of each family; those of unknown price have to be named"""


class NotLive(Exception):
    """Something would have been sent to a real provider, and nobody asked for it."""


class CapReached(Exception):
    """What comes next could cost more than what is left."""


class LiveRun(Struct, frozen=True, kw_only=True):
    """What whoever runs the tests allows."""

    is_wanted: bool
    max_usd: float
    routes: tuple[str, ...]

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> LiveRun:
        """What the environment says."""
        named = [name.strip() for name in environment.get("LEGATO_LIVE_ROUTES", "").split(",") if name.strip()]
        keys = KeyRing({}, environment)
        routes = named or [
            route for route in CHEAP if keys.find(route.partition("/")[0]) is not None and price_of(route) is not None
        ]
        return cls(
            is_wanted=environment.get("LEGATO_LIVE") == "1",
            max_usd=float(environment.get("LEGATO_LIVE_MAX_USD") or MAX_USD),
            routes=tuple(routes),
        )


def price_of(route: str) -> Capabilities | None:
    """What `route` costs; None where that is not known."""
    known = default_catalogue().resolve(route).capabilities
    return None if known.price_input is None or known.price_output is None else known


class CappedTransport:
    """Sends what `run` allows through `inner`, and counts."""

    def __init__(self, inner: Transport, run: LiveRun, *, spent: float = 0.0) -> None:
        self._inner = inner
        self._run = run
        self._reserved: dict[str, float] = {}
        """by route: what the newest request can cost, as long as it is not known what it did"""
        self.spent = spent
        """dollars, at most"""

    async def send(self, request: WireRequest) -> WireResponse:
        """Send `request`; raises `NotLive` or `CapReached` instead."""
        route = f"{request.target.provider}/{request.target.model}"
        if not self._run.is_wanted:
            raise NotLive(f"{route} would have been asked; set LEGATO_LIVE=1")
        if route not in self._run.routes:
            raise NotLive(f"{route} would have been asked; name it in LEGATO_LIVE_ROUTES")
        most = _most(json.loads(request.body), len(request.body), price_of(route) or DEAR)
        if self.spent + most > self._run.max_usd:
            raise CapReached(
                f"a request to {route} may cost ${most:.3f}, ${self.spent:.3f} are spent and the cap is "
                f"${self._run.max_usd:.2f}; raise LEGATO_LIVE_MAX_USD to go on"
            )
        self.spent += most
        self._reserved[route] = most
        return await self._inner.send(request)

    def settle(self, route: str, usage: Usage | None) -> None:
        """The newest request to `route` used so much; without a usage it counts for the most that it can cost."""
        reserved = self._reserved.pop(route, 0.0)
        dollars = None if usage is None else cost(usage, price_of(route) or DEAR)
        if dollars is not None:
            self.spent += dollars - reserved


def _most(body: Any, size: int, prices: Capabilities) -> float:
    """What a request of `size` bytes can cost: a token has at least one byte."""
    limits = (body, body.get("generationConfig") or {})
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
    found = [int(limit[name]) for limit in limits for name in names if limit.get(name)]
    if not found:
        raise CapReached("a request without a limit of tokens can cost anything")
    return cost(Usage(input=size, output=max(found)), prices) or 0.0


def limited(route: str) -> Route:
    """`route`, with answers that cannot become long."""
    return Route(route, options=Options(max_tokens=MAX_TOKENS))


# --- what is done -----------------------------------------------------------------------------------------------------

TASK = "Use read_file on a.txt then use read_file on b.txt, one after the other. Then repeat exactly what each of them holds."
MOST_STEPS = 8
"""requests in which it has to be done; three are enough"""


async def do_task(agent: RawAgent, routes: Sequence[str], transport: CappedTransport, keys: KeyRing) -> None:
    """Let `agent` do its task, each request on another of `routes`; raises `CapReached` before it could be too much."""
    profile = Profile("live", tuple(map(limited, routes)), Policy.ROUND_ROBIN)
    gateway = Gateway(World(transport=transport, keys=keys), profile, switch=SwitchAt.REQUEST)
    agent.say(TASK)
    for _ in range(MOST_STEPS):
        response = await gateway.answer(agent.ask())
        data = await read(response)
        report = gateway.reports.find(response.headers["x-legato-request"])
        assert report is not None
        transport.settle(report.route, report.usage)
        assert response.status == 200, data
        if not agent.take(data):
            break
    assert agent.calls >= 2
    for name in ("a.txt", "b.txt"):
        assert f"the content of {name}" in agent.text
