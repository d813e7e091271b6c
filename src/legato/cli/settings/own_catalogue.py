"""The packaged catalogue with what the settings add: providers and families of models of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from legato.cli.settings.schema import Settings
from legato.errors import ConfigError, UnknownTarget
from legato.request import Catalogue, default_catalogue
from legato.request.catalogue_tables import near
from legato.session.compaction.settings import CURRENT


def catalogue_of(settings: Settings, origins: Mapping[str, str] | None = None) -> Catalogue:
    """The catalogue; `origins` says which file sets what, for errors."""
    extra: dict[str, Any] = {"providers": settings.providers, "families": list(settings.families)}
    if not any(extra.values()):
        return default_catalogue()
    return default_catalogue().extended(extra, source="the settings", places=origins)


def check_names(settings: Settings, origins: Mapping[str, str]) -> None:
    """Raise `ConfigError`, with its file, for a key, an endpoint or a route of a provider that does not exist."""
    catalogue = catalogue_of(settings, origins)
    if (route := settings.history.summarization_model) not in (None, CURRENT):
        try:
            catalogue.resolve(route)
        except UnknownTarget as error:
            place = origins.get("history.summarization_model", "the settings")
            raise ConfigError(f"{place}: history.summarization_model: {error.message}", place=place) from None
    providers = catalogue.providers
    for table, named in (("keys", settings.keys), ("endpoints", settings.endpoints)):
        for name in named:
            if name not in providers:
                place = origins.get(f"{table}.{name}", "the settings")
                told = f"there is no provider {name!r}{near(name, sorted(providers))}"
                raise ConfigError(f"{place}: {table}.{name}: {told}", place=place)
