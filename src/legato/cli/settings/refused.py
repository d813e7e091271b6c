"""What a settings file may not set, trusted or not.

`options.extra` holds fields that no option covers; what a request already says cannot be said again there. And the
header that carries a key is the user's: a project's file, even one that they trust, cannot replace it in a route, which
would send the conversation to another account. The user's own file can, for a gateway that wants its own token. Nor can
a project name a command that lends credentials, which would run with the user's rights before any question, or a file,
whose content would be sent; nor may it say who uses the user's gateway, and with it their keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from legato.cli.settings.trust_table import USERS_ALONE
from legato.transport import KEY_HEADERS
from legato.wire.owned import owned_in

_KEY_HEADER = USERS_ALONE["profiles.*.routes[].headers of a key"]


def refusal(key: str, value: Any, *, by_project: bool) -> str:
    """Why a file may not set `key` to `value`; empty if it may."""
    if key.startswith("options.extra."):
        name = key.removeprefix("options.extra.")
        told = owned_in({name: value})
        return f"options.extra.{told}" if told else ""
    if key.startswith("profiles."):
        return next(_refused_in_profile(key, value, by_project), "")
    if by_project and (whole := USERS_ALONE.get(key) or USERS_ALONE.get(key.rpartition(".")[0])):
        return f"{key} {whole}; only your own settings may do that: move it there"
    if by_project and key.startswith("providers."):
        for name in _table(value):
            if part := USERS_ALONE.get(f"providers.*.{name}"):
                return f"{key}.{name} {part}; only your own settings may: move it there"
    return ""


def _refused_in_profile(key: str, profile: Any, by_project: bool) -> Iterator[str]:
    for index, route in enumerate(_list(_table(profile).get("routes"))):
        place = f"{key}.routes[{index}]"
        if told := owned_in(_table(_table(_table(route).get("options")).get("extra"))):
            yield f"{place}.options.extra.{told}"
        for name in _table(_table(route).get("headers")):
            if by_project and name.strip().lower() in KEY_HEADERS:
                yield (
                    f"{place}.headers.{name} {_KEY_HEADER}; only your own settings may do that: "
                    "remove it here, or move the profile there"
                )


def _table(value: Any) -> dict[str, Any]:
    """`value` if it is a table: what is not is complained about where profiles are read."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
