"""Simulated providers on a socket of this machine, for any SDK or agent.

In:  an address.
Out: a server with each provider under its own base path; `base_urls` says which.

    http://127.0.0.1:8123/openai/v1      for the OpenAI client, chat and responses
    http://127.0.0.1:8123/anthropic      for the Anthropic client
    http://127.0.0.1:8123/gemini/v1beta  and so on

Any key is right except one that begins with "bad". Ask the model in plain words for tools, thoughts or failures.
"""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream, TaskStatus

from legato.errors import ConfigError
from legato.model import JsonObject, Platform
from legato.request import Catalogue, default_catalogue
from legato.simulation.contract import Reply
from legato.simulation.http import Connection, Unreadable
from legato.simulation.pace import pause_between
from legato.simulation.world import SimulatedWorld
from legato.transport.contract import Ask
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
    """Serve until cancelled. Port 0 takes a free one; `task_status` is told which, once requests are taken.

    `pace` is how many pieces of a streamed answer are sent in a second; without it they leave in one burst.
    """
    pause = pause_between(pace)
    try:
        listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port} ({error.strerror or error}); choose another port, or end the program "
            "that uses it",
            host=host,
            port=port,
        ) from None
    async with listener:
        bound: int = listener.extra(SocketAttribute.local_port)
        desk = _Desk(world or SimulatedWorld(needs_keys=True, keeps=KEPT), host, bound, pause)
        task_status.started(bound)
        await listener.serve(desk.attend)


@dataclass(frozen=True, slots=True)
class _Desk:
    """Takes connections."""

    world: SimulatedWorld
    host: str
    port: int
    pause: float

    async def attend(self, stream: SocketStream) -> None:
        """Answer one client's requests until it leaves; whatever it sends, the other clients are served."""
        try:
            async with stream:
                await self._converse(Connection(stream))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass  # the client went away; no one is left to tell

    async def _converse(self, connection: Connection) -> None:
        try:
            while connection.stays_open and (ask := await connection.receive()) is not None:
                await connection.send(self._safe_reply(ask), sleep=self.world.sleep, pause=self.pause)
        except Unreadable as fault:
            connection.stays_open = False
            await connection.send(_plain(fault.status, {"error": {"message": fault.status.phrase}}))

    def _safe_reply(self, ask: Ask) -> Reply:
        try:
            return self._reply(ask)
        except Exception as error:  # noqa: BLE001 - one request must not end a server, be it the fault of the simulation
            told = f"the simulation failed on this request ({type(error).__name__}); please report it"
            return _plain(500, {"error": {"message": told}})

    def _reply(self, ask: Ask) -> Reply:
        if ask.headers.get("upgrade", "").lower() == "websocket":  # a client that is told so goes on in plain HTTP
            return _plain(426, {"error": {"message": "there are no web sockets here; use HTTP"}})
        provider = self.world.locate(ask.path, ask.method)
        if provider is not None:
            return self.world.reply(provider, ask)
        urls = base_urls(self.host, self.port, self.world.catalogue)
        if ask.path == "/":
            return _plain(200, {"base_urls": urls})
        return _plain(404, {"error": {"message": f"no provider listens at {ask.path}"}, "base_urls": urls})


def _plain(status: int, body: JsonObject) -> Reply:
    return Reply(status=status, headers={"content-type": "application/json"}, chunks=(msgspec.json.encode(body),))
