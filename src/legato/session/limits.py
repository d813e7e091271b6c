"""How far one message may go."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """How far one message may go: requests for it, and dollars for the whole session, as far as prices are known."""

    max_turns: int | None = None
    max_cost: float | None = None
    parallel: int = 8
    """tools that run at once"""
    grace: float = 3.0
    """seconds that a tool has to stop when it is told to"""

    def exceeded(self, steps: int, dollars: float) -> str:
        """What forbids another request after so many `steps` and `dollars`, in words; empty if nothing does."""
        if self.max_turns is not None and steps >= self.max_turns:
            return f"the limit of {self.max_turns} requests for one message is reached"
        if self.max_cost is not None and dollars >= self.max_cost:
            return f"the limit of ${self.max_cost:g} is reached"
        return ""
