"""Why: what a render did, or what went wrong, for people and for machines.

One `RenderReport` (or one `Diagnosis` of an error) is behind all forms:

    report_json, report_lines         a value for a machine, lines for a person
    report_events, diagnosis_events   flat events, each with its fault class and the canonical ids of its calls
    log_events                        those as lines of the standard library's logging, which is silent until asked for
    trace_events                      those as events of an OpenTelemetry span (extra `otel`)

Requests and refusals are sent to both without being asked (`emission`), where someone listens.

Nothing leaves here without passing a `Redactor`: keys, tokens and the values of secret environment variables are
hidden in every form.
"""

from __future__ import annotations

from legato.diagnostics.as_json import diagnosis_json, report_json
from legato.diagnostics.as_lines import diagnosis_lines, report_lines
from legato.diagnostics.diagnosis import Diagnosis, diagnose, fault_of
from legato.diagnostics.emission import emit, emit_fault, emit_rendered
from legato.diagnostics.events import Event, Gravity, diagnosis_events, render_event, report_events
from legato.diagnostics.logs import LOGGER, log_events, turn_on_logs
from legato.diagnostics.redaction import HIDDEN, Redactor
from legato.diagnostics.telemetry import trace_events

__all__ = [
    "HIDDEN",
    "LOGGER",
    "Diagnosis",
    "Event",
    "Gravity",
    "Redactor",
    "diagnose",
    "diagnosis_events",
    "diagnosis_json",
    "diagnosis_lines",
    "emit",
    "emit_fault",
    "emit_rendered",
    "fault_of",
    "log_events",
    "render_event",
    "report_events",
    "report_json",
    "report_lines",
    "trace_events",
    "turn_on_logs",
]
