"""Codex rollouts."""

from __future__ import annotations

from legato.formats.codex.reading import read
from legato.formats.codex.skimming import skim
from legato.formats.document import Document, Original
from legato.formats.fields import as_text
from legato.formats.format import FileHome, Format, Mended, Outgoing, Placement, Written, WrittenSession, marks
from legato.formats.head import Head

_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


def _detect(head: Head) -> str:
    for record in head.records:
        if as_text(record.get("type")) in _TYPES and isinstance(record.get("payload"), dict):
            return f"a record of type {record['type']} with a payload"
        if "record_type" in record:
            return "a record_type"
    first = head.records[0].keys() if head.records else set[str]()
    is_old = {"id", "timestamp", "instructions"} <= first and "role" not in first
    return "a first line with id, timestamp and instructions" if is_old else ""


# Writing and repairing take more of the house than reading does, so they are loaded when they are needed.


def _write(out: Outgoing) -> Written:
    from legato.formats.codex.write import write_session

    return write_session(out)


def _place(session: WrittenSession) -> Placement:
    from legato.formats.codex.write import place_session

    return place_session(session)


def _repair(document: Document, original: Original) -> Mended:
    from legato.formats.codex.mend import mend_session

    return mend_session(document, original)


FORMAT = Format(
    name="codex",
    title="Codex rollout",
    known_from="sessions of Codex 0.166.0",
    read=read,
    skim=skim,
    detect=_detect,
    write=_write,
    repair=_repair,
    home=FileHome(
        folder="~/.codex/sessions",
        files="*/*/*/rollout-*.jsonl",
        moved_by="CODEX_HOME",
        moves="~/.codex",
        source="https://github.com/skillsynchq/txcript/blob/main/docs/formats/codex.md",
    ),
    place=_place,
    keeps_compactions=True,
    provider="openai-responses",
    marks=marks("type payload", "record_type", "id timestamp instructions"),
    is_lines=True,
    closes_calls=True,  # openai/codex, codex-rs/core/src/context_manager/normalize.rs
    plain_ids=True,
)
