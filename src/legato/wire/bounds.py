"""How large an answer may become before it is refused.

A model stops by itself; a broken or hostile server need not. No provider documents how large its answers may be, so
every number here is our choice, far beyond what any of them sends; what goes beyond it raises `BadAnswer`, so that a
turn fails, another route is asked, and the session lives on. Time has its own limits, in `transport`.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from legato.errors import BadAnswer, IngestError
from legato.model import Json, read_json_leniently
from legato.model.ingestion import MAX_NODES, load_json

_Count = Annotated[int, Meta(ge=1)]
_KIB, _MIB = 1024, 1024 * 1024


class Bounds(Struct, frozen=True, forbid_unknown_fields=True):
    """How large an answer may become. Sizes are bytes as they are read, after they were decompressed.

    A stream may be much longer than a body that says the same: each token comes in an event of its own, and some
    providers repeat the whole answer at the end. An event can hold a picture.
    """

    stream: _Count = 128 * _MIB
    """bytes of a streamed answer"""
    event: _Count = 32 * _MIB
    """bytes of one event of a stream, and of one line"""
    body: _Count = 64 * _MIB
    """bytes of an answer that comes whole"""
    refusal: _Count = 256 * _KIB
    """bytes of a refusal that are looked at; the rest is left where it is"""
    blocks: _Count = 10_000
    """texts, thoughts, calls and media in one answer"""
    calls: _Count = 1_000
    """tool calls in one answer"""

    def allow(self, *, blocks: int, calls: int) -> None:
        """Raise `BadAnswer` if an answer may not have so many `blocks`, `calls` among them."""
        if calls > self.calls:
            raise beyond(f"it has more than {self.calls:,} tool calls", bound="calls", limit=self.calls)
        if blocks > self.blocks:
            raise beyond(f"it has more than {self.blocks:,} blocks", bound="blocks", limit=self.blocks)


def beyond(what: str, *, bound: str, limit: int) -> BadAnswer:
    """The error for an answer that goes beyond the `limit` that `bound`, a field of `Bounds`, sets."""
    return BadAnswer(f"{what} (the limit is bounds.{bound})", layer="decode", bound=bound, limit=limit)


def read_bounded_json(data: bytes | str) -> Json:
    """The JSON value in an answer; raises `IngestError` if there is none, or one with more parts than can be recorded.

    Those are refused before they are parsed: a value of many small parts takes thirty times the memory of its text.
    """
    if len(data) > _MOST_PARTS:
        _allow_parts(data)
    return read_json_leniently(data)


def load_bounded_json(data: bytes | str) -> Json:
    """The same as it is, for a reader that ingests the parts that it keeps."""
    if len(data) > _MOST_PARTS:
        _allow_parts(data)
    return load_json(data)


_MOST_PARTS = 2 * MAX_NODES
"""commas and brackets: twice as many as a value may have parts, because some of them are in texts"""


def _allow_parts(data: bytes | str) -> None:
    if _parts(data) > _MOST_PARTS:
        raise IngestError(f"JSON of more than {MAX_NODES:,} parts")


def _parts(data: bytes | str) -> int:
    if isinstance(data, bytes):
        return data.count(b",") + data.count(b"[") + data.count(b"{")
    return data.count(",") + data.count("[") + data.count("{")
