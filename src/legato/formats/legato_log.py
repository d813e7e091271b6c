"""Read Legato's own log: a header, then a record a line.

Damage is survived as in every file of lines. A record that this program does not know is another matter: it comes from
a newer version, and leaving it out could change what the conversation means, so it is refused by name.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from legato.errors import CodecError, FormatError
from legato.formats.content import Content
from legato.formats.document import Document
from legato.model import Record, Speaker
from legato.model.codec import check_header, decode_record
from legato.model.records import Recorded, RouteSelected
from legato.transcript.standing import standing


def read(content: Content) -> list[Document]:
    """The log, and the entries that stand in it."""
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
            draft.entries.append(entry)
            draft.places.append(places[seq])
            draft.sources.append(seq + 1)
            if entry.speaker is Speaker.AI and entry.origin is not None:
                draft.model = entry.origin.asked or entry.origin.served
                is_known = bool(entry.origin.provider and draft.model)
                draft.route = f"{entry.origin.provider}/{draft.model}" if is_known else ""
        elif isinstance(record, RouteSelected):
            draft.route = record.route
    finished = content.finish(draft)[0]
    return [replace(finished, records=records)]
