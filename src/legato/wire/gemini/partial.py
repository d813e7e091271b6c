"""Arguments that arrive value by value, each under its JSON path.

In:  pieces such as `{"jsonPath": "$.steps[0].name", "stringValue": "St", "willContinue": true}`.
Out: the object that they make up. A string grows while pieces for its path arrive.
"""

from __future__ import annotations

import re
from typing import cast

from legato.model import Json, JsonObject
from legato.wire.gemini.fields import as_text, camel

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_LONGEST = 100_000
"""more items than any call has; a larger index in a path is an accident, not a list to fill up"""


class PartialArguments:
    """The arguments of one call while they arrive."""

    def __init__(self) -> None:
        self.value: JsonObject = {}

    def add(self, piece: Json) -> None:
        """Take one piece; one without a path that means something is skipped."""
        fields = camel(piece)
        path = _steps(as_text(fields.get("jsonPath")))
        if path:
            _put(self.value, path, fields)


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return []
        name, index, single, double = match.groups()
        if index is not None:
            steps.append(min(int(index), _LONGEST))
        else:
            steps.append(name or single or double or "")
        at = match.end()
    return steps if steps and isinstance(steps[0], str) else []


def _put(root: JsonObject, path: list[str | int], fields: JsonObject) -> None:
    holder: Json = root
    for at, step in enumerate(path[:-1]):
        inner: Json = [] if isinstance(path[at + 1], int) else {}
        known = _get(holder, step)
        if isinstance(known, dict | list) and isinstance(known, type(inner)):
            holder = cast(Json, known)
        else:
            _set(holder, step, inner)
            holder = inner
    last = path[-1]
    if "stringValue" in fields:
        known = _get(holder, last)
        _set(holder, last, (known if isinstance(known, str) else "") + as_text(fields["stringValue"]))
    elif "numberValue" in fields:
        _set(holder, last, fields["numberValue"])
    elif "boolValue" in fields:
        _set(holder, last, fields["boolValue"])
    else:
        _set(holder, last, None)


def _get(holder: Json, step: str | int) -> Json:
    if isinstance(step, int):
        return holder[step] if step < len(holder) else None
    return holder.get(step)


def _set(holder: Json, step: str | int, value: Json) -> None:
    if isinstance(step, int):
        holder.extend([None] * (step + 1 - len(holder)))
    holder[step] = value
