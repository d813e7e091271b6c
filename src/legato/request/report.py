"""What a render did, as data: enough to find out afterwards why a provider said no.

The report names every call by our id and by the id that the provider saw, every decision with its reason and where the
fault lay, and whether this request extends the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from legato.model import CallId, Decision, Fault, PrefixCause


class Emitted(Struct, frozen=True):
    """One call as it was printed: our id, the provider's id on the call and on the result, how it was completed."""

    call_id: CallId
    wire_id: str
    result_wire_id: str
    name: str
    completion: str
    reason: str = ""


class PrefixChange(Struct, frozen=True):
    """Why this request does not extend the one before it, and the first unit that differs."""

    cause: PrefixCause
    first_unit: int


class RenderReport(Struct, frozen=True):
    """Everything that was decided for one request."""

    format: str
    """the provider's format: dialect and profile"""
    route: str
    calls_seen: tuple[CallId, ...]
    emitted: tuple[Emitted, ...]
    decisions: tuple[Decision, ...]
    prefix_change: PrefixChange | None = None
    strategy: str = "native"

    @property
    def faults(self) -> dict[Fault, list[Decision]]:
        """The decisions by where the fault lay."""
        classes: dict[Fault, list[Decision]] = {}
        for decision in self.decisions:
            classes.setdefault(decision.fault, []).append(decision)
        return classes

    def of(self, *actions: str) -> list[Decision]:
        """The decisions with one of these actions."""
        return [decision for decision in self.decisions if decision.action in actions]

    @property
    def synthetic(self) -> Sequence[Emitted]:
        """The calls that were closed in this view, each with its reason."""
        return [call for call in self.emitted if call.completion == "synthetic"]
