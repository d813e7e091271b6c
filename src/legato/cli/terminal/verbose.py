"""`--verbose`: what was decided for each request, and which layer is at fault where one is refused, in lines.

Most decisions stay the same from request to request, so only those are told that were not told before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from legato.session import events


class Verbose:
    """Remembers what was told."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def lines(self, event: events.Reported | events.Refused) -> Iterator[str]:
        """What to say about `event`."""
        attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
        if isinstance(event, events.Refused):
            yield f"refused: step {event.step}{attempt}, {event.route}: {event.error}: {event.message}"
            if event.fault:
                cause = f" ({event.cause})" if event.cause else ""
                yield f"· fault class: {event.fault}: {event.why}{cause}"
            if event.calls:
                yield f"· calls: {', '.join(event.calls)}"
            return
        report = event.report
        decisions = [_decision(decision) for decision in report["decisions"]]
        new = [line for line in decisions if line not in self._told]
        self._told.update(new)
        before = f", {len(decisions) - len(new)} of them as before" if len(new) < len(decisions) else ""
        told = f"calls: {len(report['emitted'])}, decisions: {len(decisions)}{before}"
        yield f"request: step {event.step}{attempt}, {event.route} as {report['format']}, {told}, digest {event.digest}"
        yield from (f"· {line}" for line in new)


def _decision(decision: Mapping[str, Any]) -> str:
    detail = f": {decision['detail']}" if decision.get("detail") else ""
    calls = f" ({', '.join(decision['calls'])})" if decision.get("calls") else ""
    return f"{decision['fault']}: {decision['action']} {decision['reason']}{detail}{calls}"
