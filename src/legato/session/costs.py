"""What it cost: tokens and dollars, for each route."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from legato.model import Capabilities, Record, Usage
from legato.model.records import Compacted, StepBegan, StepEnded


def add(one: Usage, other: Usage) -> Usage:
    """Both together."""
    return Usage(
        one.input + other.input,
        one.output + other.output,
        one.cache_read + other.cache_read,
        one.cache_write + other.cache_write,
        one.reasoning + other.reasoning,
    )


def cost(usage: Usage, prices: Capabilities) -> float:
    """Dollars for `usage`. A cache without a price of its own costs what fresh input costs."""
    fresh = max(usage.input - usage.cache_read - usage.cache_write, 0)
    read = prices.price_cache_read or prices.price_input
    write = prices.price_cache_write or prices.price_input
    return (
        fresh * prices.price_input
        + usage.cache_read * read
        + usage.cache_write * write
        + usage.output * prices.price_output
    ) / 1_000_000


class Spending:
    """What a session has used, for each route. Subagents may be counted in it too."""

    def __init__(self) -> None:
        self.by_route: dict[str, tuple[Usage, float]] = {}

    def add(self, route: str, usage: Usage, prices: Capabilities) -> float:
        """Count `usage` on `route`; the dollars it cost."""
        dollars = cost(usage, prices)
        self._count(route, usage, dollars)
        return dollars

    def include(self, other: Spending) -> None:
        """Count what a subagent spent as well."""
        for route, (usage, dollars) in other.by_route.items():
            self._count(route, usage, dollars)

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

    def _count(self, route: str, usage: Usage, dollars: float) -> None:
        before, spent = self.by_route.get(route, (Usage(), 0.0))
        self.by_route[route] = (add(before, usage), spent + dollars)

    @property
    def usage(self) -> Usage:
        """All routes together."""
        total = Usage()
        for usage, _ in self.by_route.values():
            total = add(total, usage)
        return total

    def since(self, before: Usage) -> Usage:
        """What was used since it was `before`."""
        now = self.usage
        return Usage(*(getattr(now, name) - getattr(before, name) for name in Usage.__struct_fields__))

    @property
    def cost(self) -> float:
        """Dollars for all routes together."""
        return sum(dollars for _, dollars in self.by_route.values())
