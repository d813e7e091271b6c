"""The open tool loop: where it begins, found by looking only at units that are new.

A loop begins with an answer that calls tools and goes on as long as the human message after each answer holds results.
What is beside the results does not end it: a person who writes before the model has answered them speaks inside the
loop, because what they said and the results are one message to the provider. An answer without calls ends it. It is
open if the conversation ends in such a human message.

Providers that check thoughts check them there. That words beside results do not begin a new turn is not documented;
clients that took them for one were refused (Kilo-Org/kilocode#5219, router-for-me/CLIProxyAPI#702,
anthropics/claude-code#1179).
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.transcript.units import Exchange, Unit
from legato.wire.context import End


class OpenLoop:
    """Finds the exchange that began the tool loop in which a conversation ends."""

    def __init__(self) -> None:
        self._count = 0
        self._first: int | None = None
        """where the loop began that is open after the units so far"""

    def find(self, units: Sequence[Unit | None], ends: Sequence[End]) -> int | None:
        """The place of the loop's first exchange, if one is open; `ends` are how the units ended in print."""
        for place in range(self._count, len(units)):
            unit = units[place]
            if type(unit) is Exchange and unit.completions:
                self._first = place if self._first is None else self._first
            elif ends[place] is End.ANSWER:  # a unit of which nothing is printed ends as the one before it
                self._first = None
        self._count = len(units)
        return self._first

    def cut(self, count: int) -> None:
        """The units from number `count` on are gone, or others now."""
        if self._first is not None and self._first < count:
            self._count = min(self._count, count)
        else:
            self._count, self._first = 0, None
