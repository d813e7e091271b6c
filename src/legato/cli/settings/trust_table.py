"""Who may set what: the user's own file, a project's file that they trust, and one that they do not.

In:  what a project's file sets, and the settings that the user's own places give.
Out: the part of it that is used, and the part that is withheld.

The user's own file sets everything. A trusted project's file sets what is not the user's alone. Of a file that no one
trusts the author is a stranger: unasked, it may choose among what the user has set up, change how things look, ask and
deny more than the user does, and switch tools off. A setting that is not listed for it is withheld, so a new one is
withheld until someone has thought about it. A row says for which values it holds: the same setting may tighten with one
value and loosen with another. Nothing but files, the environment and flags sets anything; powers that are no settings
are in `model.trust`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from legato.cli.settings.schema import Settings
from legato.model.trust import Party
from legato.tools import Mode
from legato.tools.sandbox import SandboxMode

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


def _confines_no_less(value: Any, own: Settings) -> bool:
    modes = [*SandboxMode]
    return modes.index(SandboxMode(value)) <= modes.index(own.sandbox.mode)


def _gives_no_more(of: Callable[[Settings], int]) -> Holds:
    return lambda value, own: value > 0 and (value <= of(own) or of(own) == 0)


def _shows_no_fewer(of: Callable[[Settings], int]) -> Holds:
    return lambda value, own: value >= of(own)


_STRICTEST_FIRST = (Mode.PLAN, Mode.ASK, Mode.EDITS, Mode.NEVER)

USERS_ALONE: dict[str, str] = {
    "serve.keys": "says who may use your keys",
    "serve.origins": "says who may use your keys",
    "providers.*.token_command": "names who lends your credentials",
    "providers.*.token_file": "names who lends your credentials",
    "profiles.*.routes[].headers of a key": "would take the place of your key",
}
"""what no trust gives to a project, with what it does; `refused` finds it in a file"""

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
    # Commands that may do less. Paths to write are joined, and never fewer.
    "sandbox.mode": _confines_no_less,
    "sandbox.network": _is_off,
    "sandbox.unix_sockets": _is_off,
    "sandbox.processes": _gives_no_more(lambda own: own.sandbox.processes),
    "sandbox.memory": _gives_no_more(lambda own: own.sandbox.memory),
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


def leave_to_set(key: str, party: Party) -> str:
    """In a word, whether `party` may set `key`: for the page that prints the table."""
    if party is Party.USER:
        return "yes"
    if party not in (Party.TRUSTED, Party.UNTRUSTED) or key in USERS_ALONE:
        return "–"
    if party is Party.TRUSTED:
        return "yes"
    if key not in UNTRUSTED:
        return "–"
    return "yes" if UNTRUSTED[key] is _always else _ONLY[key]


_ONLY = {
    "model": "one of yours",
    "route": "one of yours",
    "show.lines": "no fewer",
    "show.diff_lines": "no fewer",
    "approval.mode": "no looser",
    "sandbox.mode": "no looser",
    "sandbox.network": "off",
    "sandbox.unix_sockets": "off",
    "sandbox.processes": "no more",
    "sandbox.memory": "no more",
    "tools.subagents": "off",
    "mcp.enabled": "off",
}
"""for which values an untrusted project may set what it may not set to any"""
