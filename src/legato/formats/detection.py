"""Which format a file is in, told from its first records, or from the value that it is.

In:  the head of a file.
Out: the name of a format and the evidence for it; None if nothing fits.

Each format looks for shapes that only its own program writes; see `detect` in its record.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.formats.fields import as_list
from legato.formats.head import Head, Layout
from legato.formats.registry import FORMATS
from legato.formats.wire.shapes import wire_format
from legato.model import JsonObject


class Detected(NamedTuple):
    """A format, and why a file is taken to be in it."""

    format: str
    reason: str


def detect_head(head: Head) -> Detected | None:
    """The format of a file that begins with `head`."""
    for known in FORMATS.values():
        if known.detect is not None and (reason := known.detect(head)):
            return Detected(known.name, reason)
    if head.layout is Layout.LINES:
        return None
    value = head.value
    body: JsonObject = {"messages": as_list(value)} if isinstance(value, list) else head.holder
    found = wire_format(body)
    return Detected(*found) if found else None
