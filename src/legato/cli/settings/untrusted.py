"""What a project's file may set before its user has trusted it: this table, and nothing besides.

In:  what a project's file sets, and the settings that the user's own places give.
Out: the part of it that is used, and the part that is withheld.

Whoever wrote the project wrote the file. Unasked, it may choose among what the user has set up, change how things look,
ask and deny more than the user does, and switch tools off. A setting that is not listed here is withheld, so a new one
is withheld until someone has thought about it. A row says for which values it holds: the same setting may tighten with
one value and loosen with another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from legato.cli.settings.schema import Settings
from legato.tools import Mode

Holds = Callable[[Any, Settings], bool]
"""whether an untrusted file may set this value, where the user's own places give these settings"""


def _always(_value: Any, _own: Settings) -> bool:
    return True


def _is_off(value: Any, _own: Settings) -> bool:
    return value is False


def _is_own_route(value: Any, own: Settings) -> bool:
    return value == own.model or value in _routes(own)


def _is_own_profile(value: Any, own: Settings) -> bool:
    return value in own.profiles


def _is_no_looser(value: Any, own: Settings) -> bool:
    return _STRICTEST_FIRST.index(Mode(value)) <= _STRICTEST_FIRST.index(own.approval.mode)


def _shows_no_fewer(of: Callable[[Settings], int]) -> Holds:
    return lambda value, own: value >= of(own)


_STRICTEST_FIRST = (Mode.PLAN, Mode.ASK, Mode.EDITS, Mode.NEVER)

UNTRUSTED: dict[str, Holds] = {
    # Who answers, among those that the user has named.
    "model": _is_own_route,
    "route": _is_own_profile,
    # How it looks. Less must not be shown: what a tool did could be folded away.
    "color": _always,
    "show.thinking": _always,
    "show.lines": _shows_no_fewer(lambda own: own.show.lines),
    "show.diff_lines": _shows_no_fewer(lambda own: own.show.diff_lines),
    # What is asked or denied. These lists are joined to the user's own and take nothing away.
    "approval.mode": _is_no_looser,
    "approval.ask": _always,
    "approval.deny": _always,
    # Tools switched off.
    "tools.disabled": _always,
    "tools.subagents": _is_off,
    "mcp.enabled": _is_off,
}


def split_untrusted(values: Mapping[str, Any], own: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of `values` is used although no one trusts the file, and what is withheld."""
    used = {key: value for key, value in values.items() if key in UNTRUSTED and UNTRUSTED[key](value, own)}
    return used, {key: value for key, value in values.items() if key not in used}


def _routes(own: Settings) -> Iterator[Any]:
    """The routes of the user's own profiles, as they are written."""
    for profile in own.profiles.values():
        for route in cast("list[Any]", profile.get("routes") or []):
            yield cast("dict[str, Any]", route).get("route", "") if isinstance(route, dict) else route
