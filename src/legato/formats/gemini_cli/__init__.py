"""Gemini CLI chats."""

from __future__ import annotations

import time
from hashlib import sha256
from pathlib import Path

from legato.formats.fields import as_objects, as_text
from legato.formats.format import FileHome, Format, Outgoing, Placement, Written, WrittenSession, marks, resume_in
from legato.formats.gemini_cli.reading import read
from legato.formats.head import Head


def _detect(head: Head) -> str:
    for record in head.records:
        if "$set" in record or "$rewindTo" in record:
            return "records with $set or $rewindTo"
        if "projectHash" in record and "sessionId" in record:
            return "a projectHash and a sessionId"
        if record.get("type") == "gemini" and "content" in record and "id" in record:
            return "a record of type gemini"
    if head.items and all("parts" in item and "role" in item for item in head.items):
        return "contents with parts"
    if any("parts" in item and "role" in item for item in as_objects(head.holder.get("history"))):
        return "a history of contents"
    kinds = (as_text(item.get("type")) for item in as_objects(head.holder.get("messages")))
    return next((f"messages of type {kind}" for kind in kinds if kind in ("gemini", "model")), "")


def _write(out: Outgoing) -> Written:
    from legato.formats.gemini_cli.write import GeminiWriter

    return GeminiWriter(out).write()


_HOME = FileHome(
    folder="~/.gemini/tmp",
    files="*/chats/*.json*",
    source="https://geminicli.com/docs/cli/session-management",
)


def _place(session: WrittenSession) -> Placement:
    # Times without colons, in the names of files.
    began = time.strftime("%Y-%m-%dT%H-%M", time.gmtime(session.began))
    folder = next(filter(lambda known: _owner(known) == session.cwd, sorted(_HOME.path.glob("*/.project_root"))), None)
    # A project that Gemini CLI does not know yet: what stands under the digest of its folder is taken over.
    name = folder.parent.name if folder is not None else sha256(session.cwd.encode()).hexdigest()
    return Placement(f"{name}/chats/session-{began}-{session.id[:8]}.jsonl", resume_in(session, "gemini --resume"))


def _owner(marker: Path) -> str:
    """The folder that a name stands for."""
    try:
        return marker.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


FORMAT = Format(
    name="gemini-cli",
    title="Gemini CLI chat",
    known_from="sessions of Gemini CLI 0.61.0",
    read=read,
    detect=_detect,
    write=_write,
    home=_HOME,
    place=_place,
    provider="gemini",
    marks=marks("$set", "$rewindTo", "sessionId projectHash", "id type"),
    is_lines=True,
)
