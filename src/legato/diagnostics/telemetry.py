"""Events as events of an OpenTelemetry span (extra `otel`), loaded only when someone traces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from legato.diagnostics.events import Event, Gravity
from legato.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.trace import Span


def trace_events(events: Iterable[Event], *, span: Span | None = None) -> None:
    """Add `events` to `span`, or to the current one; an error marks it as failed.

    Raises `ConfigError` where OpenTelemetry is not installed.
    """
    try:
        from opentelemetry.trace import Status, StatusCode, get_current_span
    except ImportError:
        raise ConfigError("tracing needs OpenTelemetry; install it with: pip install 'legato[otel]'") from None
    span = span or get_current_span()
    if not span.is_recording():
        return
    for event in events:
        span.add_event(event.name, event.attributes)
        if event.gravity is Gravity.ERROR:
            span.set_status(Status(StatusCode.ERROR, str(event.attributes.get("legato.message", ""))))
