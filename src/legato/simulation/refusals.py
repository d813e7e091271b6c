"""A refusal as each provider prints it: status, headers and error body.

In:  a `SimulatedRefusal`: for which reason, in which words, about which place.
Out: the `Reply` that carries it, in the provider's own shape.
"""

from __future__ import annotations

from msgspec import Struct

from legato.simulation.contract import Reply
from legato.transport.error_bodies import print_error
from legato.wire.hosting import ErrorFacts, RefusalReason, ServerHabits


class SimulatedRefusal(Struct, frozen=True, kw_only=True):
    """One refusal. `rule` and `path` say which rule of the dialect is broken, and where; `code` is that rule's code.

    `status` is set where it is not the one that goes with the reason.
    """

    reason: RefusalReason
    message: str
    path: str = ""
    rule: str = ""
    code: str = ""
    model: str = ""
    retry_after: float | None = None
    status: int | None = None


def print_refusal(refusal: SimulatedRefusal, habits: ServerHabits, *, request_id: str) -> Reply:
    """The reply that carries `refusal`."""
    status = refusal.status or habits.status_of(refusal.reason, refusal.code)
    facts = ErrorFacts(
        refusal.reason, refusal.message, refusal.path, refusal.code, status, request_id, refusal.retry_after
    )
    headers, body = print_error(facts, habits)
    return Reply(status=status, headers=headers, chunks=(body,))
