"""Which routes are well.

    WELL ──failed──▶ COOLING ──time──▶ HALF OPEN ──tried──▶ PROBING
      ▲                 ▲                  ▲                 │ │ │
      └───succeeded─────┼──────────────────┼─────────────────┘ │ │
                        └───failed (for longer)────────────────┘ │
                                           └──silence────────────┘

A route that failed rests; each failure in a row doubles the rest. When the rest is over, one request may try it while
the others keep away. That request may never report back (its user cancelled, its process died), so a probe that stays
silent expires and the next one may try: nothing can get stuck. States are values and functions of the time given; the
book below may be shared by all sessions of a process, because they suffer from the same outage.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Resting(Struct, frozen=True, forbid_unknown_fields=True):
    """How long a failed route rests, in seconds. The numbers are our choice."""

    first: float = 15.0
    """after one failure; it doubles with each failure in a row"""
    longest: float = 600.0
    """where doubling ends: outages last from minutes to hours, and one request in ten minutes is cheap"""
    hopeless: float = 900.0
    """for what time does not heal: a refused key, an empty balance, a missing model"""
    probe: float = 330.0
    """after which a silent probe has expired: a little longer than `Timeouts.first_byte`, by which it reports"""


class Condition(Struct, frozen=True, omit_defaults=True):
    """How one route is: failures in a row, until when it rests, and since when a probe is on its way."""

    failures: int = 0
    rests_until: float = 0.0
    probed_at: float | None = None


WELL = Condition()


class HealthBook:
    """The condition of every route, by name."""

    def __init__(self, resting: Resting | None = None) -> None:
        self.resting = resting or Resting()
        self._conditions: dict[str, Condition] = {}

    def condition(self, route: str) -> Condition:
        """How `route` is; a route that was never heard of is well."""
        return self._conditions.get(route, WELL)

    def admits(self, route: str, now: float) -> bool:
        """Whether a request may go there: it is well, or its rest is over and no other request is trying it."""
        condition = self.condition(route)
        if not condition.failures:
            return True
        if now < condition.rests_until:
            return False
        return condition.probed_at is None or now >= condition.probed_at + self.resting.probe

    def enter(self, route: str, now: float) -> None:
        """A request goes there. Where the route is not known to be well, it is the probe."""
        condition = self.condition(route)
        if condition.failures:
            self._conditions[route] = Condition(condition.failures, condition.rests_until, now)

    def succeeded(self, route: str) -> None:
        """It answered: it is well."""
        self._conditions.pop(route, None)

    def failed(self, route: str, now: float, *, hopeless: bool = False, at_least: float = 0.0) -> None:
        """It failed: it rests, longer each time, and at least as long as the provider asked for."""
        failures = self.condition(route).failures + 1
        doubled = self.resting.first * 2 ** min(failures - 1, 30)
        rest = self.resting.hopeless if hopeless else min(self.resting.longest, doubled)
        # However long a provider asks for: no user should have to restart a program to try again.
        self._conditions[route] = Condition(failures, now + max(rest, min(at_least, self.resting.hopeless)))

    def forget(self, route: str) -> None:
        """What was known of `route` no longer holds: its key or its balance was put right."""
        self._conditions.pop(route, None)

    def pick(self, routes: Sequence[str], now: float) -> str:
        """The first of `routes` that admits a request; where none does, the one whose rest ends first.

        So the last candidate is never ejected: a chain whose routes all failed is still asked.
        """
        for route in routes:
            if self.admits(route, now):
                return route
        return min(routes, key=lambda route: self.condition(route).rests_until)
