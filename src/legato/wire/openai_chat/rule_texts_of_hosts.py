"""The rules of particular hosts, as their files in `wire.hosts` declare them, and those that strict servers share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from legato.wire.hosting import Host, HostRule
from legato.wire.hosts import all_hosts, find_host
from legato.wire.rules import WireRule, refused, risky

_STRICT = "strict/some-model"

_refused = partial(refused, route=_STRICT)
_risky = partial(risky, route=_STRICT)

STRICT_RULES = (
    # Not the server's doing but that of the model's template, which looks at neither calls nor results.
    _refused(
        "strict/roles-alternate",
        "Models with a strict template (Mistral's, Gemma, Llama 2) want user and assistant to take turns, calls and "
        "results aside, after at most one system message.",
        source=("vllm-project/vllm#6862", "suitenumerique/conversations#197", "microsoft/autogen#3597"),
        error="After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
        route="strict/mistral-7b",
    ),
    _refused(
        "strict/arguments",
        "The arguments of a call hold a JSON object, because the server parses them; `{}` where there are"
        " none. vLLM, llama.cpp, DashScope and the servers of Kimi and DeepSeek are judged so.",
        source=("QwenLM/qwen-code#606", "HKUDS/nanobot#1487", "vllm-project/vllm#43995"),
        error='The "function.arguments" parameter of the code model must be in JSON format',
    ),
    _refused(
        "strict/empty-text",
        "Servers in front of Claude get no empty string as content: it would become an empty block. Null "
        "passes next to calls.",
        source="musistudio/claude-code-router#1329",
        error="text content blocks must be non-empty",
        route="strict/claude",
    ),
    _risky(
        "strict/empty-tools",
        "`tools` is left out where there are none; vLLM and llama.cpp refuse an empty array, others take it.",
        source="vllm-project/vllm#48922",
    ),
)


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
        for host in all_hosts():
            yield from (f"{host.name}/{rule.id}" for rule in host.rules)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class WordsOfHosts(Mapping[str, str]):
    """What hosts say where a rule of the family is broken, by the host's name."""

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
