"""What tests of the gateway need: one over simulated providers, requests as clients send them, answers as they read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
from msgspec import Struct

from dialect_support import SAMPLES
from legato.gateway.gateway import Gateway, SwitchAt
from legato.model import Dialect
from legato.routing import Policy, Profile, Route
from legato.serving.contract import ConnectionCut
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.transport import KeyRing
from legato.transport.contract import Ask, WireResponse
from legato.world import World

FAMILIES = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "openai-chat": "openai/gpt-4.1",
    "openai-responses": "openai-responses/gpt-5",
    "gemini": "gemini/gemini-3-pro-preview",
    "mistral": "mistral/mistral-large-latest",
    "kimi": "kimi/kimi-k2-thinking",
    "deepseek": "deepseek/deepseek-reasoner",
}
"""a route of each family of backends"""

EACH_REQUEST = Profile("everybody", tuple(map(Route, FAMILIES.values())), Policy.ROUND_ROBIN)
"""with `SwitchAt.REQUEST`: another backend at every request"""


class Recorded(Struct, frozen=True, eq=False):
    """A request that a real client sent."""

    client: str
    surface: str
    ask: Ask
    note: str

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.ask.body)


def simulated_world(**options: Any) -> World:
    """A world in which every provider is simulated."""
    simulated = SimulatedWorld(sleep=no_wait, **options)
    return World(transport=SimulatedTransport(simulated), keys=KeyRing({}, {}), sleep=no_wait)


async def no_wait(seconds: float) -> None:
    """No time passes."""


def simulated_gateway(profile: Profile | str, *, switch: SwitchAt = SwitchAt.TURN, **options: Any) -> Gateway:
    """A gateway over simulated providers, which all have what they ask for."""
    return Gateway(simulated_world(**options), profile, switch=switch, key=b"a key for tests")


def seen_by(world: World) -> SimulatedWorld:
    """The simulated providers of `world`."""
    transport = world.transport
    assert isinstance(transport, SimulatedTransport)
    return transport.world


def post(path: str, body: Any, headers: dict[str, str] | None = None) -> Ask:
    """A request of a client."""
    url = urlsplit(path)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Ask(method="POST", path=url.path, query=dict(parse_qsl(url.query)), headers=headers or {}, body=data)


async def read(response: WireResponse) -> bytes:
    """The body of a response, as far as it comes: a connection that is cut ends it too."""
    chunks: list[bytes] = []
    with suppress(ConnectionCut):
        async for chunk in response.chunks:
            chunks += [chunk]
    return b"".join(chunks)


def ask(gateway: Gateway, request: Ask, *, tenant: str = "") -> tuple[WireResponse, bytes]:
    """The response to `request` and its body."""

    async def run() -> tuple[WireResponse, bytes]:
        response = await gateway.answer(request, tenant=tenant)
        return response, await read(response)

    return anyio.run(run)


class Heard(Struct, frozen=True):
    """A response as its client had it; `is_cut` whether the connection broke off."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def route(self) -> str:
        """Who answered, by the header."""
        return self.headers["x-legato-route"]


def hear(gateway: Gateway, request: Ask, *, tenant: str = "") -> Heard:
    """The response to `request`, and whether it came to an end."""
    return anyio.run(heard_from, gateway, request, tenant)


def hear_each(gateways: Iterable[Gateway], request: Ask) -> list[Heard]:
    """What each of `gateways` responds to `request`."""

    async def run() -> list[Heard]:
        return [await heard_from(gateway, request) for gateway in gateways]

    return anyio.run(run)


async def heard_from(gateway: Gateway, request: Ask, tenant: str = "") -> Heard:
    """The same as `hear`, in an event loop that runs already."""
    response = await gateway.answer(request, tenant=tenant)
    chunks: list[bytes] = []
    try:
        async for chunk in response.chunks:
            chunks += [chunk]
    except ConnectionCut:
        return Heard(response.status, response.headers, b"".join(chunks), is_cut=True)
    return Heard(response.status, response.headers, b"".join(chunks))


@cache
def recorded(client: str = "*") -> list[Recorded]:
    """The requests of real clients; none where the samples are not on this machine."""
    found: list[Recorded] = []
    for path in sorted((SAMPLES / "clients").glob(f"{client}.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            headers = {name.lower(): value for name, value in item["headers"].items()}
            found.append(
                Recorded(item["client"], item["surface"], post(item["path"], item["body"], headers), item["note"])
            )
    return found


SURFACES = {
    "anthropic": Dialect.ANTHROPIC,
    "openai-chat": Dialect.OPENAI_CHAT,
    "openai-responses": Dialect.OPENAI_RESPONSES,
    "gemini": Dialect.GEMINI,
}
