"""How far one message may go."""

from __future__ import annotations

from math import isnan

from msgspec import Struct

from legato.errors import ConfigError
from legato.model import Capabilities
from legato.request.prices import in_dollars


class Limits(Struct, frozen=True):
    """How far one message may go: requests for it, and dollars for the whole session, as far as prices are known."""

    max_turns: int | None = None
    max_cost: float | None = None
    parallel: int = 8
    """tools that run at once"""
    grace: float = 3.0
    """seconds that a tool has to stop when it is told to"""

    def __post_init__(self) -> None:
        if self.max_cost is not None and isnan(self.max_cost):  # no sum reaches it
            raise ConfigError(f"max_cost is {self.max_cost}; it has to be a number of dollars")

    def exceeded(self, steps: int, dollars: float) -> str:
        """What forbids another request after so many `steps` and `dollars`, in words; empty if nothing does."""
        if self.max_turns is not None and steps >= self.max_turns:
            return f"the limit of {self.max_turns} requests for one message is reached"
        if self.max_cost is not None and dollars >= self.max_cost:
            return f"the limit of {in_dollars(self.max_cost)} is reached"
        return ""

    def unkept(self, route: str, prices: Capabilities) -> str:
        """Why the limit of dollars cannot be kept on `route`, in words; empty if it can, or if there is none."""
        if self.max_cost is None or None not in (prices.price_input, prices.price_output):
            return ""
        return (
            f"the limit of {in_dollars(self.max_cost)} cannot be kept: the price of {route} is not known; set "
            "price_input and price_output for it in the settings, or leave the limit out"
        )
