"""Write Legato's own log: nothing is lost, because it is what everything else is read into."""

from __future__ import annotations

from legato.formats.document import Document, Note, Original
from legato.formats.mended import Mended
from legato.formats.raw_files import RawFile
from legato.formats.writing import Outgoing, Written
from legato.model.codec import FORMAT, VERSION, dump_log


def write_log(out: Outgoing) -> Written:
    """The log of the conversation."""
    losses = [Note("", f"{len(out.tools)} tool definitions: a log holds none")] if out.tools else []
    return Written(b"".join(dump_log(out.talk.log)), losses)


def mend_session(document: Document, original: Original) -> Mended:
    """The records that can be read. A log is never repaired: what is missing in it is closed when it is rendered."""
    file = RawFile(original)
    has_header = bool(file.count) and file.value(0).get("format") == FORMAT
    head = [] if has_header else [{"format": FORMAT, "version": VERSION}]
    changes = [] if has_header else [Note("line 1", "the header was missing; it was put in")]
    return Mended(file.write([*head, *range(file.count)]), changes)
