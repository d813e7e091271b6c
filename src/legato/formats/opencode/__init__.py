"""opencode sessions."""

from __future__ import annotations

from legato.formats.format import FileHome, Format, Outgoing, Written, marks
from legato.formats.head import Head
from legato.formats.opencode.database import is_store
from legato.formats.opencode.reading import read


def _detect(head: Head) -> str:
    if is_store(head.tables):
        return "tables of sessions, messages and parts"
    for record in (*head.records, *head.items):
        if isinstance(record.get("info"), dict) and (
            isinstance(record.get("messages"), list) or isinstance(record.get("parts"), list)
        ):
            return "info beside messages or parts"
        if "sessionID" in record and ("messageID" in record or record.get("role") in ("user", "assistant")):
            return "a record of opencode's storage"
        if "messageID" in record and "type" in record:
            return "a part of opencode's storage"
    return ""


def _write(out: Outgoing) -> Written:
    from legato.formats.opencode.write import OpencodeWriter

    return OpencodeWriter(out).write()


FORMAT = Format(
    name="opencode",
    title="opencode export or database",
    known_from="sessions of opencode 1.18.33",
    read=read,
    detect=_detect,
    write=_write,
    home=FileHome(
        folder="~/.local/share/opencode",
        files="opencode*.db",
        moved_by="XDG_DATA_HOME",
        moves="~/.local/share",
        source="anomalyco/opencode#22110",
    ),
    takes_by="opencode import",
    marks=marks("info parts"),
    closes_calls=True,  # anomalyco/opencode, packages/opencode/src/session/message-v2.ts
)
