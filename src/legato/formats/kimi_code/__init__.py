"""`wire.jsonl`, the sessions of Kimi Code."""

from __future__ import annotations

import re
import shlex
from hashlib import sha256

import msgspec

from legato.formats.fields import as_object, as_text
from legato.formats.format import FileHome, Format, Outgoing, Placement, Written, WrittenSession, marks
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


_HOME = FileHome(
    folder="~/.kimi-code/sessions",
    files="*/*/agents/*/wire.jsonl",
    moved_by="KIMI_CODE_HOME",
    moves="~/.kimi-code",
    source="https://moonshotai.github.io/kimi-code/en/guides/sessions",
)
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")
_LONGEST_NAME = 40
"""characters that Kimi Code takes of the name of a folder"""


def _place(session: WrittenSession) -> Placement:
    own, folder = f"session_{session.id}", session.cwd.rstrip("/")
    name = _NOT_IN_NAMES.sub("-", folder.rpartition("/")[2].lower()).strip("-")[:_LONGEST_NAME].strip("-")
    if name in ("", ".", ".."):
        name = "workspace"
    home = f"wd_{name}_{sha256(folder.encode()).hexdigest()[:12]}/{own}"
    began = round(session.began * 1000)
    state = {
        "id": own,
        "version": 2,
        "cwd": session.cwd,
        "archived": False,
        "agents": {"main": {"homedir": str(_HOME.path / home / "agents/main"), "type": "main"}},
        "custom": {},
        "createdAt": began,
        "updatedAt": began,
        "isCustomTitle": False,
    }
    command = f"cd {shlex.quote(session.cwd)} && kimi --session {own}"
    return Placement(f"{home}/agents/main/wire.jsonl", command, {f"{home}/state.json": msgspec.json.encode(state)})


FORMAT = Format(
    name="kimi-code",
    title="Kimi Code session",
    known_from="sessions of Kimi Code 2.1.0",
    read=read,
    detect=_detect,
    write=_write,
    home=_HOME,
    place=_place,
    keeps_compactions=True,
    provider="kimi",
    marks=marks("type time", "timestamp message", "type protocol_version"),
    is_lines=True,
    closes_calls=True,  # MoonshotAI/kimi-code, packages/agent-core-v2/src/agent/contextMemory/loopEventFold.ts
)
