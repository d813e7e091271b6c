"""The records of a file taken apart and put together again, so that those that stay keep their very bytes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from legato.formats.document import Original
from legato.formats.fields import as_list, as_object
from legato.model import Json, JsonObject


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

    def unchanged(self) -> bytes:
        """The file as it was."""
        return self._original.data or self.write(range(self.count))

    def value(self, index: int) -> JsonObject:
        """The record at `index`, as a value of its own."""
        if self._values:
            return as_object(msgspec.json.decode(msgspec.json.encode(self._values[index])))
        return as_object(msgspec.json.decode(self._original.records[index].data))

    def write(self, records: Iterable[int | JsonObject]) -> bytes:
        """The file made of these records: an index stands for the record as it was, byte for byte."""
        if self._values:
            return self._write_value([self._values[item] if isinstance(item, int) else item for item in records])
        pieces: list[bytes] = []
        known = self._original.records
        for item in records:
            if pieces and not pieces[-1].endswith(b"\n"):
                pieces.append(b"\n")
            if isinstance(item, int):
                pieces += (known[item].before, known[item].data, known[item].after)
            else:
                pieces += (msgspec.json.encode(item), b"\n")
        if pieces and not (known and known[-1].after):
            pieces[-1] = pieces[-1].removesuffix(b"\n")  # the last line had no newline
        return b"".join(pieces) + self._original.tail

    def _write_value(self, values: list[Json]) -> bytes:
        if values == self._values:
            return self._original.data
        whole: Json = {**as_object(self._original.value), self._field: values} if self._field else values
        encoded = msgspec.json.encode(whole)
        return msgspec.json.format(encoded, indent=2) + b"\n" if b"\n" in self._original.data.strip() else encoded
