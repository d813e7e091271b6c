"""Change a JSON text as little as its new value demands: a list of splices, and every other byte as it was.

In:  the bytes of a JSON value, what they were read as, and the value that they should have.
Out: splices of byte ranges. Members and elements that are equal keep their bytes, their order and the white space
     around them; what is put in looks like its neighbours.

The bytes are only looked at where values differ, so a long text with a small change costs little more than finding the
ends of its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import msgspec

from legato.formats.fields import as_list, as_object
from legato.formats.patching.spans import JsonPart, UnclearText, end_of, first_value, json_parts
from legato.model import Json, JsonObject

_LIKENESS = ("id", "call_id", "tool_use_id", "tool_call_id", "uuid", "role", "type", "name")
"""fields by which two objects are told to be the same one, before and after a change"""
_INDENT = 2
"""columns of a level where the text does not show its own: what most programs write"""


class Splice(NamedTuple):
    """The bytes from `start` to `end` of a file, and what is there instead."""

    start: int
    end: int
    data: bytes


def apply_splices(data: bytes, splices: Iterable[Splice]) -> bytes:
    """`data` with its splices, which are in order and do not overlap."""
    pieces: list[bytes] = []
    position = 0
    for splice in splices:
        pieces += (data[position : splice.start], splice.data)
        position = splice.end
    return b"".join(pieces) + data[position:]


def splices_between(data: bytes, old: Json, new: Json) -> list[Splice]:
    """What to change in `data`, which was read as `old`, so that it is read as `new`."""
    differ = _Differ(data)
    start = first_value(data)
    try:
        end = end_of(data, start)
        differ.value(old, new, start, end)
    except (UnclearText, RecursionError):
        return [Splice(0, len(data), msgspec.json.encode(new))]
    return sorted(differ.splices)


def is_same(one: Json, other: Json) -> bool:
    """Whether two values are written alike: 1, 1.0 and true are not the same."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        mine, theirs = as_object(one), as_object(other)
        return mine.keys() == theirs.keys() and all(is_same(mine[name], theirs[name]) for name in mine)
    if isinstance(one, list):
        items, others = as_list(one), as_list(other)
        return len(items) == len(others) and all(map(is_same, items, others))
    return one == other


class _Style(NamedTuple):
    """How the parts of one object or list are set apart."""

    comma: bytes
    colon: bytes
    unit: bytes

    def write(self, value: Json, name: str | None = None) -> bytes:
        """A part that is put in."""
        written = msgspec.json.encode(value)
        line = self.comma.rfind(b"\n")
        if line >= 0:
            written = msgspec.json.format(written, indent=len(self.unit) or _INDENT)
            written = written.replace(b"\n", self.comma[line:])
        return written if name is None else msgspec.json.encode(name) + self.colon + written


class _Differ:
    """Collects the splices of one text."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.splices: list[Splice] = []

    def value(self, old: Json, new: Json, start: int, end: int) -> None:
        """The value at `start`, which should be `new`."""
        if is_same(old, new):
            return
        if isinstance(old, dict) and isinstance(new, dict):
            self._object(as_object(old), as_object(new), start, end)
        elif isinstance(old, list) and isinstance(new, list):
            self._list(as_list(old), as_list(new), start, end)
        else:
            self.splices.append(Splice(start, end, msgspec.json.encode(new)))

    def _object(self, old: JsonObject, new: JsonObject, start: int, end: int) -> None:
        parts = list(json_parts(self.data, start, end))
        last = {part.name: index for index, part in enumerate(parts)}
        if last.keys() != old.keys():
            raise UnclearText
        style = self._style(parts, start, end)
        out: list[int | bytes] = []
        for index, part in enumerate(parts):
            if part.name in new:
                out.append(index)
                if index == last[part.name]:  # of two with one name the last one counts
                    self.value(old[part.name], new[part.name], part.value, part.end)
        out += [style.write(value, name) for name, value in new.items() if name not in old]
        self._arrange(parts, out, style, start, end)

    def _list(self, old: list[Json], new: list[Json], start: int, end: int) -> None:
        parts = list(json_parts(self.data, start, end))
        if len(parts) != len(old):
            raise UnclearText
        style = self._style(parts, start, end)
        out: list[int | bytes] = []
        for index, item in _aligned(old, new):
            if index is None:
                out.append(style.write(item))
                continue
            out.append(index)
            self.value(old[index], item, parts[index].value, parts[index].end)
        self._arrange(parts, out, style, start, end)

    def _style(self, parts: Sequence[JsonPart], start: int, end: int) -> _Style:
        """How the parts of the object or list from `start` to `end` are set apart."""
        if not parts:
            return _Style(b",", b":", b"")
        first = parts[0]
        lead, close = self.data[start + 1 : first.start], self.data[parts[-1].end : end - 1]
        comma = self.data[first.end : parts[1].start] if len(parts) > 1 else b"," + lead
        colon = self.data[first.key_end : first.value] if first.key_end else b":"
        inner, outer = comma.rpartition(b"\n")[2], close.rpartition(b"\n")[2]
        return _Style(comma, colon, inner.removeprefix(outer) if inner.startswith(outer) else b"")

    def _arrange(
        self, parts: Sequence[JsonPart], out: Sequence[int | bytes], style: _Style, start: int, end: int
    ) -> None:
        """Let the parts of what is from `start` to `end` be those in `out`; kept ones, by index, stay in order."""
        kept = [item for item in out if isinstance(item, int)]
        if not kept:
            first, last = (parts[0].start, parts[-1].end) if parts else (start + 1, end - 1)
            if parts or out:
                self.splices.append(Splice(first, last, style.comma.join(map(bytes, _written(out)))))
            return
        before: int | None = None
        fresh: list[bytes] = []
        for item in out:
            if isinstance(item, bytes):
                fresh.append(item)
                continue
            self._fill(parts, before, item, fresh, style)
            before, fresh = item, []
        self._fill(parts, before, None, fresh, style)

    def _fill(
        self, parts: Sequence[JsonPart], before: int | None, after: int | None, fresh: list[bytes], style: _Style
    ) -> None:
        """Put `fresh` between two kept parts, instead of whatever is there; None is the beginning or the end."""
        if before is None:
            assert after is not None  # a part is kept
            start, end = parts[0].start, parts[after].start
            text = b"".join(item + style.comma for item in fresh)
        else:
            start, end = parts[before].end, parts[len(parts) - 1 if after is None else after - 1].end
            text = b"".join(style.comma + item for item in fresh)
        if start != end or text:
            self.splices.append(Splice(start, end, text))


def _written(out: Sequence[int | bytes]) -> Iterator[bytes]:
    return (item for item in out if isinstance(item, bytes))


# --- which element is which -------------------------------------------------------------------------------------------

_MANY = 1_000
"""elements up to which each is compared with each"""
_NEAR = 100
"""old elements among which the one is looked for that has become a new one; what is not found is written anew"""


def _aligned(old: list[Json], new: list[Json]) -> Iterator[tuple[int | None, Json]]:
    """Each new element with the index of the old one that it is, or has become; None for one that is new."""
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if not is_same(old[index], new[index])), shorter)
    tail = next((back for back in range(shorter - head) if not is_same(old[-1 - back], new[-1 - back])), shorter - head)
    yield from enumerate(new[:head])
    yield from _middle(old, new, range(head, len(old) - tail), range(head, len(new) - tail))
    for back in range(tail, 0, -1):
        yield len(old) - back, new[-back]


def _middle(old: list[Json], new: list[Json], ours: range, theirs: range) -> Iterator[tuple[int | None, Json]]:
    keys = [msgspec.json.encode(old[index], order="sorted") for index in ours]
    others = [msgspec.json.encode(new[index], order="sorted") for index in theirs]
    # Where thousands are alike, the matcher may pass over what occurs most often: to compare each with each takes long.
    matcher = SequenceMatcher(None, keys, others, autojunk=len(others) > _MANY)
    for kind, first, last, start, stop in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(ours[first:last], (new[index] for index in theirs[start:stop]), strict=True)
            continue
        free = ours[first:last]
        for index in theirs[start:stop]:
            near = enumerate(free[:_NEAR])
            found = next((place for place, one in near if _is_alike(old[one], new[index])), None)
            yield (None if found is None else free[found]), new[index]
            free = free if found is None else free[found + 1 :]


def _is_alike(old: Json, new: Json) -> bool:
    """Whether one object may be what became of another."""
    if isinstance(old, list) and isinstance(new, list):
        return True
    one, other = as_object(old), as_object(new)
    shared = [name for name in _LIKENESS if name in one and name in other]
    return bool(shared) and all(is_same(one[name], other[name]) for name in shared)
