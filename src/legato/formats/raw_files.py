"""The records of a file taken apart and put together again, so that those that stay keep their very bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import msgspec

from legato.formats.document import Original
from legato.formats.fields import as_list, as_object
from legato.model import Json, JsonObject


class RawFile:
    """Records to change: `value(i)` is a copy that may be changed, `write` puts the file together."""

    def __init__(self, original: Original, list_field: str = "") -> None:
        self._original = original
        self._field = ""
        self._values: list[JsonObject] = []
        if original.value is not None:
            holder = as_object(original.value)
            self._field = list_field if isinstance(holder.get(list_field), list) else ""
            items: Json = holder[self._field] if self._field else original.value
            self._values = [as_object(item) for item in as_list(items)]

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self._values) or len(self._original.records)

    def value(self, index: int) -> JsonObject:
        """The record at `index`, as a value of its own."""
        if self._values:
            return cast(JsonObject, msgspec.json.decode(msgspec.json.encode(self._values[index])))
        return as_object(msgspec.json.decode(self._original.records[index].data))

    def write(self, records: Iterable[int | JsonObject]) -> bytes:
        """The file made of these records: an index stands for the record as it was."""
        if self._values:
            return self._write_value([self._values[item] if isinstance(item, int) else item for item in records])
        lines = [
            self._original.records[item].data if isinstance(item, int) else msgspec.json.encode(item)
            for item in records
        ]
        end = b"" if self._original.is_open_ended and lines else b"\n"
        return b"\n".join(lines) + end

    def _write_value(self, values: list[JsonObject]) -> bytes:
        if values == self._values:
            return self._original.data
        whole: Json = {**as_object(self._original.value), self._field: values} if self._field else values
        encoded = msgspec.json.encode(whole)
        return msgspec.json.format(encoded, indent=2) + b"\n" if b"\n" in self._original.data.strip() else encoded
