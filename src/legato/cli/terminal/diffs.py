"""Differences, with the colours that people expect."""

from __future__ import annotations

from collections.abc import Iterable

from legato.cli.terminal.styles import Style

_STYLES = (("+++", Style.BOLD), ("---", Style.BOLD), ("@@", Style.CYAN), ("+", Style.GREEN), ("-", Style.RED))


def style_of(line: str) -> Style | None:
    """How a line of a unified difference looks."""
    return next((style for mark, style in _STYLES if line.startswith(mark)), None)


def is_diff(lines: Iterable[str]) -> bool:
    """Whether the lines are a unified difference: they have a header of two lines."""
    first = [*lines][:2]
    return len(first) == 2 and first[0].startswith("--- ") and first[1].startswith("+++ ")
