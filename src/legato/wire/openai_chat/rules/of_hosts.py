"""The rules of particular hosts, as their files in `wire.hosts` declare them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from legato.model import Dialect
from legato.wire.hosting import Host, HostRule
from legato.wire.hosts import find_host, hosts_speaking
from legato.wire.rules import WireRule, refused, risky


class RulesWithHosts(Mapping[str, WireRule]):
    """The rules of the family, and those of every host, which is loaded when one of them is asked for."""

    def __init__(self, family: Mapping[str, WireRule]) -> None:
        self._family = family

    def __getitem__(self, rule: str) -> WireRule:
        if rule in self._family:
            return self._family[rule]
        name, _, own = rule.partition("/")
        host = find_host(name)
        for declared in host.rules if host is not None else ():
            if host is not None and declared.id == own:
                return _rule(host, declared)
        raise KeyError(rule)

    def __iter__(self) -> Iterator[str]:
        yield from self._family
        for host in hosts_speaking(Dialect.OPENAI_CHAT):
            yield from (f"{host.name}/{rule.id}" for rule in host.rules)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _rule(host: Host, declared: HostRule) -> WireRule:
    declare = risky if declared.is_risky else refused
    return declare(
        f"{host.name}/{declared.id}",
        declared.says,
        source=declared.sources,
        error=declared.error,
        code=declared.code,
        route=host.route_of(declared),
    )
