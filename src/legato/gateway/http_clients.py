"""HTTP clients for the official SDKs, behind which any route of the catalogue answers.

    client = OpenAI(http_client=legato.client("anthropic/claude-sonnet-4-5"))

An SDK that is given one of these works as always and never opens a connection: its requests go to a gateway in this
process, which asks whichever provider the route or the profile names and answers in the SDK's own dialect. The header
`x-legato-route` of a response says who answered, and `x-legato-request` is the id of the gateway's report about it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, overload

from msgspec.structs import replace

from legato.errors import ConfigError
from legato.gateway.gateway import Gateway
from legato.gateway.http_libraries import LibraryName, as_one_of, http_library
from legato.gateway.in_process import Responder, async_in_process, in_process
from legato.gateway.operator_settings import SwitchAt
from legato.routing import Profile, Route, only
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.transport import KeyRing
from legato.transport.contract import Ask, WireResponse
from legato.world import World

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
SwitchName: TypeAlias = Literal["turn", "request"]

HERE = "http://legato"
"""what a relative URL is relative to, where a client is used without an SDK; nobody looks at the host"""


@overload
def client(route: str | Route | Profile, *, library: Literal["httpx"], **settings: Any) -> Any: ...
@overload
def client(
    route: str | Route | Profile,
    *,
    profiles: Iterable[Profile] = (),
    models: Mapping[str, str] | None = None,
    world: World | None = None,
    simulate: bool = False,
    key: bytes | None = None,
    switch: SwitchAt | SwitchName = "turn",
    timeout: float | httpx2.Timeout | None = None,
    library: Literal["httpx2"] = "httpx2",
    **settings: Any,
) -> httpx2.Client: ...
def client(
    route: str | Route | Profile,
    *,
    profiles: Iterable[Profile] = (),
    models: Mapping[str, str] | None = None,
    world: World | None = None,
    simulate: bool = False,
    key: bytes | None = None,
    switch: SwitchAt | SwitchName = "turn",
    timeout: Any = None,
    library: LibraryName = "httpx2",
    **settings: Any,
) -> httpx2.Client:
    """An HTTP client for a synchronous SDK, answered by `route`, or by the route that a profile chooses.

        OpenAI(http_client=legato.client("anthropic/claude-sonnet-4-5"))
        Anthropic(http_client=legato.client("openai/gpt-5.2"))
        genai.Client(http_options=types.HttpOptions(httpx_client=legato.client("mistral/mistral-large-latest")))
        Mistral(client=legato.client("kimi/kimi-k2-thinking"))

    Whichever model the SDK asks for, `route` answers, unless the name is that of another route or of one of `profiles`,
    or `models` maps it to one: patterns such as `gpt-*-mini`, of which the first that fits wins. `world` says whom the
    gateway reaches, and with which keys; `simulate` lets simulated providers answer, without a key and without a
    network. `key` signs what the gateway puts into answers to find it again in the next request: with one of your own,
    a conversation can be stored and continued in another process. `switch` is when a profile that takes turns moves on:
    with each message of a person, or, to try it out, with each request. `timeout` is how long the client waits for the
    next bytes; None leaves that to the limits of the world's transport. `library` is the one that the SDK is built on,
    "httpx" for older ones, and `settings` are further ones of its `Client`.

    Any number of threads may share a client. All synchronous clients of a process work in one event loop in a thread of
    their own, so their world cannot serve another loop as well. `close` closes the connections, unless another client
    of the same world has been used and is still open.
    """
    of = http_library(library)
    build, about = _plan(route, profiles, world, simulate=simulate, models=models, key=key, switch=switch)
    made = as_one_of(of.client, _Described)(transport=in_process(build, of), **_defaults(timeout) | settings)
    return _described(made, f"legato.client {about} on {library}")


@overload
def async_client(route: str | Route | Profile, *, library: Literal["httpx"], **settings: Any) -> Any: ...
@overload
def async_client(
    route: str | Route | Profile,
    *,
    profiles: Iterable[Profile] = (),
    models: Mapping[str, str] | None = None,
    world: World | None = None,
    simulate: bool = False,
    key: bytes | None = None,
    switch: SwitchAt | SwitchName = "turn",
    timeout: float | httpx2.Timeout | None = None,
    library: Literal["httpx2"] = "httpx2",
    **settings: Any,
) -> httpx2.AsyncClient: ...
def async_client(
    route: str | Route | Profile,
    *,
    profiles: Iterable[Profile] = (),
    models: Mapping[str, str] | None = None,
    world: World | None = None,
    simulate: bool = False,
    key: bytes | None = None,
    switch: SwitchAt | SwitchName = "turn",
    timeout: Any = None,
    library: LibraryName = "httpx2",
    **settings: Any,
) -> httpx2.AsyncClient:
    """The same as `client`, for an asynchronous SDK; it works in the caller's event loop.

    AsyncOpenAI(http_client=legato.async_client("anthropic/claude-sonnet-4-5"))
    AsyncAnthropic(http_client=legato.async_client("openai/gpt-5.2"))
    genai.Client(http_options=types.HttpOptions(httpx_async_client=legato.async_client("openai/gpt-5.2")))
    Mistral(async_client=legato.async_client("kimi/kimi-k2-thinking"))
    """
    of = http_library(library)
    build, about = _plan(route, profiles, world, simulate=simulate, models=models, key=key, switch=switch)
    made = as_one_of(of.async_client, _Described)(
        transport=async_in_process(build(), of), **_defaults(timeout) | settings
    )
    return _described(made, f"legato.async_client {about} on {library}")


def _defaults(timeout: Any) -> dict[str, Any]:
    # Nothing of the environment is for requests that stay in the process: no proxy, no netrc.
    return {"timeout": timeout, "base_url": HERE, "trust_env": False}


class _Described:
    """A client that says what it is."""

    about: str

    def __repr__(self) -> str:
        return f"<{self.about}>"


def _described(made: T, about: str) -> T:
    cast(_Described, made).about = about
    return made


def _plan(
    route: str | Route | Profile,
    profiles: Iterable[Profile],
    world: World | None,
    *,
    simulate: bool,
    models: Mapping[str, str] | None,
    key: bytes | None,
    switch: SwitchAt | SwitchName,
) -> tuple[Callable[[], Responder], str]:
    """What builds the gateway of a client, and how to call it; raises `UnknownTarget` for a route that nobody knows."""
    moves = _moment(switch)
    world, profiles, key = world or World(), tuple(profiles), key or secrets.token_bytes(32)
    if simulate:  # no key either: for some it would have to be fetched from somewhere first
        simulated = SimulatedTransport(SimulatedWorld(catalogue=world.catalogue))
        world = replace(world, transport=simulated, keys=KeyRing({}, {}, world.catalogue))
    default = _profile(route, profiles)
    for named in (route for profile in (default, *profiles) for route in profile.routes):
        world.target(named.name)

    def build() -> Responder:
        return _Resident(Gateway(world, default, profiles=profiles, models=models, key=key, switch=moves))

    return build, f"{default.name!r}{' (simulated)' if simulate else ''}"


def _moment(switch: str) -> SwitchAt:
    try:
        return SwitchAt(switch)
    except ValueError:
        raise ConfigError(
            f"switch={switch!r}: a profile that goes round moves on at every {' or '.join(SwitchAt)}"
        ) from None


def _profile(route: str | Route | Profile, profiles: Iterable[Profile]) -> Profile:
    if isinstance(route, Profile):
        return route
    return next((profile for profile in profiles if profile.name == route), None) or only(route)


class _Resident:
    """A gateway in a world that others may live in as well: whoever leaves last closes the connections."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        # A child does not count the residents of the process that it was forked from.
        self._home = (os.getpid(), id(gateway.world.transport))

    async def answer(self, ask: Ask) -> WireResponse:
        """What the gateway answers."""
        _RESIDENTS.setdefault(self._home, set()).add(self)
        return await self._gateway.answer(ask)

    async def close(self) -> None:
        """Leave."""
        others = _RESIDENTS.get(self._home, set())
        others.discard(self)
        if not others:
            _RESIDENTS.pop(self._home, None)
            await self._gateway.close()


_RESIDENTS: dict[tuple[int, int], set[_Resident]] = {}
