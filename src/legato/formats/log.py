"""Legato's own log: a header, then a record a line. Nothing is lost in it: everything else is read into it.

Damage is survived as in every file of lines. A record that this program does not know is another matter: it comes from
a newer version, and leaving it out could change what the conversation means, so it is refused by name.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from legato.errors import CodecError, FormatError
from legato.formats.content import Content
from legato.formats.document import Document, FileNote, Original
from legato.formats.fields import NEWEST
from legato.formats.format import Format, Mended, Outgoing, Written, marks
from legato.formats.head import Head
from legato.formats.patching.records import RawFile
from legato.formats.writer_context import tools_told
from legato.model import Record, Speaker
from legato.model.codec import FORMAT as FORMAT_NAME
from legato.model.codec import VERSION, check_header, decode_record, dump_log
from legato.model.records import Recorded, RouteSelected, StepEnded
from legato.transcript.standing import standing


def read(content: Content) -> list[Document]:
    """The log, and the entries that are in it."""
    records: list[Record] = []
    places: list[str] = []
    for index, item in enumerate(content.lines()):
        data = msgspec.json.encode(item.value)
        try:
            if index == 0 and "record" not in item.value:
                check_header(data)
                continue
            records.append(decode_record(data))
        except CodecError as error:
            raise FormatError(f"{content.name}: {item.place}: {error.message}") from None
        places.append(item.place)
    draft = content.draft()
    for seq, record in standing(records):
        if isinstance(record, Recorded):
            entry = record.entry
            # A clock of a test may begin at 0; what is in no calendar cannot be written for an agent.
            draft.at = record.at if record.at is not None and 0 <= record.at <= NEWEST else None
            draft.add(entry, places[seq], seq + 1)
            if entry.speaker is Speaker.AI and entry.origin is not None:
                draft.model = entry.origin.asked or entry.origin.served
                is_known = bool(entry.origin.provider and draft.model)
                draft.route = f"{entry.origin.provider}/{draft.model}" if is_known else ""
        elif isinstance(record, RouteSelected):
            draft.route = record.route
        elif isinstance(record, StepEnded) and record.usage is not None:
            draft.count(record.usage)
    finished = content.finish(draft)[0]
    return [replace(finished, records=records)]


def write(out: Outgoing) -> Written:
    """The log of the conversation, with the times that the file it comes from tells."""
    losses = [FileNote("", tools_told(out.tools))] if out.tools else []
    records = (
        record if record.at is not None else msgspec.structs.replace(record, at=out.written_at(seq))
        for seq, record in enumerate(out.talk.log)
    )
    return Written(b"".join(dump_log(records)), losses)


def repair(document: Document, original: Original) -> Mended:
    """The records that can be read. A log is never repaired: what is missing in it is closed when it is rendered."""
    file = RawFile(original)
    has_header = bool(file.count) and file.value(0).get("format") == FORMAT_NAME
    head = [] if has_header else [{"format": FORMAT_NAME, "version": VERSION}]
    changes = [] if has_header else [FileNote("line 1", "the header was missing; it was put in")]
    return Mended.of(file.write([*head, *range(file.count)]), changes)


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    is_log = bool(head.records) and head.records[0].get("format") == FORMAT_NAME
    return "its first line says legato-log" if is_log else ""


FORMAT = Format(
    name="legato",
    title="Legato log",
    known_from="its own writer",
    read=read,
    detect=_detect,
    write=write,
    repair=repair,
    takes_by="legato import",
    marks=marks("record", "format version"),
    is_lines=True,
)
