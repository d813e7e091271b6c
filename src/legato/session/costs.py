"""What it cost: tokens and dollars, for each route. A price that is not known makes a cost unknown, never zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from legato.model import Capabilities, Record, Usage
from legato.model.records import Compacted, StepBegan, StepEnded
from legato.request.prices import add, cost


class Spent(NamedTuple):
    """How much was spent at some moment: tokens, the dollars that are known, and how many answers had no price."""

    usage: Usage
    known: float
    unpriced: int


class Spending:
    """What a session has used, for each route. Subagents may be counted in it too.

    Dollars are None where the price of something is not known: a part of a sum is no sum.
    """

    def __init__(self) -> None:
        self.by_route: dict[str, tuple[Usage, float | None]] = {}
        self.known = 0.0
        """dollars for what has a price: at least this much was spent"""
        self.unpriced = 0
        """answers and summaries whose price is not known"""
        self.guessed = 0.0
        """dollars for answers of which the provider did not say what they used: for limits alone"""

    def add(self, route: str, usage: Usage, prices: Capabilities) -> float | None:
        """Count `usage` on `route`; the dollars it cost."""
        dollars = cost(usage, prices)
        self._count(route, usage, dollars)
        if dollars is None:
            self.unpriced += 1
        else:
            self.known += dollars
        return dollars

    def guess(self, usage: Usage, prices: Capabilities) -> None:
        """Count an answer whose usage is only our estimate: a limit must not depend on the provider that it limits."""
        self.guessed += cost(usage, prices) or 0.0

    @property
    def limited(self) -> float:
        """Dollars that count against a limit."""
        return self.known + self.guessed

    def include(self, other: Spending) -> None:
        """Count what a subagent spent as well."""
        self.guessed += other.guessed
        for route, (usage, dollars) in other.by_route.items():
            self._count(route, usage, dollars)
        self.known += other.known
        self.unpriced += other.unpriced

    def replay(self, log: Iterable[Record], prices: Callable[[str], Capabilities]) -> None:
        """Count what the steps and summaries in `log` used, at today's `prices` of their routes."""
        route = ""
        for record in log:
            if isinstance(record, StepBegan):
                route = record.target
            elif isinstance(record, StepEnded) and record.usage is not None:
                self.add(route, record.usage, prices(route))
            elif isinstance(record, Compacted) and record.usage is not None:
                self.add(record.by, record.usage, prices(record.by))

    def _count(self, route: str, usage: Usage, dollars: float | None) -> None:
        before, spent = self.by_route.get(route, (Usage(), 0.0))
        together = None if spent is None or dollars is None else spent + dollars
        self.by_route[route] = (add(before, usage), together)

    @property
    def usage(self) -> Usage:
        """All routes together."""
        total = Usage()
        for usage, _ in self.by_route.values():
            total = add(total, usage)
        return total

    @property
    def cost(self) -> float | None:
        """Dollars for all routes together; None if a price is not known (`known` says how much it is at least)."""
        return None if self.unpriced else self.known

    def now(self) -> Spent:
        """How much was spent up to now, to be compared with later."""
        return Spent(self.usage, self.known, self.unpriced)

    def since(self, before: Spent) -> tuple[Usage, float | None]:
        """What was used since then, and the dollars for it."""
        now = self.usage
        usage = Usage(*(getattr(now, name) - getattr(before.usage, name) for name in Usage.__struct_fields__))
        return usage, None if self.unpriced > before.unpriced else self.known - before.known
