"""What the first 64 KB of a file show: lines of records, or one JSON value, as far as it can be seen.

A value that goes on behind the head is cut at the last place where it can be closed: keys, roles and types stand at the
beginning of everything, so that is enough to tell formats apart.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import msgspec

from legato.errors import FormatError
from legato.formats.sources import Source
from legato.model import Json, JsonObject

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\],]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
_MAX_RECORDS = 64
_MAGIC = {
    b"\x1f\x8b": "gzip data; unpack it first",
    b"PK\x03\x04": "a ZIP archive; unpack it first",
    b"SQLite format 3\0": "an SQLite database, which is no session file",
    b"\x28\xb5\x2f\xfd": "Zstandard data; unpack it first",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8 first",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8 first",
    b"%PDF": "a PDF document, which is no session file",
    b"\x89PNG": "an image, which is no session file",
}


class Layout(StrEnum):
    """How a file is made."""

    LINES = "lines"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file. `records` are the first objects of a file of lines; `value` is what one value shows."""

    layout: Layout
    records: tuple[JsonObject, ...] = ()
    value: Json = None
    is_one_line: bool = False


def look_at(source: Source) -> Head:
    """The head of `source`; raises `FormatError` where it is neither JSON nor lines of JSON."""
    data = source.head
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise FormatError(f"{source.name}: this is {what}")
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"").decode("utf-8", "ignore")
    records, is_lines = _records(text, is_whole=source.is_whole)
    if is_lines:
        return Head(Layout.LINES, records=records)
    start = text.lstrip()
    if start[:1] in ("{", "["):
        value = _closed(start)
        if value is not None:
            first = (cast(JsonObject, value),) if isinstance(value, dict) else ()
            return Head(Layout.WHOLE, records=first, value=value, is_one_line="\n" not in start.rstrip())
    if _is_binary(data):
        raise FormatError(f"{source.name}: this is binary data, which is no session file")
    raise FormatError(f"{source.name}: unknown format: this is neither JSON nor lines of JSON")


def _records(text: str, *, is_whole: bool) -> tuple[tuple[JsonObject, ...], bool]:
    """The objects that stand on lines of their own, and whether the text is made of such lines.

    One line alone may be either: it counts as a value, because one value is also a file of one line.
    """
    lines = [line for line in text.split("\n", 4 * _MAX_RECORDS)[: 4 * _MAX_RECORDS] if line.strip()]
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
        return tuple(found[:_MAX_RECORDS]), len(found) > others and not is_inside
    return tuple(found), len(lines) > 1 and len(found) == 1 and text.lstrip()[:1] != "[" and others <= 1


def _objects_on(line: str) -> list[JsonObject]:
    line = line.strip()
    if not line.startswith("{"):
        return []
    try:
        value = msgspec.json.decode(line)
        return [cast(JsonObject, value)] if isinstance(value, dict) else []
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
    cut, closers = 0, ""
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
        else:
            continue
        closers = "".join(reversed(stack))
    try:
        return decoder.decode(text[:cut] + closers)
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
