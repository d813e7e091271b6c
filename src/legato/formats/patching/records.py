"""The records of a file taken apart and put together again, so that what stays keeps its very bytes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from legato.formats.document import Original, RawRecord
from legato.formats.fields import as_list, as_object
from legato.formats.patching.splices import Splice, apply_splices, splices_between
from legato.model import Json, JsonObject


class Rewritten(NamedTuple):
    """A file, and the splices that made it of the one that was read: outside them both have the same bytes."""

    data: bytes
    splices: tuple[Splice, ...] = ()


class Changed(NamedTuple):
    """The record of that number, with another value."""

    record: int
    value: JsonObject


class RawFile:
    """Records to change: `value(i)` is a copy that may be changed, `write` puts the file together.

    Of a file that is one value, the records are those in the first of `lists` that it has, or in the list that it is.
    """

    def __init__(self, original: Original, *lists: str) -> None:
        self._original = original
        self._field = ""
        self._values: list[Json] = []
        if original.value is not None:
            holder = as_object(original.value)
            self._field = next((name for name in lists if isinstance(holder.get(name), list)), "")
            items: Json = holder[self._field] if self._field else original.value
            self._values = as_list(items) if isinstance(items, list) else [holder]

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self._values) or len(self._original.records)

    def unchanged(self) -> Rewritten:
        """The file as it was."""
        return Rewritten(self._original.data) if self._original.data else self.write(range(self.count))

    def value(self, index: int) -> JsonObject:
        """The record at `index`, as a value of its own."""
        if self._values:
            return as_object(msgspec.json.decode(msgspec.json.encode(self._values[index])))
        return as_object(msgspec.json.decode(self._original.records[index].data))

    def write(self, records: Iterable[int | Changed | JsonObject]) -> Rewritten:
        """The file made of these records: an index stands for the record as it was, byte for byte."""
        if self._original.value is None:
            return _Lines(self._original).write(list(records))
        values: list[Json] = []
        for item in records:
            kept = self._values[item] if isinstance(item, int) else item
            values.append(kept.value if isinstance(kept, Changed) else kept)
        whole: Json = values
        if self._field:
            whole = {**as_object(self._original.value), self._field: values}
        elif not isinstance(self._original.value, list):
            whole = values[0]
        return self.write_value(whole)

    def write_value(self, value: Json) -> Rewritten:
        """The file, which is one value, with another value."""
        data = self._original.data
        splices = tuple(splices_between(data, self._original.value, value))
        return Rewritten(apply_splices(data, splices), splices)


class _Lines:
    """A file of lines in the making: pieces of bytes, each with its place in the file that was read, or -1."""

    def __init__(self, original: Original) -> None:
        self._original = original
        self._pieces: list[tuple[bytes, int]] = []

    def write(self, records: Sequence[int | Changed | JsonObject]) -> Rewritten:
        """The file made of these records."""
        known = self._original.records
        staying = _longest_run([-1 if isinstance(item, dict) else _index(item) for item in records])
        for number, item in enumerate(records):
            self._end_line()
            if isinstance(item, dict):
                self._add(msgspec.json.encode(item))
                self._add(b"\n")
                continue
            raw = known[_index(item)]
            place = raw.start if number in staying and raw.is_intact else -1
            self._add(raw.before, place)
            self._record(raw, item, place + len(raw.before) if place >= 0 else -1)
            self._add(raw.after, raw.end - len(raw.after) if place >= 0 else -1)
        if self._pieces and self._pieces[-1][0] == b"\n" and not (known and known[-1].after):
            self._pieces.pop()  # the last line had no newline
        self._add(self._original.tail, self._original.size - len(self._original.tail))
        return Rewritten(b"".join(data for data, _ in self._pieces), tuple(self._splices()))

    def _record(self, raw: RawRecord, item: int | Changed, place: int) -> None:
        """The bytes of one record, whole or with splices of its own."""
        position = 0
        if isinstance(item, Changed):
            for splice in splices_between(raw.data, msgspec.json.decode(raw.data), item.value):
                self._add(raw.data[position : splice.start], place + position if place >= 0 else -1)
                self._add(splice.data)
                position = splice.end
        self._add(raw.data[position:], place + position if place >= 0 else -1)

    def _end_line(self) -> None:
        if self._pieces and not self._pieces[-1][0].endswith(b"\n"):
            self._add(b"\n")

    def _add(self, data: bytes, place: int = -1) -> None:
        if data:
            self._pieces.append((data, place))

    def _splices(self) -> Iterator[Splice]:
        """What is between the pieces that kept their places."""
        position = 0
        fresh: list[bytes] = []
        for data, place in [*self._pieces, (b"", self._original.size)]:
            if place < position:
                fresh.append(data)
                continue
            if place > position or fresh:
                yield Splice(position, place, b"".join(fresh))
                fresh = []
            position = place + len(data)


def _index(item: int | Changed) -> int:
    return item.record if isinstance(item, Changed) else item


def _longest_run(indices: Sequence[int]) -> set[int]:
    """The places of the longest part of `indices` that increases, without those below zero: the rest was moved."""
    ends: list[int] = []
    """the smallest index that a run of each length ends with"""
    places: list[int] = []
    before: dict[int, int] = {}
    for place, index in enumerate(indices):
        if index < 0:
            continue
        length = bisect_left(ends, index)
        ends[length : length + 1] = [index]
        places[length : length + 1] = [place]
        before[place] = places[length - 1] if length else -1
    run: set[int] = set()
    place = places[-1] if places else -1
    while place >= 0:
        run.add(place)
        place = before[place]
    return run
