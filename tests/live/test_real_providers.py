"""Real providers behind the gateway: each kind of client with each of them, and with another at every request.

    LEGATO_LIVE=1 make live

asks those whose keys are in the environment, and spends no more than LEGATO_LIVE_MAX_USD (see `live`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import anyio
import pytest

from legato.transport import HttpTransport, KeyRing
from live import CappedTransport, LiveRun, do_task
from raw_agents import RAW_AGENTS

pytestmark = pytest.mark.live

RUN = LiveRun.of(os.environ)
BACKENDS: dict[str, tuple[str, ...]] = {route: (route,) for route in RUN.routes}
if len(RUN.routes) > 1:
    BACKENDS["another at every request"] = RUN.routes
needs_routes = pytest.mark.skipif(
    not BACKENDS, reason="no key of a provider is in the environment, and LEGATO_LIVE_ROUTES names no route"
)


@pytest.fixture(scope="module")
def spent() -> Iterator[list[float]]:
    """What the tests before this one have cost."""
    dollars = [0.0]
    yield dollars
    print(f"\nspent at most ${dollars[0]:.4f} of ${RUN.max_usd:.2f}")


@needs_routes
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("backend", BACKENDS or ["nobody"])
@pytest.mark.parametrize("client", RAW_AGENTS)
def test_a_task_with_tools_is_done(client: str, backend: str, stream: bool, spent: list[float]) -> None:
    async def run() -> None:
        http = HttpTransport()
        capped = CappedTransport(http, RUN, spent=spent[0])
        try:
            agent = RAW_AGENTS[client](stream=stream, forgets=False)
            await do_task(agent, BACKENDS[backend], capped, KeyRing({}, os.environ))
        finally:
            spent[0] = capped.spent
            await http.aclose()

    anyio.run(run)
