"""Read a file of JSON lines that may have been damaged on its way to the disk.

In:  pieces of bytes, and what a record of this format looks like.
Out: records with their line numbers and their own bytes; notes on the damage.

Programs die while they write and disks lose what was not flushed. So: the last line may break off, a record may begin
behind the torn half of another on the same line, two records may share a line, runs of NUL bytes may be where data
was promised, the file may begin with a byte order mark and end without a newline. Each costs at most the record that it
hit. A file in which nearly nothing can be read is not a file of lines and is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

import msgspec

from legato.errors import FormatError, IngestError
from legato.formats.document import FileNote, RawRecord
from legato.formats.draft import MAX_NOTES
from legato.model import Json, JsonObject, read_json_leniently
from legato.model.ingestion import MAX_NODES, refuse_parts

MAX_LINE = 64 * 1024 * 1024
"""a longer line is left out"""

_MAX_UNREADABLE = 1_000
"""unreadable lines after which a file that is mostly such lines is given up: our choice"""

_MAX_TRIES = 64
"""places at which the rest of a broken line is tried again: our choice, so that the work stays linear"""

_BOM = b"\xef\xbb\xbf"
_RECORD_START = re.compile(r'\{\s*"')
_BETWEEN = re.compile(r"[\s,\x00]*")
_slow = json.JSONDecoder(strict=False)
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Line(NamedTuple):
    """One record. Several may be from the same line."""

    value: JsonObject
    raw: RawRecord


class Marks(NamedTuple):
    """What tells a record of a format from an object inside one: it has all names of at least one of the sets."""

    sets: tuple[frozenset[str], ...] = ()

    def fit(self, value: JsonObject) -> bool:
        """Whether `value` can be a record."""
        return not self.sets or any(names <= value.keys() for names in self.sets)


class _Raw(NamedTuple):
    """A line that holds anything: its bytes without the white space around them, which is kept beside them."""

    number: int
    data: bytes
    before: bytes = b""
    after: bytes = b""
    start: int = 0
    end: int = 0
    """the bytes of the file that these are"""
    is_whole: bool = False
    """whether nothing was taken out of them"""
    is_last: bool = False
    """it is the last one and has no newline"""

    @property
    def place(self) -> str:
        """Where the line is, for people."""
        return f"line {self.number}"

    def record(self) -> RawRecord:
        """The line as a record."""
        return RawRecord(self.place, self.data, self.before, self.after, self.start, self.end, self.is_whole)


class LineReader:
    """Iterate over it once; `damage`, `left_out`, `tail` and `size` are complete afterwards."""

    def __init__(self, pieces: Iterable[bytes], marks: Marks, *, name: str = "input") -> None:
        self.damage: list[FileNote] = []
        self._pieces = pieces
        self._marks = marks
        self._name = name
        self._readable = 0
        self._unreadable = 0
        self.left_out: list[RawRecord] = []
        """lines that are JSON but no records, and those that are too long, without their bytes"""
        self.tail = b""
        """the blank end of the file"""
        self.size = 0
        """the number of bytes in it"""

    def __iter__(self) -> Iterator[Line]:
        for raw in self._numbered():
            yield from self._records(raw)

    def values(self) -> Iterator[tuple[int, JsonObject]]:
        """The records alone, each with the number of its line: for whoever does not write them again.

        A line that is one object as it is needs no closer look, and nearly all are.
        """
        decode = msgspec.json.Decoder().decode
        for number, (line, _, is_last) in enumerate(self._raw_lines(), 1):
            try:
                value = None if line is None else decode(line)
            except _NOT_JSON:
                value = None
            if type(value) is dict:
                self._readable += 1
                yield number, cast(JsonObject, value)
            elif line is None:
                self._too_long(number)
            elif data := self._without_marks(number, line).strip():
                for record in self._records(_Raw(number, data, is_last=is_last)):
                    yield number, record.value

    def _records(self, raw: _Raw) -> Iterator[Line]:
        """The record on a line, or what can be saved of it."""
        try:
            value = msgspec.json.decode(raw.data)
        except _NOT_JSON:
            yield from self._recovered(raw)
            return
        if isinstance(value, dict):
            self._readable += 1
            yield Line(cast(JsonObject, value), raw.record())
        else:
            self.left_out.append(raw.record())
            self._unread(raw.number, "is no object and was left out")

    # --- lines --------------------------------------------------------------------------------------------------------

    def _numbered(self) -> Iterator[_Raw]:
        """The lines that hold anything, with the blank lines before each."""
        number = start = 0
        blank = b""
        for line, length, is_last in self._raw_lines():
            number += 1
            newline = b"" if is_last else b"\n"
            self.size += length + len(newline)
            if line is None:
                self._too_long(number)
                start, blank = self.size, b""
                continue
            raw = self._without_marks(number, line)
            data = raw.strip()
            if not data:
                blank += raw + newline
                continue
            before = raw[: raw.index(data)] if len(data) < len(raw) else b""
            after = raw[len(before) + len(data) :] + newline
            is_whole = len(blank) + len(raw) + len(newline) == self.size - start
            yield _Raw(number, data, blank + before, after, start, self.size, is_whole, is_last)
            start, blank = self.size, b""
        self.tail = blank

    def _without_marks(self, number: int, raw: bytes) -> bytes:
        """A line without a byte order mark and without NUL bytes."""
        if number == 1 and raw.startswith(_BOM):
            self._damaged(number, "the file begins with a byte order mark; it was left out")
            raw = raw[3:]
        if b"\0" in raw:
            cleaned = raw.replace(b"\0", b"")
            self._damaged(number, f"{len(raw) - len(cleaned)} NUL bytes stand here; they were left out")
            return cleaned
        return raw

    def _raw_lines(self) -> Iterator[tuple[bytes | None, int, bool]]:
        """Lines with their lengths, None in place of a too long one, and whether it is a last one without a newline."""
        waiting: list[bytes] = []
        length = 0
        for piece in self._pieces:
            first, *rest = piece.split(b"\n")
            length += len(first)
            if length <= MAX_LINE:
                waiting.append(first)
            else:
                waiting.clear()
            if not rest:
                continue
            yield (b"".join(waiting) if length <= MAX_LINE else None), length, False
            for raw in rest[:-1]:
                yield raw, len(raw), False
            waiting, length = [rest[-1]], len(rest[-1])
        if length:
            yield (b"".join(waiting) if length <= MAX_LINE else None), length, True

    # --- damage -------------------------------------------------------------------------------------------------------

    def _recovered(self, raw: _Raw) -> Iterator[Line]:
        """What can be saved of a line that is not one JSON value."""
        number = raw.number
        text, replaced = _decoded(raw.data)
        if replaced:
            self._damaged(number, "is not valid UTF-8; what could not be read was replaced")
        values, is_torn = self._values(text)
        if not values:
            self._unread(number, "breaks off in the middle and was left out" if raw.is_last else _why(raw.data))
            return
        if is_torn:
            self._damaged(number, "holds a record that breaks off in the middle; it was left out")
        elif len(values) > 1:
            self._damaged(number, f"holds {len(values)} records")
        elif values[0][1] != raw.data and not replaced:
            self._damaged(number, "holds what JSON does not allow in a text; it was written as JSON has it")
        start = raw.start
        for value, data in values:
            self._readable += 1
            yield Line(value, RawRecord(raw.place, data, start=start, end=raw.end))
            start = raw.end  # the first record stands for the whole line

    def _values(self, text: str) -> tuple[list[tuple[JsonObject, bytes]], bool]:
        """The records in `text` with their bytes, and whether a part of it belongs to none."""
        found: list[tuple[JsonObject, bytes]] = []
        is_torn = False
        tries = 0
        position = 0
        while position < len(text) and tries < _MAX_TRIES:
            try:
                value, end = _slow.raw_decode(text, position)
            except (ValueError, RecursionError):
                value, end = None, position
            if isinstance(value, dict) and (not is_torn or self._marks.fit(cast(JsonObject, value))):
                data = text[position:end].encode("utf-8", "surrogatepass")
                if (record := _safely(data)) is not None:
                    found.append(record)
                    between = _BETWEEN.match(text, end)
                    position = between.end() if between else end
                    continue
            is_torn = True
            tries += 1
            start = _RECORD_START.search(text, position + 1)
            if start is None:
                break
            position = start.start()
        return found, is_torn

    def _too_long(self, number: int) -> None:
        self.left_out.append(RawRecord(f"line {number}", b""))
        self._unread(number, f"is longer than {MAX_LINE // 2**20} MB and was left out")

    def _unread(self, number: int, what: str) -> None:
        self._unreadable += 1
        if self._unreadable >= _MAX_UNREADABLE and self._unreadable > self._readable:
            raise FormatError(
                f"{self._name}: no file of JSON lines: of the first {number} lines, {self._unreadable} cannot be read"
            )
        self._damaged(number, what)

    def _damaged(self, number: int, what: str) -> None:
        if len(self.damage) < MAX_NOTES:
            self.damage.append(FileNote(f"line {number}", what, is_damage=True))


def _decoded(raw: bytes) -> tuple[str, bool]:
    try:
        return raw.decode(), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def _safely(data: bytes) -> tuple[JsonObject, bytes] | None:
    """The record in `data` made safe, and bytes for it that every parser reads."""
    try:
        value = read_json_leniently(data.decode("utf-8", "surrogatepass"))
    except IngestError:
        value = _control_characters(data)
    if not isinstance(value, dict):
        return None
    record = cast(JsonObject, value)
    try:
        if msgspec.json.decode(data) is not None:
            return record, data
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    return record, msgspec.json.encode(record)


def _control_characters(data: bytes) -> Json:
    """JSON with bare control characters in its strings, which the strict parser refuses."""
    try:
        refuse_parts(data, MAX_NODES)
        value: Json = _slow.decode(data.decode("utf-8", "surrogatepass"))
        return read_json_leniently(json.dumps(value))
    except (ValueError, RecursionError, IngestError):
        return None


def _why(raw: bytes) -> str:
    return "breaks off in the middle and was left out" if raw.startswith(b"{") else "is not JSON and was left out"
