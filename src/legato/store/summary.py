"""What a list of sessions shows of a log, gathered while it is written.

In:  the records of one append.
Out: the first words a person said in them, and the last route chosen in them, each empty if there is none.

A store keeps the first title and the last route beside the log, so that listing a thousand sessions reads a thousand
rows and no log.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from msgspec import Struct

from legato.errors import StoreCorrupt
from legato.model.entries import Authority, Speaker
from legato.model.ingestion import clean_text
from legato.model.records import Record, Recorded, RouteSelected, TurnBegan
from legato.store.contract import SessionSummary
from legato.store.identity import decode_meta

MAX_TITLE = 80
"""characters; our choice: one line of a list of sessions"""


class LogSummary(Struct, frozen=True):
    """Title and route as far as some records give them."""

    title: str = ""
    route: str = ""


def log_summary_of(records: Iterable[Record]) -> LogSummary:
    """The summary that `records` give."""
    title = route = ""
    for record in records:
        match record:
            case Recorded(entry=entry):
                if not title and entry.speaker is Speaker.HUMAN and entry.authority is Authority.PERSON:
                    title = clean_title(entry.text)
            case RouteSelected() | TurnBegan():
                route = clean_text(record.route)
            case _:
                pass
    return LogSummary(title, route)


def clean_title(text: str) -> str:
    """`text` as one short line that a terminal can show: no control characters, no runs of space, not long."""
    # A long paste must not cost time here: what is cut anyway is never looked at.
    head = text[: MAX_TITLE * 8]
    shown = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in head)
    line = " ".join(shown.split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1].rstrip() + "…"


def summarise(
    session_id: str,
    title: str,
    route: str,
    meta: bytes,
    created: float,
    updated: float,
    records: int,
    parent: str | None,
) -> SessionSummary:
    """The line of a list, from the columns of a row; what the metadata says goes before what the log gave.

    Damaged metadata is as good as none: one session must not hide all the others.
    """
    try:
        known = decode_meta(meta)
    except StoreCorrupt:
        known = {}
    chosen, cwd = known.get("title"), known.get("cwd")
    return SessionSummary(
        id=session_id,
        title=clean_title(chosen) if isinstance(chosen, str) and chosen else title,
        created=created,
        updated=updated,
        records=records,
        route=route,
        cwd=cwd if isinstance(cwd, str) else "",
        parent=parent,
        meta=known,
    )
