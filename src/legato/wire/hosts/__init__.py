"""The hosts that Legato knows: one file each, found by its name, loaded when it is first asked for.

To add one, write `wire/hosts/NAME.py` with a `HOST` and nothing else changes; `docs/adding.md` walks through it. The
module is named after the host, with underscores for hyphens.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from legato.model import Dialect, Target
from legato.wire.hosting import Host

STRICT = Host(name="strict", title="other chat servers", endpoint="", example="any")
"""a server of which nothing is known but that it speaks Chat Completions"""


@cache
def find_host(name: str) -> Host | None:
    """The host called `name`; None if there is no such file."""
    module = name.replace("-", "_")
    if not module.isidentifier() or module.startswith("_"):
        return None
    path = f"{__name__}.{module}"
    try:
        host: Host = import_module(path).HOST
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None
    return host if host.name == name else None


def host_of(target: Target) -> Host:
    """The chat host behind `target`; the strict one where none is known, and where it is asked for in place of one."""
    host = own_host(target)
    if host is None or (target.profile == STRICT.profile and host.profile != STRICT.profile):
        return STRICT
    return host


def own_host(target: Target) -> Host | None:
    """The host behind `target`, if one of its dialect is declared."""
    host = find_host(target.server)
    return host if host is not None and host.dialect is target.dialect else None


@cache
def host_names() -> tuple[str, ...]:
    """The names of all hosts, in order; the import system is asked which modules there are."""
    from pkgutil import iter_modules  # a caller that names a host needs no list of them

    return tuple(sorted(module.name.replace("_", "-") for module in iter_modules(__path__)))


def all_hosts() -> list[Host]:
    """Every host, in the order of their names."""
    return [host for name in host_names() if (host := find_host(name)) is not None]


def hosts_speaking(dialect: Dialect) -> list[Host]:
    """Every host of `dialect`, in the order of their names."""
    return [host for host in all_hosts() if host.dialect is dialect]
