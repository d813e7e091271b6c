"""Simulated providers on a socket of this machine, for any SDK or agent.

In:  an address.
Out: a server with each provider under its own base path; `base_urls` says which.

    http://127.0.0.1:8123/openai/v1      for the OpenAI client, chat and responses
    http://127.0.0.1:8123/anthropic      for the Anthropic client
    http://127.0.0.1:8123/gemini/v1beta  and so on

Any key is right except one that begins with "bad". Ask the model in plain words for tools, thoughts or failures.
"""

from __future__ import annotations

import anyio
from anyio.abc import TaskStatus

from legato.model import Platform
from legato.request import Catalogue, default_catalogue
from legato.serving import require_extra
from legato.simulation.pace import pause_between
from legato.simulation.world import SimulatedWorld
from legato.transport.server_habits import habits_of

DEFAULT_PORT = 8123
"""where `legato simulate` listens: our choice, seldom taken"""

KEPT = 200
"""requests that a server remembers"""


def base_urls(host: str, port: int, catalogue: Catalogue | None = None) -> dict[str, str]:
    """The base URL of every provider on a server, by the provider's name: what a route's endpoint would be."""
    shown = f"[{host}]" if ":" in host else host
    providers = (catalogue or default_catalogue()).providers
    return {
        name: f"http://{shown}:{port}{habits_of(name, provider.dialect).base}{_QUERIES.get(provider.platform, '')}"
        for name, provider in providers.items()
    }


_QUERIES = {Platform.AZURE_DEPLOYMENTS: "?api-version=2024-10-21"}
"""what an endpoint names beside its path"""


async def serve(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    world: SimulatedWorld | None = None,
    pace: float | None = None,
    task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled, on asyncio. Port 0 takes a free one; `task_status` is told which, once requests are taken.

    `pace` is how many pieces of a streamed answer are sent in a second; without it they leave in one burst. Needs the
    extra `serve`, and raises `ConfigError` without it, or if the port cannot be had.
    """
    require_extra("a server of simulated providers")
    from legato.serving.http_server import HttpServer, listen
    from legato.simulation.app import SimulationApp

    world = world or SimulatedWorld(needs_keys=True, keeps=KEPT)
    pause_between(pace)  # a pace that cannot be kept is refused before anything is opened
    with listen(host, port) as listener:
        bound: int = listener.getsockname()[1]
        app = SimulationApp(world, base_urls(host, bound, world.catalogue), pace=pace)
        task_status.started(bound)
        await HttpServer(app, listener).run()
