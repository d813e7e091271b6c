"""Who can be asked, and what each accepts: the one place that reads packaged data.

In:  a route such as `mistral/mistral-large-latest`.
Out: a `Target`: dialect, profile, endpoint, and the capabilities of that model there.

Providers come from three places: hosts of the chat family and of the Messages API from their files (`wire.hosts`), each
loaded when it is first named; the others from `catalogue.toml`; a user's own from the settings, in the form of that
file.

A catalogue is made of sheets, and a later one goes over all of an earlier one: what hosts say of themselves, the
packaged file, what hosts say of their own models, published prices, and a user's own sheets. Within a sheet a
provider's capabilities come first and those of the families that fit the model's name second. So what a user says of a
provider is never undone by what we know of a model's name. `explain` says where each capability comes from. What is
wrong in a sheet is an error that names the place.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from msgspec import Struct
from msgspec.structs import replace

from legato.errors import ConfigError, UnknownTarget
from legato.model import Capabilities, Dialect, Target
from legato.request.catalogue_tables import (
    Family,
    Provider,
    check_places,
    check_tables,
    convert,
    near,
    provider_table,
    read_capabilities,
    where,
)
from legato.request.family_names import family_name
from legato.request.known_models import known_models
from legato.request.places import fill_endpoint
from legato.wire.hosting import Retirement
from legato.wire.hosts import find_host, host_names


class CapabilityGrant(NamedTuple):
    """Some capabilities of a target, and who says so."""

    capabilities: Mapping[str, Any]
    source: str
    seen: str = ""
    """of a price: when it was last seen"""


class AskedModel(NamedTuple):
    """Whose capabilities are asked for: a model at a provider."""

    provider: str
    dialect: Dialect
    names: tuple[str, ...]
    """of the model, in lower case: as the provider writes it, without path, and as its vendor does"""


Grants: TypeAlias = Callable[[AskedModel], Iterator[CapabilityGrant]]
"""what a sheet says of a model at a provider: grants, of which later ones count"""


class Sheet(Struct, frozen=True):
    """What one place says. `places` names it more exactly where it can, by key: `providers.NAME`, `families`."""

    source: str
    capabilities: Mapping[str, Mapping[str, Any]]
    """of providers, by name"""
    families: Sequence[Family]
    places: Mapping[str, str] = {}

    def grants(self, asked: AskedModel) -> Iterator[CapabilityGrant]:
        """What is here of that model at that provider."""
        own = self.capabilities.get(asked.provider)
        if own:
            yield CapabilityGrant(own, where(f"providers.{asked.provider}", self.source, self.places))
        for family in self.families:
            if family.is_served(asked.provider, asked.dialect):
                place = where("families", self.source, self.places)
                yield from _grant_if_fitting(family.name, family.match, family.capabilities, asked, place)


def _grant_if_fitting(
    name: str, match: Sequence[str], capabilities: Mapping[str, Any], asked: AskedModel, place: str
) -> Iterator[CapabilityGrant]:
    for pattern in match:
        for model in asked.names:
            if fnmatchcase(model, pattern.lower()):
                yield CapabilityGrant(capabilities, f"{place}: {name!r}, because {model} fits {pattern}")
                return


class Explained(Struct, frozen=True):
    """One capability of a target, its value, and where that comes from."""

    name: str
    value: Any
    source: str


DEFAULT = "default of every model"
PACKAGED = "built-in catalogue"

_MOST_RESOLVED = 1_000
"""targets that are remembered: our choice, more routes than any program names"""


# --- the hosts --------------------------------------------------------------------------------------------------------


class HostProviders(Mapping[str, Provider]):
    """Every host as a provider, made when it is first asked for."""

    def __getitem__(self, name: str) -> Provider:
        host = find_host(name)
        if host is None:
            raise KeyError(name)
        return Provider(
            dialect=host.dialect,
            profile=host.profile,
            endpoint=host.endpoint,
            keys=list(host.keys),
            example=host.example,
            capabilities=dict(host.capabilities),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(host_names())

    def __len__(self) -> int:
        return len(host_names())


def _grants_of_host(asked: AskedModel) -> Iterator[CapabilityGrant]:
    host = find_host(asked.provider)
    if host is not None and host.capabilities:
        yield CapabilityGrant(host.capabilities, f"{PACKAGED}: providers.{asked.provider}")


def _grants_of_host_models(asked: AskedModel) -> Iterator[CapabilityGrant]:
    host = find_host(asked.provider)
    for models in host.models if host is not None else ():
        yield from _grant_if_fitting(*models, asked, f"{PACKAGED}: families")


def _grants_of_prices(asked: AskedModel) -> Iterator[CapabilityGrant]:
    price = known_models(asked.provider).price_of(asked.names[0])
    if price is not None:
        yield CapabilityGrant(price.capabilities(), f"{PACKAGED}: {price.source}, seen {price.seen}", price.seen)


# --- the catalogue ----------------------------------------------------------------------------------------------------


class Catalogue:
    """Providers, and sheets of what they and their models accept."""

    def __init__(
        self, providers: Mapping[str, Provider], sheets: Sequence[Grants], families: Sequence[Family] = ()
    ) -> None:
        self.providers = providers
        self.families = tuple(families)
        """those of all sheets, in their order"""
        self._sheets = tuple(sheets)
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
        name, model = self._split(route)
        provider = self.providers[name]
        capabilities: dict[str, Any] = {}
        for grant in self._grants(name, model):
            capabilities |= grant.capabilities
        return Target(
            dialect=provider.dialect,
            profile=provider.profile,
            provider=name,
            model=model,
            endpoint=endpoint or provider.endpoint,
            account=account,
            platform=provider.platform,
            capabilities=read_capabilities(capabilities, f"the capabilities of {route}"),
        )

    def fill(self, target: Target, environment: Mapping[str, str], *, leaves_missing: bool = False) -> Target:
        """`target` with the places of its endpoint filled from what is configured and from `environment`.

        Raises `ConfigError` for a place that nothing fills, or leaves it as it is.
        """
        known = self.providers.get(target.provider)
        if "{" not in target.endpoint or known is None:
            return target
        endpoint = fill_endpoint(
            target.endpoint,
            known.fill,
            known.given,
            environment,
            provider=target.provider,
            leaves_missing=leaves_missing,
        )
        return replace(target, endpoint=endpoint)

    def explain(self, route: str) -> list[Explained]:
        """Each capability of `route`, in their order, and where its value comes from."""
        name, model = self._split(route)
        sources: dict[str, str] = {}
        for grant in self._grants(name, model):
            sources |= dict.fromkeys(grant.capabilities, grant.source)
        known = self.resolve(route).capabilities
        return [
            Explained(field, getattr(known, field), sources.get(field, DEFAULT))
            for field in Capabilities.__struct_fields__
        ]

    def priced(self, route: str) -> str:
        """When the price of `route` was last seen; empty if a user set it, or if there is none."""
        seen = ""
        for grant in self._grants(*self._split(route)):
            if "price_input" in grant.capabilities:
                seen = grant.seen
        return seen

    def retirement(self, route: str) -> Retirement | None:
        """When the model that `route` names ends, where that is known."""
        name, model = self._split(route)
        return known_models(name).retirement_of(_bare(model))

    def _split(self, route: str) -> tuple[str, str]:
        name, slash, model = route.strip().partition("/")
        if name not in self.providers or not slash or not model:
            raise self._unknown(route, name, has_model=bool(slash and model))
        return name, model

    def _grants(self, name: str, model: str) -> Iterator[CapabilityGrant]:
        """What every sheet says of `model` at the provider `name`; what comes later goes over what came before."""
        names = tuple(dict.fromkeys((_bare(model), family_name(model))))
        asked = AskedModel(name, self.providers[name].dialect, names)
        for grants in self._sheets:
            yield from grants(asked)

    def extended(
        self,
        extra: Mapping[str, Any],
        *,
        source: str = "the user's catalogue",
        places: Mapping[str, str] | None = None,
    ) -> Catalogue:
        """This catalogue with `extra`, in the form of the packaged file, laid over it.

        A provider that is known already needs only what differs. `source` is what errors and `explain` call it;
        `places` names files more exactly, by key (`providers.NAME`, `families`).
        """
        check_tables(extra, source=source, places=places)
        known = self.providers
        own: Mapping[str, Any] = extra.get("providers", {})
        providers = {
            name: convert(provider_table(table, known.get(name)), Provider, where(f"providers.{name}", source, places))
            for name, table in own.items()
        }
        for name, provider in providers.items():
            check_places(provider, where(f"providers.{name}", source, places))
        families = [convert(table, Family, where("families", source, places)) for table in extra.get("families", ())]
        said = {name: table["capabilities"] for name, table in own.items() if "capabilities" in table}
        catalogue = self._over(providers, Sheet(source, said, families, places or {}).grants, families=families)
        for family in families:
            place = f"{where('families', source, places)}: {family.name!r}"
            for name in family.on:
                if name not in catalogue.providers:
                    told = near(name, sorted(catalogue.providers))
                    raise ConfigError(f"{place}: on: there is no provider {name!r}{told}", place=place)
        return catalogue

    def _over(self, providers: dict[str, Provider], *sheets: Grants, families: Sequence[Family] = ()) -> Catalogue:
        """This catalogue with `providers` in place of those of the same name, and with `sheets` over its own."""
        below = cast("dict[str, Provider]", self.providers)  # nothing is ever written into it
        return Catalogue(ChainMap(providers, below), [*self._sheets, *sheets], [*self.families, *families])

    def _unknown(self, route: str, name: str, *, has_model: bool) -> UnknownTarget:
        known = sorted(self.providers)
        if name in self.providers and not has_model:
            example = f"{name}/{self.providers[name].example}"
            return UnknownTarget(f"{route!r} names a provider but no model; write for example {example!r}", route=route)
        return UnknownTarget(
            f"no provider {name!r} in {route!r}, which should read provider/model{near(name, known)}", route=route
        )


def _bare(model: str) -> str:
    return model.rsplit("/", 1)[-1].lower()


@cache
def default_catalogue() -> Catalogue:
    """The packaged catalogue."""
    import tomllib  # a caller with targets of its own never reads the file
    from pathlib import Path

    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    catalogue = Catalogue(HostProviders(), [_grants_of_host]).extended(tomllib.loads(text), source=PACKAGED)
    return catalogue._over({}, _grants_of_host_models, _grants_of_prices)  # pyright: ignore[reportPrivateUsage]


def resolve(route: str | Target, catalogue: Catalogue | None = None) -> Target:
    """`route` as a target: from `catalogue`, or the packaged one."""
    return route if isinstance(route, Target) else (catalogue or default_catalogue()).resolve(route)


def with_capabilities(target: Target, **changes: Any) -> Target:
    """`target` with some capabilities changed, for what no catalogue says."""
    return replace(target, capabilities=replace(target.capabilities, **changes))
