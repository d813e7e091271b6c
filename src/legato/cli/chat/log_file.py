"""`--log-file`: everything that the logger `legato` says, one JSON object a line.

    {"time": "2026-01-31T17:45:02.123Z", "level": "debug", "event": "legato.render", "legato.route": ..., ...}

Requests with all that was decided for them, refusals with the layer at fault, and how turns go; nothing of what is said
in a conversation, and no secret. Only the file's owner can read it, and it is added to, never replaced.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from legato.cli.exits import complain, line_of
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

    handler = _FileHandler(_open(path), path)
    handler.setFormatter(_JsonLines())
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        with suppress(OSError):  # said when it was written
            handler.stream.close()


def _open(path: Path) -> Any:
    try:
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _MODE), "a", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"--log-file: {path} cannot be written: {error.strerror or error}; name another file"
        ) from None


class _FileHandler(logging.StreamHandler[Any]):
    """Writes to a file; if that fails, as on a full disk, it is said once and what is going on goes on."""

    def __init__(self, stream: Any, path: Path) -> None:
        super().__init__(stream)
        self._path: Path | None = path

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's own name
        if self._path is not None:
            complain(f"the log {self._path} is not complete: {line_of(sys.exc_info()[1] or OSError())}")
        self._path = None


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
