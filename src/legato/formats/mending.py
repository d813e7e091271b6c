"""Put right what is broken in a session file or a request body, and nothing else.

A mended file is the same file with every call answered once, where its agent or provider wants the answer. What was
right keeps its bytes. Closures that are put in say that there is no result, and are recognised when the file is read
again, so a real result that is found later still wins. Mending twice changes nothing more.

A mended file is never worse than it was: where it would lack anything, read as another conversation, or still be
refused, it is withheld, with what speaks against it, unless the caller wants it all the same.
"""

from __future__ import annotations

from legato.errors import FormatError, RepairRefused
from legato.formats.document import Document, Original
from legato.formats.findings import Finding, lint, refused
from legato.formats.guard import find_losses, still_refused
from legato.formats.mended import Mended
from legato.formats.raw_files import RawFile
from legato.formats.registry import FORMATS, WRITTEN


def mend(document: Document, *, force: bool = False) -> Mended:
    """`document` as a file of its own format with what was broken put right.

    Raises `RepairRefused` if anything speaks against the mended file; with `force`, it is returned with that in
    `losses`. Raises `FormatError` for a format that is only read, and for a conversation out of a file that holds
    several.
    """
    known = FORMATS.get(document.format)
    if known is None or not known.is_written:
        raise FormatError(
            f"{document.name}: {document.format} files are read but not written; "
            f"convert it to one of {', '.join(WRITTEN)}"
        )
    if document.original is None:
        raise FormatError(f"{document.name}: it is part of a file that cannot be mended in place; convert it")
    mended = _mend(document, document.original)
    if mended.losses and not force:
        raise RepairRefused(_told(document, mended), losses=mended.losses, changes=mended.changes)
    return mended


def rewrite(document: Document, original: Original) -> Mended | None:
    """A session file as one that its own agent goes on with; None if that has to be written from the conversation."""
    if document.format != "claude-code":
        return _mend(document, original)
    from legato.formats.claude_code_mend import has_chain, relink_session

    if has_chain(document, original):
        return _mend(document, original)
    made = relink_session(document, original)
    return None if made is None else _guarded(document, original, made, lint(document))


def _mend(document: Document, original: Original) -> Mended:
    """The mended file, guarded. One in which nothing would be refused is the file as it is."""
    found = lint(document)
    if document.format != "legato" and not refused(found):
        return Mended(RawFile(original).unchanged())
    match document.format:
        case "claude-code":
            from legato.formats.claude_code_mend import mend_session
        case "codex":
            from legato.formats.codex_mend import mend_session
        case "legato":
            from legato.formats.legato_write import mend_session
        case _:
            from legato.formats.wire_mend import mend_body as mend_session
    return _guarded(document, original, mend_session(document, original), found)


def _guarded(document: Document, original: Original, mended: Mended, found: list[Finding]) -> Mended:
    """A mended file with all that was changed in it, and all that speaks against it."""
    changes = [*(note for note in document.notes if note.is_damage), *mended.changes]
    against = find_losses(document, original, mended.data, found) if changes else still_refused(found)
    return Mended(mended.data, changes, [*mended.losses, *against])


def _told(document: Document, mended: Mended) -> str:
    if not mended.changes:
        return f"{document.name}: not mended: it would be refused, and no way is known to mend it"
    count = len(mended.losses)
    things = "1 thing" if count == 1 else f"{count:,} things"
    return (
        f"{document.name}: not mended: {things} would be lost or wrong in the mended file, so it is withheld; "
        "`--force -o OUT`, or `mend(..., force=True)`, gives it all the same"
    )
