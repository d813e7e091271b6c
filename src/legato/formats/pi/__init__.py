"""pi sessions."""

from __future__ import annotations

import time

from legato.formats.fields import as_object, as_objects, as_text
from legato.formats.format import FileHome, Format, Outgoing, Placement, Written, WrittenSession, marks, resume_in
from legato.formats.head import Head
from legato.formats.pi.reading import read
from legato.model import JsonObject

_SEPARATORS = str.maketrans("/\\:", "---")
_TYPES = frozenset(
    {"message", "model_change", "thinking_level_change", "compaction", "custom", "custom_message", "branch_summary"}
)


def _detect(head: Head) -> str:
    records = (*head.records, *head.items)
    if records and records[0].get("type") == "session" and "id" in records[0]:
        return "a first record of type session"
    for record in records:
        message = as_object(record.get("message"))
        if as_text(record.get("type")) in _TYPES and message and _is_pi_message(message):
            return "messages with toolCall blocks or toolResult roles"
        if _is_pi_message(record):
            return "a message with api, provider and stopReason"
    return ""


def _is_pi_message(message: JsonObject) -> bool:
    if message.get("role") in ("toolResult", "bashExecution"):
        return True
    return message.get("role") == "assistant" and (
        "stopReason" in message or any(item.get("type") == "toolCall" for item in as_objects(message.get("content")))
    )


def _write(out: Outgoing) -> Written:
    from legato.formats.pi.write import PiWriter

    return PiWriter(out).write()


def _place(session: WrittenSession) -> Placement:
    folder = session.cwd.removeprefix("/").translate(_SEPARATORS)
    began = time.strftime("%Y-%m-%dT%H-%M-%S-000Z", time.gmtime(session.began))
    return Placement(f"--{folder}--/{began}_{session.id}.jsonl", resume_in(session, "pi --session"))


FORMAT = Format(
    name="pi",
    title="pi session",
    known_from="sessions of pi 0.73.1",
    read=read,
    detect=_detect,
    write=_write,
    home=FileHome(
        folder="~/.pi/agent/sessions",
        files="*/*.jsonl",
        moved_by="PI_CODING_AGENT_DIR",
        moves="~/.pi/agent",
        source="https://docs.rs/crate/toolpath-pi/0.2.0",
    ),
    place=_place,
    keeps_compactions=True,
    marks=marks("type id", "type timestamp", "role content"),
    is_lines=True,
    closes_calls=True,  # badlogic/pi-mono, packages/ai/src/providers/transform-messages.ts
)
