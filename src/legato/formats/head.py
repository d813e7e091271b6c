"""How a file is laid out: lines, of which the first records are shown, or one JSON value, which is shown whole.

Of a database the tables are shown, each with its columns, and of an archive the names of its files.

What tells formats apart may be at the very end of a long record (a session that starts with a pasted image) or behind a
megabyte of messages (a request with sorted keys), so whole records and whole values are looked at. Only a damaged value
is shown as far as it can be closed, so that the error can say what the file would have been.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

import msgspec

from legato.errors import IngestError, UnknownFormat
from legato.formats import archive, database
from legato.formats.fields import as_object, as_objects
from legato.formats.sources import Source
from legato.model import Json, JsonObject, read_json_leniently
from legato.model.ingestion import MAX_LOADED, MAX_NODES, refuse_parts

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\],]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
MAX_RECORDS = 64
"""records that are looked at together to tell what a file is: our choice, most formats show themselves much earlier"""

_MAGIC = {
    b"\x1f\x8b": "gzip data, which is not looked into; unpack it, and try what is in it",
    b"\x28\xb5\x2f\xfd": "Zstandard data, which is not looked into; unpack it, and try what is in it",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8 first",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8 first",
    b"%PDF": "a PDF document, which is no session file",
    b"\x89PNG": "an image, which is no session file",
}


class Layout(StrEnum):
    """How a file is made."""

    LINES = "lines"
    WHOLE = "whole"
    DATABASE = "database"
    ARCHIVE = "archive"


LAYOUTS = {
    Layout.LINES: "made of lines",
    Layout.WHOLE: "one JSON value",
    Layout.DATABASE: "an SQLite database",
    Layout.ARCHIVE: "a ZIP archive",
}
"""how a file is made, in words"""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file. `records` are the first objects of a file of lines; `value` is the one value of another.

    `error` says what is wrong with a value that cannot be read; `value` is then what can be seen of it. `tables` are
    those of a database, with the names of their columns, and `members` the files of an archive.
    """

    layout: Layout
    records: tuple[JsonObject, ...] = ()
    value: Json = None
    error: str = ""
    is_one_line: bool = False
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    members: tuple[str, ...] = ()

    @property
    def items(self) -> list[JsonObject]:
        """The objects in a file that is one list."""
        return as_objects(self.value)

    @property
    def holder(self) -> JsonObject:
        """A file that is one object."""
        return as_object(self.value)


class UnclearLayout(UnknownFormat):
    """The file is neither one JSON value nor lines of JSON, as far as anyone can see."""


def refuse_other_files(source: Source) -> None:
    """Raise `UnknownFormat` for what is no text at all, by the bytes that it begins with."""
    for magic, what in _MAGIC.items():
        if source.head.startswith(magic):
            raise UnknownFormat(f"{source.name}: this is {what}")


def look_at(source: Source) -> Head:
    """The head of `source`; raises `UnclearLayout` where it is neither JSON nor lines of JSON."""
    if source.head.startswith(database.MAGIC):
        with database.open_database(source) as opened:
            return Head(Layout.DATABASE, tables=opened.tables)
    if source.head.startswith(archive.MAGIC):
        with archive.open_archive(source) as packed:
            return Head(Layout.ARCHIVE, members=packed.names)
    refuse_other_files(source)
    text = _shown(source)
    if "\n" not in text and text[:1] == "{":  # the first line may be a record that is longer than the head
        while b"\n" not in source.head.rstrip() and source.look_further():
            pass
        text = _shown(source)
    is_value = text[:1] in ("{", "[")
    head = _of_value(source, text) if is_value and "\n" not in text.rstrip() else None
    if head is not None and not head.error:
        return head  # one line alone may be either: it counts as a value, because it is also a file of one line
    records, is_lines = _records(text, is_whole=source.is_whole)
    if is_lines:
        return Head(Layout.LINES, records=records)
    head = head or (_of_value(source, text) if is_value else None)
    if head is not None:
        return head
    if _is_binary(source.head):
        raise UnknownFormat(f"{source.name}: this is binary data, which is no session file")
    raise UnclearLayout(
        f"{source.name}: unknown format: this is neither JSON nor lines of JSON; "
        "if it is a damaged session, name its format with --from"
    )


def _shown(source: Source) -> str:
    return source.head.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"").decode("utf-8", "ignore").lstrip()


def _of_value(source: Source, start: str) -> Head | None:
    """The head of a file that is one value; None if it is no JSON at all."""
    data, error = source.whole(), ""
    try:
        refuse_parts(data, MAX_NODES)
    except IngestError as problem:  # nothing is salvaged of it: that would take the memory that was not to be taken
        raise UnknownFormat(f"{source.name}: {problem.message}") from None
    try:
        value = read_json_leniently(data.replace(b"\0", b"") if b"\0" in data else data)
    except IngestError as problem:
        value, error = _closed(start), _plainly(problem, data)
    if value is None:
        return None
    first = (cast(JsonObject, value),) if isinstance(value, dict) else ()
    return Head(Layout.WHOLE, first, value, error, is_one_line="\n" not in start.rstrip())


def _plainly(error: IngestError, data: bytes) -> str:
    if data.rstrip()[-1:] not in (b"}", b"]"):
        return f"the JSON breaks off before its end, after {len(data):,} bytes"
    return error.message


def _records(text: str, *, is_whole: bool) -> tuple[tuple[JsonObject, ...], bool]:
    """The objects that are on lines of their own, and whether the text is made of such lines."""
    lines = [line for line in text.split("\n", 4 * MAX_RECORDS)[: 4 * MAX_RECORDS] if line.strip()]
    found: list[JsonObject] = []
    others = 0
    is_inside = bool(lines) and (lines[0].lstrip()[:1] == "[" or lines[0].strip() == "{")
    for line in lines:
        values = _objects_on(line)
        found += values
        others += not values
        # A comma behind an object says that a value goes around it.
        is_inside = is_inside or (bool(values) and line.rstrip().endswith(","))
    if not is_whole and others and not text.endswith("\n"):
        others -= 1  # the last line goes on behind the head
    if len(found) >= 2:
        return tuple(found[:MAX_RECORDS]), len(found) > others and not is_inside
    return tuple(found), len(lines) > 1 and len(found) == 1 and text.lstrip()[:1] != "[" and others <= 1


def _objects_on(line: str) -> list[JsonObject]:
    line = line.strip()
    if not line.startswith("{"):
        return []
    try:
        refuse_parts(line, MAX_LOADED)
        value = msgspec.json.decode(line)
        return [cast(JsonObject, value)] if isinstance(value, dict) else []
    except IngestError:
        return []
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    decoder = json.JSONDecoder(strict=False)
    values: list[JsonObject] = []
    position = 0
    while position < len(line) and len(values) < 4:
        try:
            value, position = decoder.raw_decode(line, position)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            values.append(cast(JsonObject, value))
    return values


def _closed(text: str) -> Json:
    """The value that `text` begins with, closed where it can be; None if it is not JSON at all."""
    decoder = json.JSONDecoder(strict=False)
    try:
        return decoder.raw_decode(text)[0]
    except (ValueError, RecursionError):
        pass
    stack: list[str] = []
    cut = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in _CLOSERS:
            stack.append(_CLOSERS[token])
            cut = match.end()
        elif token == ",":
            cut = match.start()
        elif token == '"':
            break  # a string that goes on behind the head
        elif token in ("}", "]"):
            if not stack or stack.pop() != token:
                return None
            cut = match.end()
    try:
        return decoder.decode(text[:cut] + "".join(reversed(stack)))  # every bracket moves the cut, so both agree
    except (ValueError, RecursionError):
        return None


def _is_binary(data: bytes) -> bool:
    sample = data[:4096]
    control = sum(byte < 9 or 13 < byte < 32 for byte in sample)
    if control * 20 > len(sample):
        return True
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start < len(data) - 4  # a character that the head cuts in two is no sign
    return False
