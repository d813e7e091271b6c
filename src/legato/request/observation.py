"""Tell the observer what was rendered, or stopped at the gate, if anything is listening.

Nothing can listen to the logger `legato` without `logging` being loaded, or have a span that records without
OpenTelemetry. So whether anything listens is a look at what is loaded already, and costs next to nothing. The observer,
which turns a report into lines and hides secrets, is behind a slot (`legato.observer`) and is loaded when it is needed.
"""

from __future__ import annotations

import sys
from functools import cache, cached_property
from typing import TYPE_CHECKING, Protocol, cast

from legato import observer

if TYPE_CHECKING:
    import logging

    from legato.errors import LegatoError
    from legato.request.report import RenderReport

LOGGER = "legato"
DEBUG, ERROR = 10, 40
"""levels of the standard library's logging"""


class Rendered(Protocol):
    """What an observer may know of a request."""

    @cached_property
    def report(self) -> RenderReport:
        """What was decided for it."""
        ...

    def digest(self) -> str:
        """A hash of its bytes."""
        ...


class Observer(Protocol):
    """What is told about requests."""

    def emit_rendered(self, request: Rendered) -> None:
        """A request was rendered."""
        ...

    def emit_fault(self, error: LegatoError) -> object:
        """A request was not let out."""
        ...


def tell_rendered(request: Rendered) -> None:
    """A request was rendered."""
    if is_heard(DEBUG):
        _observer().emit_rendered(request)


def tell_stopped(error: LegatoError) -> None:
    """A request was not let out, because its provider would refuse it."""
    if is_heard(ERROR):
        _observer().emit_fault(error)


def is_heard(level: int = DEBUG) -> bool:
    """Whether anything listens: the logger takes lines of `level`, or there is a span that records."""
    if "logging" in sys.modules and _logger().isEnabledFor(level):
        return True
    tracing = sys.modules.get("opentelemetry.trace")
    return tracing is not None and tracing.get_current_span().is_recording()


@cache
def _logger() -> logging.Logger:
    return sys.modules["logging"].getLogger(LOGGER)  # looked up once: that takes a lock


def _observer() -> Observer:
    assert observer.load is not None  # the package root fills the slot before anything else is loaded
    return cast("Observer", observer.load())
