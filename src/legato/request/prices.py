"""What tokens cost, by what the catalogue knows of a model."""

from __future__ import annotations

from legato.model import Capabilities, Usage


def add(one: Usage, other: Usage) -> Usage:
    """Both together."""
    return Usage(
        one.input + other.input,
        one.output + other.output,
        one.cache_read + other.cache_read,
        one.cache_write + other.cache_write,
        one.reasoning + other.reasoning,
    )


def cost(usage: Usage, prices: Capabilities) -> float | None:
    """Dollars for `usage`; None if something was used whose price is not known.

    A cache without a price of its own costs what fresh input costs.
    """
    fresh = max(usage.input - usage.cache_read - usage.cache_write, 0)
    plain = prices.price_input
    counted = (
        (fresh, plain),
        (usage.cache_read, plain if prices.price_cache_read is None else prices.price_cache_read),
        (usage.cache_write, plain if prices.price_cache_write is None else prices.price_cache_write),
        (usage.output, prices.price_output),
    )
    dollars = 0.0
    for count, price in counted:
        if count:
            if price is None:
                return None
            dollars += count * price
    return dollars / 1_000_000


def in_dollars(amount: float) -> str:
    """`$5`, `$0.25`, `$0.000001`: an amount that a person set, as they would write it."""
    return f"${amount:.10f}".rstrip("0").rstrip(".")
