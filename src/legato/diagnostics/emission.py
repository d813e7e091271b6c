"""Send diagnostics to those who listen: the logger `legato`, and the current span of OpenTelemetry.

`render` and `Request.verify` call this by themselves, and a session does for what providers say; an application only
has to turn its logger on, or to trace. A request is one line at DEBUG that holds all that was decided, a refusal is one
at WARNING, a request that our own rules stop is one at ERROR. Nothing of a conversation's text is in them, unless a
provider quotes it in its refusal, and no secret.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, cast

from legato.diagnostics.diagnosis import Diagnosis, diagnose
from legato.diagnostics.events import Attribute, Event, Gravity, diagnosis_events, render_event, report_events
from legato.diagnostics.logs import LOGGER, log_events
from legato.diagnostics.redaction import Redactor
from legato.diagnostics.telemetry import trace_events
from legato.errors import LegatoError
from legato.request.observation import Rendered


def emit_rendered(request: Rendered) -> None:
    """One line for a request, and one event of the span for each decision in it."""
    hide = Redactor()
    if LOGGER.isEnabledFor(logging.DEBUG):
        log_events([render_event(request.report, digest=request.digest(), redactor=hide)])
    if _is_traced():
        trace_events(report_events(request.report, redactor=hide))


def emit_fault(error: LegatoError, **context: Attribute) -> Diagnosis:
    """One line, and one event of the span, for a refusal or a fault; `context` says which session, step and route."""
    diagnosis = diagnose(error)
    if LOGGER.isEnabledFor(logging.ERROR) or _is_traced():
        hide = Redactor()
        events = diagnosis_events(diagnosis, redactor=hide)
        extra = {f"legato.{name}": value for name, value in context.items() if value}
        events = [Event(event.name, event.gravity, {**event.attributes, **extra}) for event in events]
        log_events(events)
        if _is_traced():
            trace_events(events)
    return diagnosis


def emit(name: str, attributes: dict[str, Any]) -> None:
    """One line at DEBUG for something that happened."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        return
    shown = Redactor().value({f"legato.{key}": value for key, value in attributes.items()})
    log_events([Event(f"legato.{name}", Gravity.DEBUG, cast("dict[str, Attribute]", shown))])


def _is_traced() -> bool:
    """Whether there is a span that records; OpenTelemetry is not loaded to find out."""
    tracing = sys.modules.get("opentelemetry.trace")
    return tracing is not None and tracing.get_current_span().is_recording()
