"""Put right what is broken in a session file, and nothing else.

A mended file is the same file with every call answered once, directly behind it. What was right keeps its bytes; what
is not understood stays. Closures that are put in say that there is no result, and are recognised when the file is read
again, so a real result that is found later still wins. Mending twice changes nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from legato.errors import FormatError
from legato.formats.document import Document, Note, Original
from legato.formats.registry import FORMATS, WRITTEN


@dataclass(frozen=True, slots=True)
class Mended:
    """A mended file, and what was changed in it: nothing where the list is empty."""

    data: bytes
    changes: list[Note] = field(default_factory=list[Note])


def mend(document: Document) -> Mended:
    """`document` as a file of its own format with what was broken put right.

    Raises `FormatError` for a format that is only read, and for a conversation out of a file that holds several.
    """
    known = FORMATS.get(document.format)
    if known is None or not known.is_written:
        raise FormatError(
            f"{document.name}: {document.format} files are read but not written; "
            f"convert it to one of {', '.join(WRITTEN)}"
        )
    if document.original is None:
        raise FormatError(f"{document.name}: it is part of a file that cannot be mended in place; convert it")
    mended = _mend_session(document, document.original)
    damage = [note for note in document.notes if note.is_damage]
    return Mended(mended.data, [*damage, *mended.changes])


def rewrite(document: Document, original: Original) -> Mended | None:
    """A session file as one that its own agent goes on with; None if that has to be written from the conversation."""
    if document.format == "claude-code":
        from legato.formats.claude_code_mend import rewrite_session

        return rewrite_session(document, original)
    return _mend_session(document, original)


def _mend_session(document: Document, original: Original) -> Mended:
    match document.format:
        case "claude-code":
            from legato.formats.claude_code_mend import mend_session
        case "codex":
            from legato.formats.codex_mend import mend_session
        case "legato":
            from legato.formats.legato_write import mend_session
        case _:
            from legato.formats.wire_mend import mend_body as mend_session
    return mend_session(document, original)
