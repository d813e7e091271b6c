"""What a person names: routes, and profiles that choose among them.

In:  `provider/model` strings, or the `profiles` table of a configuration.
Out: `Route` and `Profile` values.

A route carries its own options and headers. They are looked up with the route and never merged with another's, so what
was set for one provider cannot reach the next one when a conversation moves on.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

import msgspec
from msgspec import Struct

from legato.errors import ConfigError, UnknownTarget
from legato.model import JsonObject, Options


class Route(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`provider/model`, with the options and headers that hold for this route alone.

    `headers` may hold a token, so a repr shows their names only.
    """

    name: str
    options: Options = Options()
    headers: dict[str, str] = {}

    def __post_init__(self) -> None:
        if not self.provider or not self.model:
            raise UnknownTarget(
                f"{self.name!r} names no route; write it as provider/model, such as mistral/mistral-large-latest"
            )

    @property
    def provider(self) -> str:
        """Who is asked: what comes before the first slash."""
        return self.name.partition("/")[0]

    @property
    def model(self) -> str:
        """Which model is asked for; it may hold slashes of its own."""
        return self.name.partition("/")[2]

    def __repr__(self) -> str:
        return f"Route({self.name!r}, options={self.options!r}, headers={sorted(self.headers)})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        # msgspec gives every struct one that shows all fields.
        return [("name", self.name), ("options", self.options), ("headers", sorted(self.headers))]


class Policy(StrEnum):
    """How a profile chooses among its routes."""

    MANUAL = "manual"
    """the first route, until another is chosen; a route that fails is not left"""
    ROUND_ROBIN = "round-robin"
    """one after the other, moving on at turn boundaries"""
    FAILOVER = "failover"
    """the first that is well, in the order of the list"""


class Profile(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Routes under a name, in order, and how to choose among them.

    `sticky_turns` keeps a route for at least so many turns while it is well, because every move starts a cold cache.
    """

    name: str
    routes: tuple[Route, ...]
    policy: Policy = Policy.MANUAL
    sticky_turns: int = 1

    def __post_init__(self) -> None:
        if not self.routes:
            raise ConfigError(f"the profile {self.name!r} lists no routes; give it at least one")
        names = [route.name for route in self.routes]
        if len(set(names)) != len(names):
            raise ConfigError(f"the profile {self.name!r} lists a route twice; list each route once")
        if self.sticky_turns < 1:
            raise ConfigError(f"the profile {self.name!r} has sticky_turns = {self.sticky_turns}; it is at least 1")


def only(route: Route | str) -> Profile:
    """The profile of a single route, chosen by hand."""
    route = Route(route) if isinstance(route, str) else route
    return Profile(route.name, (route,))


def read_profiles(table: Mapping[str, object]) -> dict[str, Profile]:
    """The profiles of a configuration table, by name; raises `ConfigError` that names the place of what is wrong.

    A route is written as `"provider/model"`, or as a table with `route`, `options` and `headers`.
    """
    return {name: _profile(name, value) for name, value in table.items()}


def _profile(name: str, value: object) -> Profile:
    if not isinstance(value, Mapping):
        raise ConfigError(f"profiles.{name} is not a table; give it policy and routes")
    fields = cast("Mapping[str, object]", value)
    routes = fields.get("routes", [])
    if not isinstance(routes, list | tuple):
        raise ConfigError(f"profiles.{name}.routes is not a list")
    read = [_route(item, f"profiles.{name}.routes[{index}]") for index, item in enumerate(cast("list[object]", routes))]
    plain: JsonObject = {key: item for key, item in fields.items() if key != "routes"}
    if "policy" in plain and plain["policy"] not in [*Policy]:
        raise ConfigError(f"profiles.{name}.policy: there is no {plain['policy']!r}; it is one of {', '.join(Policy)}")
    try:
        return msgspec.convert({**plain, "name": name, "routes": read}, Profile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"profiles.{name} cannot be used: {error}") from None


def _route(value: object, place: str) -> Route:
    if isinstance(value, str):
        fields: JsonObject = {"name": value}
    elif isinstance(value, Mapping) and "route" in value:
        fields = dict(cast("Mapping[str, object]", value))
        fields["name"] = fields.pop("route")
    else:
        raise ConfigError(f"{place} names no route; write provider/model, or a table with route, options and headers")
    options = fields.get("options", {})
    unknown = (
        sorted(set(cast(JsonObject, options)) - set(Options.__struct_fields__)) if isinstance(options, dict) else []
    )
    if unknown:
        raise ConfigError(
            f"{place}.options has no {unknown[0]!r}; known are {', '.join(Options.__struct_fields__)}; "
            "a field that only this provider knows goes into extra"
        )
    try:
        return msgspec.convert(fields, Route)
    except (msgspec.ValidationError, UnknownTarget) as error:
        raise ConfigError(f"{place} cannot be used: {error}") from None
