"""Reports and diagnoses as flat events, the form that logs and traces share.

legato.render     one request: canonical ids seen, ids emitted on calls and on results, closures with their reasons,
                  dedupe decisions with their rationale, the provider's format
legato.decision   one thing that was done, with its fault class and the canonical ids of its calls
legato.fault      one error, with its fault class and the canonical ids of its calls; what a provider said, if it did

Attributes are strings, numbers, or lists of strings: what every log and every tracer can hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias, cast

from msgspec import Struct

from legato.diagnostics.as_lines import decision_line
from legato.diagnostics.diagnosis import Diagnosis
from legato.diagnostics.redaction import Redactor
from legato.model import Action, Decision
from legato.request.report import RenderReport

Attribute: TypeAlias = "str | int | list[str]"


class Gravity(StrEnum):
    """Whether an event tells how a request was made, that a provider said no, or that something in Legato is broken."""

    DEBUG = "debug"
    WARNING = "warning"
    ERROR = "error"


class Event(Struct, frozen=True):
    """One event."""

    name: str
    gravity: Gravity
    attributes: dict[str, Attribute]


def report_events(report: RenderReport, *, redactor: Redactor | None = None) -> list[Event]:
    """One event for the request, and one for every decision in it."""
    return _redacted([_render_event(report), *map(_decision_event, report.decisions)], redactor)


def render_event(report: RenderReport, *, digest: str = "", redactor: Redactor | None = None) -> Event:
    """The whole request in one event, every decision among its attributes."""
    event = _render_event(report)
    decided: dict[str, Attribute] = {"legato.decided": [decision_line(decision) for decision in report.decisions]}
    if digest:
        decided["legato.digest"] = digest
    return _redacted([Event(event.name, event.gravity, event.attributes | decided)], redactor)[0]


def diagnosis_events(diagnosis: Diagnosis, *, redactor: Redactor | None = None) -> list[Event]:
    """One event for the error."""
    attributes: dict[str, Attribute] = {
        "legato.fault_class": diagnosis.fault.value if diagnosis.fault else "none",
        "legato.error": diagnosis.error,
        "legato.message": diagnosis.message,
        "legato.calls": [str(call) for call in diagnosis.calls],
    }
    if diagnosis.why:
        attributes["legato.why"] = diagnosis.why
    if diagnosis.cause:
        attributes["legato.cause"] = diagnosis.cause
    if diagnosis.layer:
        attributes["legato.layer"] = diagnosis.layer
    if diagnosis.rules:
        attributes["legato.rules"] = list(diagnosis.rules)
    for name in _OF_REFUSALS:
        value = diagnosis.facts.get(name)
        if isinstance(value, str | int) and value:
            attributes[f"legato.{name}"] = value
    gravity = Gravity.WARNING if diagnosis.is_refusal else Gravity.ERROR
    return _redacted([Event("legato.fault", gravity, attributes)], redactor)


_OF_REFUSALS = ("route", "status", "provider_message", "provider_code", "request_id")
"""facts that tell what the provider said"""


def _render_event(report: RenderReport) -> Event:
    attributes: dict[str, Attribute] = {
        "legato.format": report.format,
        "legato.route": report.route,
        "legato.strategy": report.strategy,
        "legato.calls_seen": [str(call) for call in report.calls_seen],
        "legato.emitted_call_ids": [call.wire_id for call in report.emitted],
        "legato.emitted_result_ids": [call.result_wire_id for call in report.emitted],
        "legato.closures": [f"{call.call_id}: {call.reason}" for call in report.synthetic],
        "legato.dedupe": list(_dedupe(report)),
        "legato.decisions": len(report.decisions),
        "legato.fault_classes": [fault.value for fault in report.faults],
    }
    if report.prefix_change is not None:
        attributes["legato.prefix_change"] = report.prefix_change.cause.value
        attributes["legato.prefix_unit"] = report.prefix_change.first_unit
    return Event("legato.render", Gravity.DEBUG, attributes)


def _dedupe(report: RenderReport) -> Iterator[str]:
    for decision in report.of(Action.DEDUPED):
        rationale = f": {decision.detail}" if decision.detail else ""
        yield f"{', '.join(decision.calls)}: {decision.reason}{rationale}"


def _decision_event(decision: Decision) -> Event:
    attributes: dict[str, Attribute] = {
        "legato.fault_class": decision.fault.value,
        "legato.action": decision.action.value,
        "legato.reason": decision.reason,
        "legato.calls": [str(call) for call in decision.calls],
    }
    if decision.detail:
        attributes["legato.detail"] = decision.detail
    return Event("legato.decision", Gravity.DEBUG, attributes)


def _redacted(events: list[Event], redactor: Redactor | None) -> list[Event]:
    hide = (redactor or Redactor()).value
    return [Event(event.name, event.gravity, cast("dict[str, Attribute]", hide(event.attributes))) for event in events]
