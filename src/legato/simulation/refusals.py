"""A refusal as each provider prints it: status, headers and error body.

In:  a `SimulatedRefusal`: for which reason, in which words, about which place.
Out: the `Reply` that carries it, in the provider's own shape.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from legato.simulation.contract import Reply
from legato.wire.hosting import ErrorFacts, RefusalReason, ServerHabits


class SimulatedRefusal(Struct, frozen=True, kw_only=True):
    """One refusal. `rule` and `path` say which rule of the dialect is broken, and where; `code` is that rule's code."""

    reason: RefusalReason
    message: str
    path: str = ""
    rule: str = ""
    code: str = ""
    model: str = ""
    retry_after: float | None = None


_STATUS: dict[RefusalReason, int] = {
    RefusalReason.SHAPE: 400,
    RefusalReason.NOT_JSON: 400,
    RefusalReason.REASONING: 400,
    RefusalReason.MODEL: 404,
    RefusalReason.KEY_MISSING: 401,
    RefusalReason.KEY_WRONG: 401,
    RefusalReason.QUOTA: 402,
    RefusalReason.TOO_LONG: 400,
    RefusalReason.RATE: 429,
    RefusalReason.SERVER: 500,
    RefusalReason.OVERLOADED: 503,
    RefusalReason.PREVIOUS: 400,
    RefusalReason.STORED: 404,
    RefusalReason.PATH: 404,
    RefusalReason.METHOD: 405,
}


def status_of(refusal: SimulatedRefusal, habits: ServerHabits) -> int:
    """The status with which the provider refuses."""
    by_code = habits.code_statuses.get(refusal.code)
    return by_code or habits.statuses.get(refusal.reason) or _STATUS[refusal.reason]


def print_refusal(refusal: SimulatedRefusal, habits: ServerHabits, *, request_id: str) -> Reply:
    """The reply that carries `refusal`."""
    status = status_of(refusal, habits)
    headers = {"content-type": "application/json", habits.request_id: request_id}
    if refusal.retry_after is not None and habits.tells_wait:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    facts = ErrorFacts(
        refusal.reason, refusal.message, refusal.path, refusal.code, status, request_id, refusal.retry_after
    )
    if habits.error_header is not None:
        name, kind = habits.error_header
        headers[name] = kind(facts)
    return Reply(status=status, headers=headers, chunks=(msgspec.json.encode(habits.error_body(facts)),))
