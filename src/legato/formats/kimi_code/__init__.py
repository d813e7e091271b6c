"""`wire.jsonl`, the sessions of Kimi Code."""

from __future__ import annotations

from legato.formats.fields import as_object, as_text
from legato.formats.format import FileHome, Format, Outgoing, Written, marks
from legato.formats.head import Head
from legato.formats.kimi_code.reading import read
from legato.model import JsonObject


def _detect(head: Head) -> str:
    records = (*head.records, *head.items)
    first = records[0] if records else {}
    if first.get("type") == "metadata" and "protocol_version" in first:
        return "metadata with a protocol_version"
    return next((f"a record of type {kind}" for kind in map(_kind, records) if kind), "")


def _kind(record: JsonObject) -> str:
    kind = as_text(record.get("type"))
    if kind in ("context.append_message", "context.append_loop_event"):
        return kind
    event = as_object(record.get("message"))
    is_event = "timestamp" in record and isinstance(event.get("payload"), dict)
    return as_text(event.get("type")) if is_event and not kind else ""


def _write(out: Outgoing) -> Written:
    from legato.formats.kimi_code.write import KimiWriter

    return KimiWriter(out).write()


FORMAT = Format(
    name="kimi-code",
    title="Kimi Code session",
    read=read,
    detect=_detect,
    write=_write,
    home=FileHome(
        folder="~/.kimi-code/sessions",
        files="*/*/agents/*/wire.jsonl",
        moved_by="KIMI_CODE_HOME",
        moves="~/.kimi-code",
        source="https://moonshotai.github.io/kimi-code/en/guides/sessions",
    ),
    provider="kimi",
    marks=marks("type time", "timestamp message", "type protocol_version"),
    is_lines=True,
)
