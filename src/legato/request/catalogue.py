"""Who can be asked, and what each accepts: the one place that reads packaged data.

In:  a route such as `mistral/mistral-large-latest`.
Out: a `Target`: dialect, profile, endpoint, and the capabilities of that model there.

A user's own catalogue, in the same form, is laid over the packaged one: new providers, other endpoints, families with
other capabilities. What is wrong in it is an error that names the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.errors import ConfigError, UnknownTarget
from legato.model import Capabilities, Dialect, Target


class Provider(Struct, frozen=True, forbid_unknown_fields=True):
    """One provider as the catalogue describes it. `keys` are environment variables that may hold its key; the first
    that is set counts. A provider without any, such as a server on this machine, needs none.
    """

    dialect: Dialect
    profile: str
    endpoint: str
    keys: list[str] = []
    example: str = ""
    capabilities: dict[str, Any] = {}


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """Models with something in common."""

    name: str
    match: list[str]
    capabilities: dict[str, Any]
    on: list[str] = []


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    providers: dict[str, Provider] = {}
    families: list[Family] = []


_MOST_RESOLVED = 1_000


class Catalogue:
    """Providers and families of models."""

    def __init__(self, providers: Mapping[str, Provider], families: list[Family]) -> None:
        self.providers = dict(providers)
        self.families = families
        self._resolved: dict[tuple[str, str, str], Target] = {}

    def resolve(self, route: str, *, account: str = "", endpoint: str = "") -> Target:
        """The target that `route` names; raises `UnknownTarget` that says what is near."""
        key = (route, account, endpoint)
        target = self._resolved.get(key)
        if target is None:
            if len(self._resolved) >= _MOST_RESOLVED:
                self._resolved.clear()
            target = self._resolved[key] = self._resolve(route, account, endpoint)
        return target

    def _resolve(self, route: str, account: str, endpoint: str) -> Target:
        name, slash, model = route.strip().partition("/")
        provider = self.providers.get(name)
        if provider is None or not slash or not model:
            raise self._unknown(route, name, has_model=bool(slash and model))
        capabilities: dict[str, Any] = dict(provider.capabilities)
        bare = model.rsplit("/", 1)[-1].lower()
        for family in self.families:
            if (not family.on or name in family.on) and any(fnmatchcase(bare, pattern) for pattern in family.match):
                capabilities |= family.capabilities
        return Target(
            dialect=provider.dialect,
            profile=provider.profile,
            provider=name,
            model=model,
            endpoint=endpoint or provider.endpoint,
            account=account,
            capabilities=_capabilities(capabilities, route),
        )

    def extended(self, extra: Mapping[str, Any], *, source: str = "the user's catalogue") -> Catalogue:
        """This catalogue with `extra`, in the form of the packaged file, laid over it.

        A provider that is known already needs only what differs.
        """
        tables: dict[str, Any] = dict(extra)
        merged = {name: dict(table) for name, table in tables.get("providers", {}).items()}
        for name, table in merged.items():
            if name in self.providers:
                known = msgspec.to_builtins(self.providers[name])
                capabilities = known["capabilities"] | table.get("capabilities", {})
                merged[name] = known | table | {"capabilities": capabilities}
        file = _read({**tables, "providers": merged}, source)
        for name in file.providers:
            if "/" in name or not name:
                raise ConfigError(f"{source}: {name!r} cannot name a provider: it must not be empty or hold a slash")
        catalogue = Catalogue({**self.providers, **file.providers}, [*self.families, *file.families])
        for name in file.providers:
            catalogue.resolve(f"{name}/any")  # finds unknown or ill-typed capabilities now, not at the first request
        for family in file.families:
            _capabilities(family.capabilities, f"{source}, family {family.name!r}")
        return catalogue

    def _unknown(self, route: str, name: str, *, has_model: bool) -> UnknownTarget:
        known = sorted(self.providers)
        if name in self.providers and not has_model:
            example = f"{name}/{self.providers[name].example}"
            return UnknownTarget(f"{route!r} names a provider but no model; write for example {example!r}", route=route)
        from difflib import get_close_matches  # rarely needed, and slow to load

        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known providers: {', '.join(known)}"
        return UnknownTarget(
            f"no provider {name!r} in {route!r}, which should read provider/model; {hint}", route=route
        )


@cache
def default_catalogue() -> Catalogue:
    """The packaged catalogue."""
    import tomllib  # whoever brings targets of their own never reads the file
    from pathlib import Path

    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    file = _read(tomllib.loads(text), "the packaged catalogue")
    return Catalogue(file.providers, file.families)


def resolve(route: str | Target, catalogue: Catalogue | None = None) -> Target:
    """`route` as a target: from `catalogue`, or the packaged one."""
    return route if isinstance(route, Target) else (catalogue or default_catalogue()).resolve(route)


def with_capabilities(target: Target, **changes: Any) -> Target:
    """`target` with some capabilities changed, for what no catalogue says."""
    return replace(target, capabilities=replace(target.capabilities, **changes))


def _read(tables: Mapping[str, Any], source: str) -> _File:
    try:
        return msgspec.convert(tables, _File)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{source}: {error}", source=source) from None


def _capabilities(values: Mapping[str, Any], where: str) -> Capabilities:
    try:
        return msgspec.convert(values, Capabilities)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the capabilities of {where}: {error}", where=where) from None
