"""What is known of single models at one provider: their names, what they cost, and when they end.

Prices and ends are copied from what a provider publishes, so each says where it is; a price also says when it was
last seen there, because prices change and no one tells us. What could not be found with its source is left out: a
price that is not known is shown as unknown, never as nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from msgspec import Struct


class Price(NamedTuple):
    """Dollars for a million tokens of the models that fit `match`. Of several that fit, the first counts."""

    match: tuple[str, ...]
    seen: str
    """when it was last seen: a day, or a month where no day is known (`2026-10-27`, `2026-06`)"""
    source: str
    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def capabilities(self) -> Mapping[str, float]:
        """The same in the words of `legato.model.Capabilities`."""
        prices = {
            "price_input": self.input,
            "price_output": self.output,
            "price_cache_read": self.cache_read,
            "price_cache_write": self.cache_write,
        }
        return {name: value for name, value in prices.items() if value is not None}


class Retirement(NamedTuple):
    """The end of the models that fit `match`. Of several that fit, the first counts."""

    match: tuple[str, ...]
    source: str
    retires: str
    """the day from which on requests fail, or the month"""
    deprecated: str = ""
    """the day on which the end was announced, where it is known"""
    instead: str = ""
    """what its provider recommends in its place"""

    def is_over(self, today: str) -> bool:
        """Whether the end has come on the day `today`, such as `2026-11-16`."""
        return self.retires <= today[: len(self.retires)]

    def told(self, today: str) -> str:
        """The end in words: when, and what to use instead."""
        instead = f"; use {self.instead}" if self.instead else ""
        return f"{'ended' if self.is_over(today) else 'ends'} {self.retires}{instead}"


class KnownModels(Struct, frozen=True, kw_only=True):
    """The models that a provider is known to serve; it may serve others as well."""

    names: tuple[str, ...] = ()
    prices: tuple[Price, ...] = ()
    retirements: tuple[Retirement, ...] = ()

    def price_of(self, model: str) -> Price | None:
        """What `model` costs, by its name in lower case."""
        return next((price for price in self.prices if _fits(model, price.match)), None)

    def retirement_of(self, model: str) -> Retirement | None:
        """When `model` ends, by its name in lower case; None if nothing is known about that."""
        return next((end for end in self.retirements if _fits(model, end.match)), None)


def _fits(model: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in patterns)
