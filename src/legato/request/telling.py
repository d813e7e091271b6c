"""Tell whoever listens what was rendered, or stopped at the gate.

Nobody can listen to the logger `legato` without `logging` being loaded, or have a span that records without
OpenTelemetry. So whether somebody listens is a look at what is loaded already, and costs next to nothing; and what
turns a report into lines and hides secrets, `legato.diagnostics`, is a layer above this one and is loaded by its name
when it is needed.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging

    from legato.errors import LegatoError
    from legato.request.request import Request

LOGGER = "legato"
DEBUG, ERROR = 10, 40
"""levels of the standard library's logging"""


def tell_rendered(request: Request) -> None:
    """A request was rendered."""
    if is_heard(DEBUG):
        _emission().emit_rendered(request)


def tell_stopped(error: LegatoError) -> None:
    """A request was not let out, because its provider would refuse it."""
    if is_heard(ERROR):
        _emission().emit_fault(error)


def is_heard(level: int = DEBUG) -> bool:
    """Whether anybody listens: the logger takes lines of `level`, or there is a span that records."""
    if "logging" in sys.modules and _logger().isEnabledFor(level):
        return True
    tracing = sys.modules.get("opentelemetry.trace")
    return tracing is not None and tracing.get_current_span().is_recording()


@cache
def _logger() -> logging.Logger:
    return sys.modules["logging"].getLogger(LOGGER)  # looked up once: that takes a lock


def _emission() -> Any:
    return import_module("legato.diagnostics.emission")
