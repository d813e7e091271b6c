"""`--log-file`: everything that the logger `legato` says, one JSON object a line.

    {"time": "2026-01-31T17:45:02.123Z", "level": "debug", "event": "legato.render", "legato.route": ..., ...}

Requests with all that was decided for them, refusals with the layer at fault, and how turns go; nothing of what is said
in a conversation, and no secret. Only the file's owner can read it, and it is added to, never replaced.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from legato.errors import ConfigError

_MODE = 0o600
"""only its owner reads a log: conversations are in it"""


@contextmanager
def logging_to(path: Path | None) -> Generator[None]:
    """While it lasts, log to the file at `path`, if one is named; raises `ConfigError` if it cannot be written."""
    if path is None:
        yield
        return
    from legato.diagnostics import LOGGER  # few runs keep a log

    handler = logging.StreamHandler(_open(path))
    handler.setFormatter(_JsonLines())
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        handler.stream.close()


def _open(path: Path) -> Any:
    try:
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _MODE), "a", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"--log-file: {path} cannot be written: {error.strerror or error}; name another file"
        ) from None


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        event = getattr(record, "legato", None)
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        if event is None:  # not one of ours
            told |= {"event": record.name, "message": record.getMessage()}
        else:
            told |= {"event": event.name, **event.attributes}
        return msgspec.json.encode(told).decode()
