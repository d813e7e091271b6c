"""The packaged catalogue with what the settings add: providers and families of models of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from legato.cli.settings.schema import Settings
from legato.errors import ConfigError
from legato.request import Catalogue, default_catalogue
from legato.request.catalogue_tables import near


def catalogue_of(settings: Settings, origins: Mapping[str, str] | None = None) -> Catalogue:
    """The catalogue; `origins` says which file sets what, for errors."""
    extra: dict[str, Any] = {"providers": settings.providers, "families": list(settings.families)}
    if not any(extra.values()):
        return default_catalogue()
    return default_catalogue().extended(extra, source="the settings", places=origins)


def check_names(settings: Settings, origins: Mapping[str, str]) -> None:
    """Raise `ConfigError`, with its file, for what is said of providers that do not exist: a key, an endpoint."""
    providers = catalogue_of(settings, origins).providers
    for table, named in (("keys", settings.keys), ("endpoints", settings.endpoints)):
        for name in named:
            if name not in providers:
                place = origins.get(f"{table}.{name}", "the settings")
                told = f"there is no provider {name!r}{near(name, sorted(providers))}"
                raise ConfigError(f"{place}: {table}.{name}: {told}", place=place)
