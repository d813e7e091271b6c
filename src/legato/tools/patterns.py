"""Patterns in rules: how they are matched, and how a text is written as one.

Paths are matched by folders (`*` stays in one, `**` crosses them), names and other texts as a whole. What is said about
commands is in `command_rules`.
"""

from __future__ import annotations

import re
from enum import StrEnum

from legato.tools.globs import PATH, TEXT, cached_matcher


class GlobKind(StrEnum):
    """How wildcards are read."""

    PATH = PATH
    TEXT = TEXT


def matches(glob: str, text: str, kind: GlobKind) -> bool:
    """Whether the whole of `text` matches `glob`."""
    return cached_matcher(glob, kind)(text)


def escape(text: str) -> str:
    """The glob that matches `text` and nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", text)
