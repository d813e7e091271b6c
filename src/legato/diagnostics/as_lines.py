"""Reports and diagnoses as lines of text for people: no colours, no columns wider than what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from legato.diagnostics.diagnosis import Diagnosis
from legato.diagnostics.redaction import Redactor
from legato.model import Decision
from legato.request.report import Emitted, RenderReport


def report_lines(report: RenderReport, *, redactor: Redactor | None = None) -> list[str]:
    """`report` as a person reads it: the target, the calls with their ids on both sides, what was decided and why."""
    hide = (redactor or Redactor()).text
    return [hide(line) for line in _report(report)]


def diagnosis_lines(diagnosis: Diagnosis, *, redactor: Redactor | None = None) -> list[str]:
    """`diagnosis` as a person reads it: what happened, whose fault it is, and which calls it concerns."""
    hide = (redactor or Redactor()).text
    return [hide(line) for line in _diagnosis(diagnosis)]


_MOST_CALLS = 20
"""calls that a line names: a decision can be about all of an answer, and is told at each of them"""


def decision_line(decision: Decision) -> str:
    """One decision: where the fault lay, what was done, why, and for which calls."""
    detail = f": {decision.detail}" if decision.detail else ""
    named = ", ".join(decision.calls[:_MOST_CALLS])
    more = f" and {len(decision.calls) - _MOST_CALLS:,} more" if len(decision.calls) > _MOST_CALLS else ""
    calls = f" ({named}{more})" if decision.calls else ""
    return f"{decision.fault.value}: {decision.action.value} {decision.reason}{detail}{calls}"


def _report(report: RenderReport) -> Iterator[str]:
    yield f"{report.route}, in the form {report.format}, {report.strategy} tool history"
    kinds = Counter(call.completion for call in report.emitted)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield f"calls: {len(report.calls_seen)} seen, {len(report.emitted)} emitted" + (f" ({told})" if told else "")
    yield from _table(report.emitted)
    yield f"decisions: {len(report.decisions) or 'none'}"
    for decision in report.decisions:
        yield f"  {decision_line(decision)}"
    change = report.prefix_change
    if change is not None:
        where = f", from unit {change.first_unit} on" if change.first_unit >= 0 else ""  # below 0: before all units
        yield f"prefix: it does not extend the request before it{where} ({change.cause})"


def _table(emitted: Sequence[Emitted]) -> Iterator[str]:
    rows = [
        (
            str(call.call_id),
            call.name,
            f"call {call.wire_id}",
            f"result {call.result_wire_id}",
            f"{call.completion} ({call.reason})" if call.reason else call.completion,
        )
        for call in emitted
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  " + "  ".join([*cells, row[4]])


def _diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"{diagnosis.error}: {diagnosis.message}"
    if diagnosis.fault is not None:
        layer = f", found in the layer {diagnosis.layer}" if diagnosis.layer else ""
        why = f": {diagnosis.why}" if diagnosis.why else ""
        yield f"fault class: {diagnosis.fault.value}{layer}{why}"
    if diagnosis.calls:
        yield f"calls: {', '.join(diagnosis.calls)}"
    if diagnosis.rules:
        yield f"rules: {', '.join(diagnosis.rules)}"
