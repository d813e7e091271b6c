"""What particular hosts say where a rule of their dialect is broken.

In:  the id of a rule.
Out: templates by the names of hosts, each loaded when its words are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from legato.wire.hosts import all_hosts, find_host
from legato.wire.rules import WireRule


class WordsOfHosts(Mapping[str, str]):
    """What hosts say where one rule is broken, by the host's name."""

    def __init__(self, rule: str) -> None:
        self._rule = rule

    def __getitem__(self, name: str) -> str:
        host = find_host(name)
        if host is None:
            raise KeyError(name)
        return host.words[self._rule]

    def __iter__(self) -> Iterator[str]:
        return (host.name for host in all_hosts() if self._rule in host.words)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def with_words(rules: Mapping[str, WireRule]) -> dict[str, WireRule]:
    """`rules` with what particular hosts say where one is broken."""
    return {name: replace(rule, errors=WordsOfHosts(name)) for name, rule in rules.items()}
