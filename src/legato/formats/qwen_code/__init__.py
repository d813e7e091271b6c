"""Qwen Code sessions."""

from __future__ import annotations

from legato.formats.fields import as_object, as_text
from legato.formats.format import (
    FileHome,
    Format,
    Outgoing,
    Placement,
    Written,
    WrittenSession,
    marks,
    project_folder,
    resume_in,
)
from legato.formats.head import Head
from legato.formats.qwen_code.reading import read
from legato.model import JsonObject

_TYPES = frozenset({"user", "assistant", "tool_result", "system"})


def _detect(head: Head) -> str:
    records = (*head.records, *head.items)
    return "records with uuid, parentUuid and parts" if any(map(_is_record, records)) else ""


def _is_record(record: JsonObject) -> bool:
    if as_text(record.get("type")) not in _TYPES or "uuid" not in record or "parentUuid" not in record:
        return False
    return "parts" in as_object(record.get("message")) or "systemPayload" in record


def _write(out: Outgoing) -> Written:
    from legato.formats.qwen_code.write import QwenWriter

    return QwenWriter(out).write()


def _place(session: WrittenSession) -> Placement:
    return Placement(f"{project_folder(session.cwd)}/chats/{session.id}.jsonl", resume_in(session, "qwen --resume"))


FORMAT = Format(
    name="qwen-code",
    title="Qwen Code session",
    known_from="sessions of Qwen Code 0.15.10 and 0.24.4",
    read=read,
    detect=_detect,
    write=_write,
    home=FileHome(
        folder="~/.qwen/projects",
        files="*/chats/*.jsonl",
        moved_by="QWEN_HOME",
        moves="~/.qwen",
        source="https://qwenlm.github.io/qwen-code-docs/en/users/features/headless/",
    ),
    place=_place,
    keeps_compactions=True,
    marks=marks("type uuid", "type sessionId", "type message"),
    is_lines=True,
    closes_calls=True,  # as Qwen Code 0.24.4 does: "Tool execution result was not recorded"
)
