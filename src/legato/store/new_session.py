"""A session that is about to be stored for the first time, checked and encoded before any database is asked."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from legato.model.jsonvalue import JsonObject
from legato.model.records import Record
from legato.store.checksums import Row, rows_of_records
from legato.store.identity import encode_meta, merge_meta, usable_session_id
from legato.store.summary import LogSummary, log_summary_of


class NewSession(Struct, frozen=True):
    """Everything that goes into a database for a new session."""

    id: str
    meta: bytes
    rows: Sequence[Row]
    summary: LogSummary
    parent: str | None


def prepare_session(
    session_id: str | None, meta: JsonObject | None, *, records: Sequence[Record], parent: str | None
) -> NewSession:
    """What `Store.create` was asked for; raises `UnsafeName` or `CallerError` where it cannot be."""
    return NewSession(
        id=usable_session_id(session_id),
        meta=encode_meta(merge_meta({}, meta or {})),
        rows=rows_of_records(records, 0),
        summary=log_summary_of(records),
        parent=None if parent is None else usable_session_id(parent),
    )
