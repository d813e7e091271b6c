"""What a host says in words of its own, read from its declaration.

In:  the target of a request that was refused.
Out: wordings, of the same kind as those in `wordings`: for the rules that the host declares, and for its other reasons.

These are asked after the general ones, which know most hosts already, so a new host is understood without a line there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from legato.errors import (
    BadRequest,
    ContextTooLong,
    Overloaded,
    ProtocolRefused,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    Unauthorized,
)
from legato.model import Dialect, Target
from legato.transport.wordings import Wording
from legato.wire.hosting import Host, RefusalReason
from legato.wire.hosts import STRICT, find_host, host_of, own_host

_KINDS: dict[RefusalReason, tuple[type[ProviderError], str]] = {
    RefusalReason.NOT_JSON: (ProtocolRefused, "not-json"),
    RefusalReason.MODEL: (BadRequest, "model"),
    RefusalReason.KEY_MISSING: (Unauthorized, "key"),
    RefusalReason.KEY_WRONG: (Unauthorized, "key"),
    RefusalReason.QUOTA: (QuotaExhausted, "balance"),
    RefusalReason.TOO_LONG: (ContextTooLong, "window"),
    RefusalReason.RATE: (RateLimited, "rate"),
    RefusalReason.SERVER: (Overloaded, "busy"),
    RefusalReason.OVERLOADED: (Overloaded, "busy"),
}
_BLANK = re.compile(r"\{[a-z]+\}")
_SHORTEST = 8
"""fewer letters than this would be found in anything"""


def words_of_host(target: Target) -> tuple[Wording, ...]:
    """The wordings that the host behind `target` declares."""
    host = host_of(target) if target.dialect is Dialect.OPENAI_CHAT else own_host(target)
    return () if host is None else wordings_of(host.name)


@cache
def wordings_of(name: str) -> tuple[Wording, ...]:
    """The wordings that the host `name` declares."""
    return tuple(_read(find_host(name) or STRICT))


def _read(host: Host) -> Iterator[Wording]:
    for rule in host.rules:
        yield from _wording(rule.error, ProtocolRefused, f"{host.name}/{rule.id}")
    for rule_id, template in host.words.items():
        yield from _wording(template, ProtocolRefused, rule_id)
    for reason, template in host.server.says.items():
        if reason in _KINDS:
            yield from _wording(template, *_KINDS[reason])


def _wording(template: str, kind: type[ProviderError], about: str) -> Iterator[Wording]:
    """`template` as a pattern in which every blank stands for anything."""
    said = _BLANK.split(template.lower())
    if len("".join(said).strip()) >= _SHORTEST:
        yield Wording(".*?".join(map(re.escape, said)), kind, about)
