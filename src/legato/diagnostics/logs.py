"""Events as lines of the standard library's logging, under the logger `legato`.

A library stays silent until someone asks: the logger has a handler that swallows everything, and nothing is computed
for a level that is off. An application turns it on as it does for any other logger, or with `turn_on_logs`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import TextIO

import msgspec

from legato.diagnostics.events import Event, Gravity

LOGGER = logging.getLogger("legato")
LOGGER.addHandler(logging.NullHandler())

_LEVELS = {Gravity.DEBUG: logging.DEBUG, Gravity.WARNING: logging.WARNING, Gravity.ERROR: logging.ERROR}


def log_events(events: Iterable[Event]) -> None:
    """One line for every event: its name and its attributes as JSON; the event itself is `record.legato`."""
    for event in events:
        level = _LEVELS[event.gravity]
        if LOGGER.isEnabledFor(level):
            attributes = msgspec.json.encode(event.attributes).decode()
            LOGGER.log(level, "%s %s", event.name, attributes, extra={"legato": event})


def turn_on_logs(level: int = logging.DEBUG, *, stream: TextIO | None = None) -> logging.Handler:
    """Write what is logged at `level` and above to `stream`, or to standard error; returns the handler, to remove it.

    A program that configures logging itself has no need of this.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setLevel(level)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(min(level, LOGGER.level) if LOGGER.level else level)
    return handler
