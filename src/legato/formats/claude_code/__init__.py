"""Claude Code sessions."""

from __future__ import annotations

from legato.formats.claude_code.reading import read
from legato.formats.claude_code.skimming import skim
from legato.formats.document import Document, Original
from legato.formats.fields import as_objects, as_text
from legato.formats.format import Chain, FileHome, Format, Mended, Outgoing, Placement, Written, WrittenSession, marks
from legato.formats.head import Head
from legato.model import JsonObject

_TYPES = frozenset({"user", "assistant", "system", "summary", "attachment", "progress", "file-history-snapshot"})


def _detect(head: Head) -> str:
    if any(map(_is_record, (*head.records, *head.items))):
        return "records with uuid and parentUuid"
    return "loglines" if as_objects(head.holder.get("loglines")) else ""


def _is_record(record: JsonObject) -> bool:
    kind, message = as_text(record.get("type")), record.get("message")
    if kind not in _TYPES or "systemPayload" in record:
        return False
    if isinstance(message, dict):
        return kind in ("user", "assistant") and "content" in message and "role" in message
    return "leafUuid" in record or ("uuid" in record and ("parentUuid" in record or "sessionId" in record))


# Writing and repairing take more of the house than reading does, so they are loaded when they are needed.


def _write(out: Outgoing) -> Written:
    from legato.formats.claude_code.write import write_session

    return write_session(out)


def _place(session: WrittenSession) -> Placement:
    from legato.formats.claude_code.write import place_session

    return place_session(session)


def _repair(document: Document, original: Original) -> Mended:
    from legato.formats.claude_code.mend import mend_session

    return mend_session(document, original)


def _is_whole(document: Document, original: Original) -> bool:
    from legato.formats.claude_code.mend import has_chain

    return has_chain(document, original)


def _relink(document: Document, original: Original) -> Mended | None:
    from legato.formats.claude_code.mend import relink_session

    return relink_session(document, original)


FORMAT = Format(
    name="claude-code",
    title="Claude Code session",
    known_from="sessions of Claude Code 2.1.197 and 2.1.325",
    read=read,
    skim=skim,
    detect=_detect,
    write=_write,
    repair=_repair,
    chain=Chain(_is_whole, _relink),
    home=FileHome(
        folder="~/.claude/projects",
        files="*/*.jsonl",
        moved_by="CLAUDE_CONFIG_DIR",
        moves="~/.claude",
        source="https://code.claude.com/docs/en/claude-directory",
    ),
    place=_place,
    keeps_compactions=True,
    provider="anthropic",
    marks=marks("type uuid", "type sessionId", "type message", "leafUuid"),
    is_lines=True,
    leaves_out_calls=True,  # as Claude Code 2.1.197 does when it goes on with a session
    plain_ids=True,
)
