"""Which format a file is in, told from its first records, from those further down, or from the value that it is.

In:  the head of a file, and the file to look through where its head does not decide.
Out: the name of a format and the evidence for it; None if nothing fits.

Each format looks for shapes that only its own program writes; see `detect` in its record. A file of lines may begin
with any number of records that say nothing, so all of them are looked at, a few at a time. What many programs write
(see `resembles`) counts only when that has shown nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from legato.errors import FormatError
from legato.formats.fields import as_list
from legato.formats.format import Format
from legato.formats.head import MAX_RECORDS, Head, Layout
from legato.formats.lines import Line, LineReader, Marks
from legato.formats.registry import FORMATS
from legato.formats.sources import Source
from legato.formats.wire.shapes import wire_format
from legato.model import JsonObject

_MAX_BYTES = 8 * 1024 * 1024
"""bytes of records that are looked at together: our choice, a few images"""


class Detected(NamedTuple):
    """A format, and why a file is taken to be in it."""

    format: str
    reason: str


def detect_format(source: Source, head: Head) -> Detected | None:
    """The format of the file that begins with `head`: by what only one program writes, else by what many write."""
    found = detect_head(head)
    if found is not None or head.layout is not Layout.LINES:
        return found
    resembling = _resembling(head)
    return _detect_further(source, resembling) or resembling


def detect_head(head: Head) -> Detected | None:
    """The format that `head` shows."""
    for known in FORMATS.values():
        if known.detect is not None and (reason := known.detect(head)):
            return Detected(known.name, reason)
    found = None if head.layout is Layout.LINES else wire_format(head_body(head))
    return Detected(*found) if found else None


def head_body(head: Head) -> JsonObject:
    """The request body that a file of one value may be."""
    value = head.value
    return {"messages": as_list(value)} if isinstance(value, list) else head.holder


def _resembling(head: Head) -> Detected | None:
    for known in FORMATS.values():
        if known.resembles is not None and (reason := known.resembles(head)):
            return Detected(known.name, reason)
    return None


def _detect_further(source: Source, resembling: Detected | None) -> Detected | None:
    """The format that a file of lines shows further down.

    If the file resembles another, most records there have to fit: one that is odd does not make all others so.
    """
    for head in _heads(source):
        found = detect_head(head)
        if found is not None and (resembling is None or _fits_most(FORMATS[found.format], head)):
            return found
    return None


def _heads(source: Source) -> Iterator[Head]:
    """A file of lines, some records at a time, each time with its first one, which may say what the others are."""
    records: list[JsonObject] = []
    size = 0
    for line in lines_of(source):
        records.append(line.value)
        size += len(line.raw.data)
        if len(records) > MAX_RECORDS or size > _MAX_BYTES:
            yield Head(Layout.LINES, records=tuple(records))
            records, size = records[:1], 0
    if len(records) > 1:
        yield Head(Layout.LINES, records=tuple(records))


def lines_of(source: Source) -> Iterator[Line]:
    """The records of a file of lines, only to look at, up to where so many cannot be read that it is none."""
    with suppress(FormatError):
        yield from LineReader(source.scan(), Marks(), name=source.name)


def _fits_most(known: Format, head: Head) -> bool:
    return 2 * sum(map(known.marks.fit, head.records)) >= len(head.records)
