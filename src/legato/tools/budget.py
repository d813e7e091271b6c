"""How much of a batch's output goes back to the model.

In:  what a tool gave, as JSON or text, and how many calls share the budget.
Out: the same, or its beginning and its end with a line between them that says what is missing and where the whole is.

The budget is divided by the number of calls in the batch, not by what is left of it: a call's share then does not
depend on which sibling finished first, and the same batch gives the same results in every mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec
from msgspec import Struct

from legato.model import Json, ToolCall

Spill: TypeAlias = Callable[[str, ToolCall], str | None]
"""Keeps a whole output somewhere and returns where, for the model to read; None if it could not."""


class OutputBudget(Struct, frozen=True):
    """Characters for one batch, and the least that one call gets however many there are."""

    total: int = 120_000
    floor: int = 4_000

    def share(self, calls: int) -> int:
        """What one of `calls` calls may return."""
        return max(self.floor, self.total // max(calls, 1))


def as_text(value: Json) -> str:
    """A result as the model will read it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def cut(text: str, limit: int, *, kept: str | None) -> str:
    """The beginning and the end of `text`, about `limit` characters, around a line about the rest."""
    where = f"the whole output is in {kept}" if kept else "the whole output was not kept"
    head = limit // 2
    tail = limit - head
    # Whole lines read better, if dropping the broken ones does not cost much.
    if (newline := text.rfind("\n", head // 2, head)) > 0:
        head = newline + 1
    start = len(text) - tail
    if (newline := text.find("\n", start, start + tail // 2)) >= 0:
        start = newline + 1
    mark = f"[cut: {start - head:,} of {len(text):,} characters are left out here; {where}]"
    return f"{text[:head].rstrip()}\n{mark}\n{text[start:]}"
