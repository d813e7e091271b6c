"""Failures on demand: which ones there are, and who decides when they happen.

In:  the number of a request at one provider.
Out: a `InjectedFault`, or None.

A test lists the faults it wants (`Faults`), a campaign draws them (`FaultPlan`). A plan's draw depends on its seed, the
provider and the number of the request alone, never on what other providers did meanwhile, so a seed reproduces a run.
A third way is to ask the model in plain words; see `requested`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from legato.errors import ConfigError


class FaultKind(StrEnum):
    """What goes wrong."""

    RATE_LIMITED = "rate-limited"
    """429, with the time to wait"""
    SERVER_ERROR = "server-error"
    OVERLOADED = "overloaded"
    """503, or the family's own number"""
    QUOTA = "quota"
    KEY = "key"
    """401, although the key is right"""
    UNREACHABLE = "unreachable"
    """no connection, or one that closes before anything was said"""
    SLOW = "slow"
    """nothing for a while, then the answer"""
    CUT = "cut"
    """the connection breaks in the middle of the answer"""
    GARBAGE = "garbage"
    """200, and bytes that mean nothing"""
    BROKEN_ARGUMENTS = "broken-arguments"
    """the arguments of a call are no JSON"""
    TRUNCATED = "truncated"
    """the answer ends at the limit of tokens, in the middle of a call's arguments"""
    REFUSAL = "refusal"
    """the model declines"""
    EMPTY = "empty"
    """an answer with nothing in it"""


class InjectedFault(Struct, frozen=True):
    """One failure. `seconds` is the time to wait that is named or taken; `after` counts the chunks before a cut."""

    kind: FaultKind
    seconds: float = 1.0
    after: int = 2


class FaultSource(Protocol):
    """Decides which requests fail."""

    def fault(self, provider: str, number: int) -> InjectedFault | None:
        """What happens to the request with this number (from 0) at this provider."""
        ...


class Faults:
    """Faults in a row: the first for the first request, and so on; None lets one pass, and so does the end.

    With `provider`, only that provider's requests are touched.
    """

    def __init__(self, faults: Iterable[InjectedFault | FaultKind | None], *, provider: str | None = None) -> None:
        self._faults = [InjectedFault(fault) if isinstance(fault, FaultKind) else fault for fault in faults]
        self._provider = provider

    def fault(self, provider: str, number: int) -> InjectedFault | None:
        """The fault at this place of the row."""
        if self._provider not in (None, provider) or number >= len(self._faults):
            return None
        return self._faults[number]


DEFAULT_RATES: dict[FaultKind, float] = {
    FaultKind.RATE_LIMITED: 0.04,
    FaultKind.SERVER_ERROR: 0.02,
    FaultKind.OVERLOADED: 0.02,
    FaultKind.UNREACHABLE: 0.02,
    FaultKind.SLOW: 0.03,
    FaultKind.CUT: 0.03,
    FaultKind.GARBAGE: 0.01,
    FaultKind.BROKEN_ARGUMENTS: 0.02,
    FaultKind.TRUNCATED: 0.02,
    FaultKind.EMPTY: 0.01,
}
"""a bad day: every fifth request or so has trouble"""


class FaultPlan:
    """Random faults, the same for the same seed. `rates` gives the share of requests that each kind befalls."""

    def __init__(self, seed: int, rates: Mapping[FaultKind, float] | None = None) -> None:
        self.seed = seed
        self.rates = dict(DEFAULT_RATES if rates is None else rates)
        if any(rate < 0 for rate in self.rates.values()) or sum(self.rates.values()) > 1 + 1e-9:
            raise ConfigError("the rates of a fault plan are shares of all requests: none below 0, together at most 1")

    def fault(self, provider: str, number: int) -> InjectedFault | None:
        """The fault that this seed has for this request."""
        chance = random.Random(f"{self.seed}/{provider}/{number}")
        draw = chance.random()
        for kind, rate in self.rates.items():
            if draw < rate:
                return InjectedFault(kind, seconds=float(chance.randint(1, 5)), after=chance.randint(0, 6))
            draw -= rate
        return None

    def __repr__(self) -> str:
        return f"FaultPlan(seed={self.seed})"
