"""Whom a request is for: from the name of a model to a profile.

header `x-legato-route`     a profile or a route, by hand
prefix of the path          a profile
name of the model           a profile, a pattern of the settings, a route
anything else               the default
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from legato.errors import ConfigError, UnknownTarget
from legato.request import Catalogue
from legato.routing import Profile, Route, only

ROUTE_HEADER = "x-legato-route"


class ModelNames:
    """The names that a gateway knows. `patterns` are looked through in order, and the first that fits wins."""

    def __init__(
        self,
        default: Profile,
        catalogue: Catalogue,
        *,
        profiles: Iterable[Profile] = (),
        patterns: Mapping[str, str] | None = None,
    ) -> None:
        self.default = default
        self.profiles = {profile.name: profile for profile in (default, *profiles)}
        self._catalogue = catalogue
        self._patterns = {pattern: self._configured(pattern, name) for pattern, name in (patterns or {}).items()}

    def find(self, model: str, *, by_hand: str = "", prefix: str = "") -> Profile:
        """The profile that answers for `model`; raises `UnknownTarget` for what was chosen by hand and is not known."""
        if by_hand:
            return self._chosen(by_hand)
        if prefix in self.profiles:
            return self.profiles[prefix]
        return self.named(model) or self.default

    def named(self, model: str) -> Profile | None:
        """The profile that is meant by `model`; None if nobody is, so that the default answers."""
        if model in self.profiles:
            return self.profiles[model]
        if (named := self._route(model)) is not None:
            return named
        return next((profile for pattern, profile in self._patterns.items() if fnmatchcase(model, pattern)), None)

    @property
    def offered(self) -> list[str]:
        """The names that clients may choose from: profiles, and the routes in them."""
        routes = [route.name for profile in self.profiles.values() for route in profile.routes]
        return list(dict.fromkeys([*self.profiles, *routes]))

    def _chosen(self, name: str) -> Profile:
        profile = self.profiles.get(name) or self._route(name)
        if profile is None:
            raise UnknownTarget(
                f"{ROUTE_HEADER} names {name!r}, which is neither a profile nor a route; "
                f"profiles here are {', '.join(self.profiles)}"
            )
        return profile

    def _route(self, name: str) -> Profile | None:
        """The profile of the single route `name`; as one of the profiles has it, if one does."""
        for profile in self.profiles.values():
            for route in profile.routes:
                if route.name == name:
                    return only(route)
        provider, slash, model = name.partition("/")
        return only(Route(name)) if slash and model and provider in self._catalogue.providers else None

    def _configured(self, pattern: str, name: str) -> Profile:
        profile = self.profiles.get(name) or self._route(name)
        if profile is None:
            raise ConfigError(
                f"the models that fit {pattern!r} are to go to {name!r}, which is neither a profile nor a route"
            )
        return profile
