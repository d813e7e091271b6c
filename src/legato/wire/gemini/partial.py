"""Arguments that arrive value by value, each under its JSON path.

In:  pieces such as `{"jsonPath": "$.steps[0].name", "stringValue": "St", "willContinue": true}`.
Out: the object that they make up. A string grows while pieces for its path arrive; it is joined once, at the end.

Items of a list arrive in order, or nearly so. A path that points far behind the end of its list, or deeper than a value
may be nested, is no part of a call that can be made: it raises `BadAnswer`.
"""

from __future__ import annotations

import re
from typing import cast

from legato.errors import BadAnswer
from legato.model import Json, JsonObject
from legato.model.ingestion import MAX_DEPTH
from legato.model.json_access import as_text
from legato.wire.gemini.fields import camel

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_MOST_GAPS = 1_000
"""items of the lists of one call that may be skipped before they arrive"""


class _Text:
    """A string that is still growing."""

    def __init__(self, beginning: str) -> None:
        self.pieces = [beginning]


class PartialArguments:
    """The arguments of one call while they arrive."""

    def __init__(self) -> None:
        self._root: JsonObject = {}
        self._texts: list[tuple[Json, str | int, _Text]] = []
        """every growing string, with the object or list that holds it and its place there"""
        self._gaps = 0

    @property
    def value(self) -> JsonObject:
        """The object, as far as it has arrived."""
        for holder, step, text in self._texts:
            if holder[step] is text:  # and no later piece put something else in its place
                holder[step] = "".join(text.pieces)
        self._texts.clear()
        return self._root

    def add(self, piece: Json) -> None:
        """Take one piece; one without a path that means something is skipped."""
        fields = camel(piece)
        path = _steps(as_text(fields.get("jsonPath")))
        if not path:
            return
        holder, last = self._holder(path), path[-1]
        if "stringValue" in fields:
            self._grow(holder, last, as_text(fields["stringValue"]))
        elif "numberValue" in fields:
            self._set(holder, last, fields["numberValue"])
        elif "boolValue" in fields:
            self._set(holder, last, fields["boolValue"])
        else:
            self._set(holder, last, None)

    def _holder(self, path: list[str | int]) -> Json:
        """The object or list that the last step of `path` is a place in; made where it is not there yet."""
        holder: Json = self._root
        for at, step in enumerate(path[:-1]):
            inner: Json = [] if isinstance(path[at + 1], int) else {}
            known = _get(holder, step)
            if isinstance(known, dict | list) and isinstance(known, type(inner)):
                holder = cast(Json, known)
            else:
                self._set(holder, step, inner)
                holder = inner
        return holder

    def _grow(self, holder: Json, step: str | int, piece: str) -> None:
        known = _get(holder, step)
        if isinstance(known, _Text):
            known.pieces.append(piece)
            return
        text = _Text((known if isinstance(known, str) else "") + piece)
        self._set(holder, step, text)
        self._texts.append((holder, step, text))

    def _set(self, holder: Json, step: str | int, value: Json) -> None:
        if isinstance(step, int) and step >= len(holder):
            gap = step - len(holder)
            self._gaps += gap
            if self._gaps > _MOST_GAPS:
                raise BadAnswer(f"the arguments of a call name item {step:,} of a list of {len(holder):,}")
            holder.extend([None] * (gap + 1))
        holder[step] = value


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return []
        if len(steps) == MAX_DEPTH:
            raise BadAnswer(f"the arguments of a call are nested deeper than {MAX_DEPTH} levels")
        name, index, single, double = match.groups()
        if index is not None:
            steps.append(int(index.lstrip("0")[:10] or "0"))  # ten digits are behind the end of every list already
        else:
            steps.append(name or single or double or "")
        at = match.end()
    return steps if steps and isinstance(steps[0], str) else []


def _get(holder: Json, step: str | int) -> Json:
    if isinstance(step, int):
        return holder[step] if step < len(holder) else None
    return holder.get(step)
