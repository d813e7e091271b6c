"""What keeps a live run from being sent unasked, and from costing more than it may. No real provider is asked here."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from gateway_clients import post, read
from legato.gateway.gateway import Gateway
from legato.model import Usage
from legato.routing import only
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.transport import KeyRing
from legato.world import World
from live import CHEAP, CappedTransport, CapReached, LiveRun, NotLive, do_task, limited
from raw_agents import RAW_AGENTS

HAIKU, UNPRICED = "anthropic/claude-haiku-4-5", "mistral/mistral-small-latest"
ASKED = {"LEGATO_LIVE": "1", "ANTHROPIC_API_KEY": "k", "MISTRAL_API_KEY": "k"}
HI = post("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "hi"}]})


class Bench:
    """A gateway over simulated providers, in front of which the cap is."""

    def __init__(self, route: str, **environment: str) -> None:
        self.world = SimulatedWorld()
        self.capped = CappedTransport(SimulatedTransport(self.world), LiveRun.of(environment))
        self.gateway = Gateway(World(transport=self.capped, keys=KeyRing({}, {})), only(limited(route)))
        self.route = route

    def ask(self) -> Usage | None:
        """Ask once, and settle."""

        async def run() -> Usage | None:
            response = await self.gateway.answer(HI)
            await read(response)
            report = self.gateway.reports.find(response.headers["x-legato-request"])
            assert report is not None
            self.capped.settle(report.route, report.usage)
            return report.usage

        return anyio.run(run)


@pytest.mark.parametrize("asked", ["", "0", "yes"])
def test_nothing_is_sent_unless_somebody_asked_for_it(asked: str) -> None:
    bench = Bench(HAIKU, **ASKED | {"LEGATO_LIVE": asked})
    with pytest.raises(NotLive):
        bench.ask()
    assert (bench.world.requests, bench.capped.spent) == ([], 0.0)


def test_nothing_is_sent_to_a_route_that_nobody_named() -> None:
    bench = Bench("openai/gpt-4.1", **ASKED)
    with pytest.raises(NotLive):
        bench.ask()
    assert bench.world.requests == []


def test_a_run_stops_before_the_cap_is_passed() -> None:
    bench = Bench(HAIKU, **ASKED | {"LEGATO_LIVE_MAX_USD": "0.021"})
    answered: list[Usage | None] = []
    with pytest.raises(CapReached) as raised:
        while len(answered) < 1_000:
            answered.append(bench.ask())
    assert len(answered) == len(bench.world.requests) > 0
    assert bench.capped.spent <= 0.021
    assert "LEGATO_LIVE_MAX_USD" in str(raised.value)


def test_what_a_request_did_cost_takes_the_place_of_what_it_could() -> None:
    bench = Bench(HAIKU, **ASKED)
    usage = bench.ask()
    assert usage is not None
    assert bench.capped.spent == pytest.approx((usage.input * 1.0 + usage.output * 5.0) / 1_000_000)


def test_a_request_without_a_usage_counts_for_all_that_it_could_cost() -> None:
    bench = Bench(HAIKU, **ASKED)
    bench.ask()
    before = bench.capped.spent
    bench.capped.settle(HAIKU, None)
    assert bench.capped.spent == before

    async def send() -> None:
        target = bench.gateway.world.target(HAIKU)
        body: dict[str, Any] = {"model": "m", "max_tokens": 1_000, "messages": [{"role": "user", "content": "hi"}]}
        request = await bench.gateway.world.outgoing(target, json.dumps(body).encode(), stream=False)
        await bench.capped.send(request)

    anyio.run(send)
    bench.capped.settle(HAIKU, None)
    assert bench.capped.spent - before > 1_000 * 5.0 / 1_000_000


def test_routes_are_those_with_a_key_and_a_price_or_those_that_are_named() -> None:
    assert LiveRun.of(ASKED).routes == (HAIKU,)
    assert LiveRun.of({}).routes == ()
    assert LiveRun.of(ASKED | {"LEGATO_LIVE_ROUTES": f"{UNPRICED}, {HAIKU}"}).routes == (UNPRICED, HAIKU)


def test_a_route_without_a_known_price_is_counted_as_dear() -> None:
    bench = Bench(UNPRICED, **ASKED | {"LEGATO_LIVE_ROUTES": UNPRICED, "LEGATO_LIVE_MAX_USD": "0.20"})
    with pytest.raises(CapReached):
        bench.ask()
    assert bench.world.requests == []


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("client", RAW_AGENTS)
def test_simulated_providers_do_the_task_that_real_ones_are_given(client: str, stream: bool) -> None:
    """Another one at every request; so what is left for a live run to show is the providers."""
    world, environment = SimulatedWorld(), ASKED | {"LEGATO_LIVE_ROUTES": ",".join(CHEAP), "LEGATO_LIVE_MAX_USD": "9"}
    capped = CappedTransport(SimulatedTransport(world), LiveRun.of(environment))
    agent = RAW_AGENTS[client](stream=stream, forgets=False)
    anyio.run(do_task, agent, CHEAP, capped, KeyRing({}, {}))
    assert len({seen.provider for seen in world.requests}) > 1
    assert 0 < capped.spent < 9
