"""Endpoints with places to fill in: a region, a project, the name of a resource.

In:  an endpoint such as `https://bedrock-runtime.{region}.amazonaws.com`, how its places are filled, an environment.
Out: the endpoint without places; or a `ConfigError` that names the variables and the setting that are missing.

What a configuration says goes before the environment, and the environment before a default. A value may hold only what
stays inside its part of a URL. Where a variable holds the URL of a host, as some vendors' do, the host is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from legato.errors import ConfigError

_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*")


class Fill(Struct, frozen=True, forbid_unknown_fields=True):
    """How one place is filled: by the first of `variables` that is set, or else by `default`.

    A default may have places of its own. Where `by` names another place, `values` says what its value makes of this
    one, and the default is for all other values.
    """

    variables: list[str] = []
    default: str = ""
    by: str = ""
    values: dict[str, str] = {}


def places_in(endpoint: str, fill: Mapping[str, Fill]) -> list[str]:
    """The names of all places of `endpoint`, and of those that fill them."""
    found: list[str] = []
    waiting = _PLACE.findall(endpoint)
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            how = fill.get(name, Fill())
            waiting += [*_PLACE.findall(how.default), *([how.by] if how.by else [])]
    return found


def is_place_name(name: str, table: Mapping[str, object]) -> bool:
    """Whether `table`, a provider's, may hold `name` as a value for a place; which places there are is seen later."""
    return bool(_PLACE.fullmatch(f"{{{name}}}")) and isinstance(table[name], str)


def fill_endpoint(
    endpoint: str,
    fill: Mapping[str, Fill],
    given: Mapping[str, str],
    environment: Mapping[str, str],
    *,
    provider: str,
    leaves_missing: bool = False,
) -> str:
    """`endpoint` with every place filled; raises `ConfigError` for one that nothing fills, or leaves it as it is."""

    def put(match: re.Match[str]) -> str:
        try:
            return filling.checked(match[1])
        except _MissingPlace:
            if leaves_missing:
                return match[0]
            raise

    filling = _Filling(fill, given, environment, provider)
    return _PLACE.sub(put, endpoint)


def fill_place(
    name: str, fill: Mapping[str, Fill], given: Mapping[str, str], environment: Mapping[str, str], *, provider: str
) -> str:
    """What fills the place `name`; raises `ConfigError` if nothing does."""
    return _Filling(fill, given, environment, provider).value(name)


def is_filled_from(template: str, endpoint: str, fill: Mapping[str, Fill]) -> bool:
    """Whether `endpoint` may have come from `template`: the provider's own, whatever its places were filled with."""
    return bool(re.fullmatch(_pattern(template, fill), endpoint.rstrip("/")))


def _pattern(template: str, fill: Mapping[str, Fill]) -> str:
    """An expression for what `template` may become; a place whose default names hosts stands for those alone."""
    parts = _PLACE.split(template.rstrip("/"))
    pattern = re.escape(parts[0])
    for name, behind in zip(parts[1::2], parts[2::2], strict=True):
        how = fill.get(name, Fill())
        fixed = [how.default, *how.values.values()] if "{" in how.default else []
        inside = "|".join(_pattern(one, fill) for one in fixed) if fixed else r"[A-Za-z0-9._~-]+"
        pattern += f"(?:{inside}){re.escape(behind)}"
    return pattern


class _MissingPlace(ConfigError):
    pass


class _Filling:
    """One endpoint on its way; it knows which places are being filled, so that none is filled with itself."""

    def __init__(
        self, fill: Mapping[str, Fill], given: Mapping[str, str], environment: Mapping[str, str], provider: str
    ) -> None:
        self._fill = fill
        self._given = given
        self._environment = environment
        self._provider = provider
        self._open: list[str] = []

    def checked(self, name: str) -> str:
        """What fills the place `name`, if it can be part of a URL."""
        value = self.value(name)
        if _VALUE.fullmatch(value):
            return value
        raise ConfigError(
            f"the {name.replace('_', ' ')} for the endpoint of {self._provider} is {value!r}; only letters, digits, "
            "'.', '_', '~' and '-' can be part of an endpoint. Another address is given under [endpoints]",
            provider=self._provider,
        )

    def value(self, name: str) -> str:
        """What fills the place `name`: of a URL, its host."""
        how = self._fill.get(name, Fill())
        found = (self._given.get(name, ""), *(self._environment.get(variable, "") for variable in how.variables))
        value = next((one.strip() for one in found if one.strip()), "")
        if value:
            return value.removeprefix("https://").rstrip("/")
        if name in self._open or not how.default:
            raise _MissingPlace(missing_place(name, how, self._provider), provider=self._provider)
        self._open.append(name)
        template = how.values.get(self.value(how.by), how.default) if how.by else how.default
        filled = _PLACE.sub(lambda match: self.checked(match[1]), template)
        self._open.pop()
        return filled


def missing_place(name: str, how: Fill, provider: str) -> str:
    """What to say of a place that nothing fills."""
    ways = [f"set {' or '.join(how.variables)}"] if how.variables else []
    ways.append(f'write {name} = "..." under [providers.{provider}] in the configuration')
    return f"the endpoint of {provider} needs a {name.replace('_', ' ')}: {', or '.join(ways)}"
