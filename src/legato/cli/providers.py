"""From settings to providers: which can be reached, with which keys, and who answers first.

With nothing set up, the first provider whose key is in the environment answers. With no key at all a person is told
how to set one up, and that simulated providers need none.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from msgspec.structs import replace

from legato.cli.settings.own_catalogue import catalogue_of
from legato.cli.settings.schema import Settings
from legato.errors import ConfigError, LegatoError, ProviderError
from legato.model import Target
from legato.request import Catalogue
from legato.request.model_list import current_model
from legato.routing import Profile, Route, only, read_profiles
from legato.session import Limits, World
from legato.transport import KEY_HEADERS, HttpTransport, KeyRing, variables_of
from legato.transport.credentials import find_authoriser
from legato.transport.keys import missing_key

SIMULATED_ROUTE = "anthropic/claude-sonnet-4-5"
"""who answers where everything is simulated and no one else was named"""

_FIRST = ("anthropic", "openai", "gemini", "mistral", "kimi", "deepseek")
"""asked first, of several providers whose keys are there"""


def not_configured(command: str = "legato", names_a_model: str = "-m") -> str:
    """What whoever ran `command` is told where nobody can answer."""
    return (
        "there is no key and no model yet, so nobody can answer.\n"
        "  Set a provider's key:  export ANTHROPIC_API_KEY=...\n"
        f"  or name a local model: {command} {names_a_model} ollama/qwen3\n"
        f"  or try it without any: {command} --simulate\n"
        "  `legato doctor` shows which keys are looked for,\n"
        "  `legato config init` begins a configuration."
    )


class NotConfigured(ConfigError):
    """There is no key and no configuration: no one could answer."""


@asynccontextmanager
async def open_world(
    settings: Settings,
    environment: Mapping[str, str] | None = None,
    *,
    pace: float | None = None,
    waits: bool = False,
) -> AsyncGenerator[World]:
    """The world of these settings; its connections are closed at the end. `pace` is that of simulated answers.

    `waits`: someone waits for each answer, so that the only route is worth minutes. Elsewhere it fails soon.
    """
    catalogue = catalogue_of(settings)
    patience = settings.patience if waits else replace(settings.patience, single_route=0.0)
    keys = key_ring(settings, catalogue, environment)
    if settings.simulate:
        from legato.simulation import SimulatedTransport, SimulatedWorld

        simulated = SimulatedTransport(SimulatedWorld(catalogue=catalogue), timeouts=settings.timeouts, pace=pace)
        # No key is used: simulated providers need none, and none must be able to leave.
        yield World(transport=simulated, catalogue=catalogue, keys=KeyRing({}, {}, catalogue), patience=patience)
        return
    async with HttpTransport(settings.timeouts, bounds=settings.bounds) as transport:
        yield World(
            transport=transport, catalogue=catalogue, keys=keys, endpoints=settings.endpoints, patience=patience
        )


def key_ring(
    settings: Settings, catalogue: Catalogue | None = None, environment: Mapping[str, str] | None = None
) -> KeyRing:
    """The keys that these settings and the environment give."""
    return KeyRing(settings.keys, os.environ if environment is None else environment, catalogue)


def profiles_of(settings: Settings) -> dict[str, Profile]:
    """The profiles, by name."""
    return read_profiles(settings.profiles)


def find_profile(settings: Settings, name: str) -> Profile:
    """The profile of that name; raises `ConfigError` that says what there is."""
    profiles = profiles_of(settings)
    if name in profiles:
        return profiles[name]
    from difflib import get_close_matches  # rarely needed, and slow to load

    near = get_close_matches(name, profiles, n=1)
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif profiles:
        hint = f"there are {', '.join(sorted(profiles))}"
    else:
        hint = f"none is configured; add [profiles.{name}] with policy and routes"
    raise ConfigError(f"there is no profile {name!r}; {hint}")


def initial_profile(settings: Settings, environment: Mapping[str, str] | None = None) -> Profile:
    """Who answers the first message; raises `NotConfigured` if no one can."""
    if settings.model is not None:
        profile = only(settings.model)
    elif settings.route is not None:
        profile = find_profile(settings, settings.route)
    elif settings.simulate:
        profile = only(SIMULATED_ROUTE)
    else:
        profile = only(_with_a_key(settings, environment))
    for route in profile.routes:
        resolve_route(settings, route.name, environment)  # a route that leads nowhere is refused now
    return profile


def resolve_route(settings: Settings, route: str, environment: Mapping[str, str] | None = None) -> Target:
    """The target of `route` with a whole endpoint; raises `LegatoError` if there is none."""
    catalogue = catalogue_of(settings)
    target = catalogue.resolve(route, endpoint=settings.endpoints.get(route.partition("/")[0], ""))
    return target if settings.simulate else catalogue.fill(target, os.environ if environment is None else environment)


def require_usable(settings: Settings, profile: Profile, environment: Mapping[str, str] | None = None) -> None:
    """Raise `LegatoError` if `profile` cannot answer: nothing of it can be reached, or a limit cannot be kept there.

    What is certain to fail is said before anything is stored or sent.
    """
    missing = [missing_credentials(settings, route, environment) for route in profile.routes]
    if missing[0] is not None and None not in missing:
        raise missing[0]
    limits = Limits(max_cost=settings.limits.max_cost)
    for route in profile.routes:
        if told := limits.unkept(route.name, catalogue_of(settings).resolve(route.name).capabilities):
            raise ConfigError(told)


def missing_credentials(
    settings: Settings, route: Route, environment: Mapping[str, str] | None = None
) -> ProviderError | None:
    """What is wrong with a `route` whose provider wants a key and for which there is none; None if nothing is.

    Raises `LegatoError` if the route leads nowhere.
    """
    target = resolve_route(settings, route.name, environment)
    if settings.simulate or any(name.lower() in KEY_HEADERS for name in route.headers):
        return None
    return None if credentials_of(settings, target, environment) else missing_key(target)


def credentials_of(settings: Settings, target: Target, environment: Mapping[str, str] | None = None) -> str:
    """Where the credentials for `target` are found, in words that show nothing of them; empty if there are none."""
    catalogue = catalogue_of(settings)
    ring = key_ring(settings, catalogue, environment)
    if ring.find(target.provider) is not None:
        written = settings.keys.get(target.provider, "")
        found = (name for name in variables_of(target.provider, catalogue) if ring.environment.get(name, "").strip())
        return (written if written.startswith("$") else "the settings") if written else next(found, "the environment")
    authoriser = find_authoriser(target, catalogue.providers.get(target.provider), ring)
    return "" if authoriser is None else authoriser.lender.source


def resumed_profile(settings: Settings, stored: str) -> Profile | None:
    """Who answers in a stored session that `stored` answered last; None if that names no one any more."""
    if not stored:
        return None
    try:
        catalogue_of(settings).resolve(stored)
    except LegatoError:
        return None
    if settings.route is not None:
        profile = find_profile(settings, settings.route)
        if stored in [route.name for route in profile.routes]:
            return profile
    return only(stored)


def _with_a_key(settings: Settings, environment: Mapping[str, str] | None) -> str:
    catalogue = catalogue_of(settings)
    keys = key_ring(settings, catalogue, environment)
    rest = [name for name in catalogue.providers if name not in _FIRST]
    today = datetime.now(UTC).date().isoformat()
    for name in (*_FIRST, *rest):
        provider = catalogue.providers[name]
        if provider.keys and provider.example and keys.find(name) is not None:
            route = f"{name}/{current_model(catalogue, name, today)}"
            if "{" not in catalogue.fill(catalogue.resolve(route), keys.environment, leaves_missing=True).endpoint:
                return route
    raise NotConfigured(not_configured())
