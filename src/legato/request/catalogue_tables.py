"""The tables of a catalogue: what may be in them, and what is said of anything else.

In:  tables as TOML gives them.
Out: providers, families and capabilities, or a `ConfigError` that names the place and the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from legato.errors import ConfigError
from legato.model import Capabilities, Dialect, Platform
from legato.request.places import Fill, is_place_name, places_in

T = TypeVar("T")


class Provider(Struct, frozen=True, forbid_unknown_fields=True):
    """One provider as the catalogue describes it. `keys` are environment variables that may hold its key; the first
    that is set counts. A provider without any, such as a server on this machine, needs none.

    An endpoint may have places, such as `{region}`: `fill` says from which environment variables each is filled, and
    `given` holds what a configuration says itself, as a field of the provider's table (`region = "eu-central-1"`).
    """

    dialect: Dialect
    profile: str
    endpoint: str
    keys: list[str] = []
    example: str = ""
    platform: Platform = Platform.OWN
    fill: dict[str, Fill] = {}
    given: dict[str, str] = {}
    token_command: str = ""
    """a command that prints what to authorise requests with, where it is lent for a while"""
    token_file: str = ""
    """a file that holds it, and that somebody else keeps up to date"""
    capabilities: dict[str, Any] = {}

    @property
    def lends_itself(self) -> bool:
        """Whether a configuration says who lends what authorises requests."""
        return bool(self.token_command or self.token_file)


def provider_table(table: Mapping[str, Any], known: Provider | None) -> dict[str, Any]:
    """`table` over what is `known` of the provider, as fields of a `Provider`: what fills a place goes to `given`."""
    base: dict[str, Any] = {} if known is None else msgspec.to_builtins(known)
    own = {name: value for name, value in table.items() if name in Provider.__struct_fields__}
    places = {name: value for name, value in table.items() if name not in own}
    return base | own | {"given": {**base.get("given", {}), **own.get("given", {}), **places}}


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """Models with something in common."""

    name: str
    match: list[str]
    capabilities: dict[str, Any]
    on: list[str] = []
    """providers that it is limited to"""
    dialects: list[Dialect] = []
    """dialects that it is limited to, whoever the provider is"""

    def is_served(self, provider: str, dialect: Dialect) -> bool:
        """Whether its capabilities are meant for a provider of that name and dialect."""
        return (not self.on and not self.dialects) or provider in self.on or dialect in self.dialects


def check_tables(extra: Mapping[str, Any], *, source: str, places: Mapping[str, str] | None = None) -> None:
    """Raise `ConfigError`, with the place and the key, for names and capabilities in `extra` that mean nothing.

    What is missing is not missed: of a provider that another place knows, a file says only what differs.
    """
    for name in extra:
        if name not in _TABLES:
            raise ConfigError(f"{source}: there is no table {name!r}{near(name, _TABLES)}", place=source)
    for name, table in extra.get("providers", {}).items():
        place = where(f"providers.{name}", source, places)
        if "/" in name or not name:
            raise ConfigError(f"{place}: a provider's name must not be empty or hold a slash", place=place)
        _check_table(table, Provider, place)
    for index, table in enumerate(extra.get("families", ())):
        _check_table(table, Family, f"{where('families', source, places)}[{index}]")


_TABLES = ("providers", "families")


def _check_table(table: Any, kind: type[Struct], place: str) -> None:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{place}: expected a table, not {table!r}", place=place)
    values = cast("Mapping[str, Any]", table)
    for name in values:
        if name not in kind.__struct_fields__ and not (kind is Provider and is_place_name(name, values)):
            is_inside = name in Capabilities.__struct_fields__
            told = f"; did you mean capabilities.{name}?" if is_inside else near(name, kind.__struct_fields__)
            raise ConfigError(f"{place}: there is no field {name!r}{told}", place=place)
    if not isinstance(values.get("capabilities", {}), Mapping):
        raise ConfigError(f"{place}.capabilities: expected a table, not {values['capabilities']!r}", place=place)
    read_capabilities(values.get("capabilities", {}), f"{place}.capabilities")


def where(key: str, source: str, places: Mapping[str, str] | None) -> str:
    """The place of `key`: in `source`, or more exactly where `places` knows it."""
    return f"{(places or {}).get(key, source)}: {key}"


def convert(table: Mapping[str, Any], kind: type[T], place: str) -> T:
    """`table` as a `kind`; raises `ConfigError` that begins with `place`."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{place}: {error}", place=place) from None


def read_capabilities(values: Mapping[str, Any], place: str) -> Capabilities:
    """`values` as capabilities; raises `ConfigError` that begins with `place` for one that means nothing."""
    for name in values:
        if name not in Capabilities.__struct_fields__:
            known = list(Capabilities.__struct_fields__)
            raise ConfigError(f"{place}: there is no capability {name!r}{near(name, known)}", place=place)
    try:
        capabilities = msgspec.convert(values, Capabilities)
    except msgspec.ValidationError as error:
        told, _, path = str(error).partition(" - at `$.")
        raise ConfigError(f"{place}.{path.rstrip('`')}: {told[:1].lower()}{told[1:]}", place=place) from None
    for name, least in _LEAST.items():
        value = getattr(capabilities, name)
        if value is not None and not value >= least:
            raise ConfigError(f"{place}.{name}: {value} is not possible; it has to be at least {least}", place=place)
    return capabilities


def check_places(provider: Provider, place: str) -> None:
    """Raise `ConfigError` for a value that fills no place of the provider's endpoint."""
    known = places_in(provider.endpoint, provider.fill)
    for name in provider.given:
        if name not in known:
            told = near(name, [*known, *Provider.__struct_fields__])
            raise ConfigError(
                f"{place}: there is no field {name!r}, and the endpoint has no such place{told}", place=place
            )


_LEAST = {
    "window": 1,
    "max_output": 1,
    "max_calls": 1,
    **dict.fromkeys(("price_input", "price_output", "price_cache_read", "price_cache_write"), 0),
}


def near(name: str, known: Sequence[str]) -> str:
    """The end of a sentence about a `name` that is not known: what may be meant, or what there is."""
    from difflib import get_close_matches  # rarely needed, and slow to load

    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
