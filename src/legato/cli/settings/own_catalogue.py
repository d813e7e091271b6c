"""The packaged catalogue with what the settings add: providers and families of models of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from legato.cli.settings.schema import Settings
from legato.request import Catalogue, default_catalogue


def catalogue_of(settings: Settings, origins: Mapping[str, str] | None = None) -> Catalogue:
    """The catalogue; `origins` says which file sets what, for errors."""
    extra: dict[str, Any] = {"providers": settings.providers, "families": list(settings.families)}
    if not any(extra.values()):
        return default_catalogue()
    return default_catalogue().extended(extra, source="the settings", places=origins)
