"""Failures that are asked for in plain words.

    fail with 429                fail once with 429 after 7 seconds      fail with 500 on anthropic
    fail with 401, 402, 503, 529                                         be unreachable, refuse the connection
    be slow, be slow for 20 seconds                                      cut the stream, cut the stream after 3 chunks
    send garbage                 write broken arguments                  run out of tokens
    refuse to answer             say nothing

Each may be followed by `once`, `twice` or `3 times`, and by `on` and a provider's name; without them it happens at
every provider, every time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from legato.simulation.faults.plan import FaultKind, InjectedFault


class RequestedFault(Struct, frozen=True):
    """A failure that was asked for. `times` limits how often it happens, `provider` where."""

    fault: InjectedFault
    times: int | None = None
    provider: str | None = None


_STATUSES: dict[str, FaultKind] = {
    "401": FaultKind.KEY,
    "402": FaultKind.QUOTA,
    "429": FaultKind.RATE_LIMITED,
    "500": FaultKind.SERVER_ERROR,
    "502": FaultKind.SERVER_ERROR,
    "503": FaultKind.OVERLOADED,
    "529": FaultKind.OVERLOADED,
}
_COUNT = r"(?:once|twice|\d{1,3} times)"
_PHRASES: tuple[tuple[str, FaultKind | None], ...] = (
    (rf"fail(?: (?P<often>{_COUNT}))? with (?:an? )?(?P<status>{'|'.join(_STATUSES)})", None),
    (r"(?:be|answer) slow(?:ly)?", FaultKind.SLOW),
    (r"(?:cut the stream|break off)", FaultKind.CUT),
    (r"send garbage", FaultKind.GARBAGE),
    (r"write (?:broken|invalid) (?:arguments|json)", FaultKind.BROKEN_ARGUMENTS),
    (r"(?:run out of tokens|stop at max(?:imum)? tokens)", FaultKind.TRUNCATED),
    (r"(?:be unreachable|refuse the connection)", FaultKind.UNREACHABLE),
    (r"refuse to (?:answer|help)", FaultKind.REFUSAL),
    (r"(?:say|answer) nothing", FaultKind.EMPTY),
)
_MORE = (
    r"(?: (?:after|for) (?P<amount>\d+(?:\.\d+)?) (?P<unit>seconds?|chunks?|s\b))?"
    rf"(?: (?P<count>{_COUNT}))?(?: on (?P<provider>[a-z0-9-]+))?"
)
_ASKED = [(re.compile(rf"\b{phrase}{_MORE}", re.IGNORECASE), kind) for phrase, kind in _PHRASES]


def read_requested_faults(words: str) -> Iterator[RequestedFault]:
    """The failures that `words` ask for."""
    for pattern, kind in _ASKED:
        for found in pattern.finditer(words):
            parts = found.groupdict()
            fault = InjectedFault(kind or _STATUSES[parts["status"]])
            if parts["amount"] and parts["unit"].startswith("chunk"):
                fault = InjectedFault(fault.kind, after=int(float(parts["amount"])))
            elif parts["amount"]:
                fault = InjectedFault(fault.kind, seconds=float(parts["amount"]))
            count = parts["count"] or parts.get("often") or ""
            yield RequestedFault(fault, _times(count), parts["provider"] and parts["provider"].lower())


def _times(count: str) -> int | None:
    match count.lower():
        case "":
            return None
        case "once":
            return 1
        case "twice":
            return 2
        case number:
            return int(number.split()[0])
