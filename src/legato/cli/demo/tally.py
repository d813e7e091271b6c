"""What the demonstration counts on its way."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from legato.model import ToolResponse
from legato.session import events


class Tally:
    """Counts what the turns show."""

    def __init__(self) -> None:
        self.turns = 0
        self.switches = 0
        self.failovers = 0
        self.real_results = 0
        self.closed: Counter[str] = Counter()
        """calls without a result of their own, by reason"""
        self.prefixes: Counter[str] = Counter()
        """requests that extended the one before on the same route, and why the others did not"""
        self._routes: set[str] = set()

    def take(self, event: events.Event) -> None:
        """Count what `event` tells."""
        match event:
            case events.TurnStarted():
                self.turns += 1
            case events.StepStarted():
                known = event.route in self._routes
                self._routes.add(event.route)
                self.prefixes[(event.prefix or "extended") if known else "first request"] += 1
            case events.RouteLost():
                self.failovers += 1
            case events.ToolEnded():
                self._ended(event.response)
            case _:
                pass

    def _ended(self, response: ToolResponse) -> None:
        if response.reason is None:
            self.real_results += 1
        else:
            self.closed[response.reason.value] += 1


class SeenId(Struct, frozen=True):
    """The id that one provider saw for a call."""

    route: str
    wire_id: str
