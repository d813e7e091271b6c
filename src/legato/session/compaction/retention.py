"""How firmly each unit stays in the view when room has to be made.

    FREE     old enough to be covered
    SPARED   holds one of the newest calls, or is the newest message of a person
    OPEN     holds a call without a completion, which may still come
    FIXED    holds a call in flight or a question that waits for its answer, or is the last unit of all

An old call without an answer keeps only its own unit; older and newer units can be covered around it.
"""

from __future__ import annotations

from enum import IntEnum

from legato.ledger import Call, Ledger
from legato.model import Authority, CallId
from legato.session.compaction.gauge import TokenGauge
from legato.transcript import Exchange, Said, Unit
from legato.transcript.slots import Slot


class Retention(IntEnum):
    """How firmly a unit stays, weakest first."""

    FREE = 0
    SPARED = 1
    OPEN = 2
    FIXED = 3


def newest_calls(gauge: TokenGauge, count: int) -> set[CallId]:
    """The newest `count` calls in the view."""
    newest: set[CallId] = set()
    for place in reversed(gauge.with_calls):
        left = count - len(newest)
        if left <= 0:
            break
        unit = gauge.places[place].unit
        if type(unit) is Exchange:
            newest.update(completion.call_id for completion in unit.completions[-left:])
    return newest


def retentions(gauge: TokenGauge, newest: set[CallId]) -> list[Retention]:
    """How firmly each place stays, where the calls in `newest` are spared."""
    ledger = gauge.talk.ledger
    units = [place.unit for place in gauge.places]
    found = [_retention(unit, ledger, newest) for unit in units]
    last = next((place for place in range(len(units) - 1, -1, -1) if units[place] is not None), None)
    if last is not None:
        found[last] = Retention.FIXED
    for place in range(len(units) - 1, -1, -1):
        unit = units[place]
        if type(unit) is Said and unit.authority is Authority.PERSON:
            found[place] = max(found[place], Retention.SPARED)
            break
    _join(found, gauge.view.slots)
    return found


def may_end_soon(call: Call, ledger: Ledger) -> bool:
    """Whether `call` runs in this process, or waits for approval."""
    is_running = call.started is not None and call.started == ledger.incarnation
    return is_running or (call.asked is not None and call.answered is None)


def _retention(unit: Unit | None, ledger: Ledger, newest: set[CallId]) -> Retention:
    retention = Retention.FREE
    if type(unit) is Exchange:
        for completion in unit.completions:
            call = ledger.calls[completion.call_id]
            if not call.is_settled:
                retention = max(retention, Retention.FIXED if may_end_soon(call, ledger) else Retention.OPEN)
            elif completion.call_id in newest:
                retention = max(retention, Retention.SPARED)
    return retention


def _join(found: list[Retention], slots: list[Slot]) -> None:
    """Places that one record began are named by one number, so they stay or go together."""
    start = 0
    for place in range(1, len(slots) + 1):
        if place == len(slots) or slots[place].first != slots[start].first:
            if place - start > 1:
                found[start:place] = [max(found[start:place])] * (place - start)
            start = place
