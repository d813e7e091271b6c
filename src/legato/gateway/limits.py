"""How much may be asked: of a gateway as a whole, and with each of its keys.

In:  who asks, when a request begins, and when it is done, with the tokens that it took.
Out: nothing, or `TurnedAway` with the time after which to ask again; the client is told in its own words.

What a request takes is known when it is done, so one that began under a limit of tokens is answered to its end, even if
it goes past it. Counts are in memory: they begin anew with the process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from legato.gateway.operator_settings import TrafficLimits
from legato.gateway.refusals import TurnedAway
from legato.wire.hosting import RefusalReason

_SLOTS = 60
"""parts of the time over which is counted: our choice, so that a minute is known to the second and a day to 24 minutes,
while a key takes no more memory the more it is used"""

_MINUTE, _DAY = 60.0, 86_400.0


class Meter:
    """Counts what is asked. `tenants` are limits by the name of a key; `overall` holds for all of them together."""

    def __init__(
        self,
        overall: TrafficLimits | None = None,
        *,
        tenants: Mapping[str, TrafficLimits] | None = None,
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._overall = _Account("the gateway", overall or TrafficLimits())
        self._tenants = {name: _Account(f"the key of {name}", limits) for name, limits in (tenants or {}).items()}

    def begin(self, tenant: str) -> None:
        """Count a request of `tenant` that begins; raises `TurnedAway` if it has to wait, and then counts nothing."""
        now, accounts = self._clock(), list(self._accounts(tenant))
        for account in accounts:
            account.check(now)
        for account in accounts:
            account.begin(now)

    def end(self, tenant: str, tokens: int) -> None:
        """The request is done, and took so many tokens."""
        now = self._clock()
        for account in self._accounts(tenant):
            account.end(now, tokens)

    def _accounts(self, tenant: str) -> Iterator[_Account]:
        if tenant in self._tenants:
            yield self._tenants[tenant]
        yield self._overall


class _Account:
    """What one key, or all of them together, have asked."""

    def __init__(self, whose: str, limits: TrafficLimits) -> None:
        self._whose = whose
        self._concurrent = limits.concurrent
        self._running = 0
        self._requests = _windows((limits.requests_per_minute, "requests per minute", _MINUTE))
        self._tokens = _windows(
            (limits.tokens_per_minute, "tokens per minute", _MINUTE), (limits.tokens_per_day, "tokens per day", _DAY)
        )

    def check(self, now: float) -> None:
        if self._concurrent is not None and self._running >= self._concurrent:
            raise self._too_much(f"{self._concurrent:,} requests at the same time", 1)
        for window in (*self._requests, *self._tokens):
            wait = window.wait(now)
            if wait > 0:
                raise self._too_much(f"{window.most:,} {window.what}", wait)

    def begin(self, now: float) -> None:
        self._running += 1
        for window in self._requests:
            window.add(now, 1)

    def end(self, now: float, tokens: int) -> None:
        self._running -= 1
        for window in self._tokens:
            window.add(now, tokens)

    def _too_much(self, limit: str, wait: float) -> TurnedAway:
        # Codex reads the wait from these words: "try again in 20s".
        message = f"{self._whose} is limited to {limit}. Please try again in {math.ceil(wait)}s."
        return TurnedAway(message, reason=RefusalReason.RATE, retry_after=wait)


class _Window:
    """How much there was in the last `length` seconds, of which `most` is allowed."""

    def __init__(self, most: int, what: str, length: float) -> None:
        self.most = most
        self.what = what
        self._slot = length / _SLOTS
        self._counts: dict[int, int] = {}
        """by the number of a slot, the oldest first"""

    def add(self, now: float, amount: int) -> None:
        slot = int(now // self._slot)
        self._counts[slot] = self._counts.get(slot, 0) + amount

    def wait(self, now: float) -> float:
        """Seconds until there is room; 0 if there is."""
        oldest = int(now // self._slot) - _SLOTS
        for slot in [slot for slot in self._counts if slot < oldest]:
            del self._counts[slot]
        left = sum(self._counts.values())
        until = now
        for slot, count in self._counts.items():
            if left < self.most:
                break
            left -= count
            until = (slot + _SLOTS + 1) * self._slot  # when the whole slot is too old to count
        return until - now


def _windows(*limits: tuple[int | None, str, float]) -> list[_Window]:
    return [_Window(most, what, length) for most, what, length in limits if most is not None]
