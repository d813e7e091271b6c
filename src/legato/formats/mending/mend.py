"""Repair what is broken in a session file or a request body, and nothing else.

A mended file is the same file with one result for every call, where its agent or provider expects it. What was right
keeps its bytes. Results that are inserted say that there is none and are recognised when the file is read again, so a
real result that turns up later still wins. Mending twice changes nothing more.

A mended file is never worse than the original: if it would lose anything, read as a different conversation, or still be
refused, it is withheld together with the reasons, unless the caller insists.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from legato.errors import FormatError, RepairRefused
from legato.formats import registry
from legato.formats.document import Document, Original
from legato.formats.faults import OPEN_CALL
from legato.formats.findings import Finding, lint_document, refused
from legato.formats.format import Mended
from legato.formats.mending.guard import find_losses, still_refused
from legato.formats.patching.records import RawFile


def mend(document: Document, *, force: bool = False) -> Mended:
    """`document` as a file of its own format, repaired.

    Raises `RepairRefused` if there are objections to the mended file; with `force`, the file is returned and has them
    in `losses`. Raises `FormatError` for a format that is only read, and for one conversation out of a file of several.
    """
    known = registry.FORMATS.get(document.format)
    if known is None or known.repair is None:
        can = "read but not written" if known is None or not known.is_written else "written but not repaired"
        raise FormatError(
            f"{document.name}: {document.format} files are {can}; convert it to one of {', '.join(registry.WRITTEN)}"
        )
    if document.original is None:
        raise FormatError(f"{document.name}: it is part of a file that cannot be mended in place; convert it")
    with _within_reach(document):
        mended = _mend(document, document.original)
    if mended.losses and not force:
        raise RepairRefused(_told(document, mended), losses=mended.losses, changes=mended.changes)
    return mended


def rewrite(document: Document, original: Original) -> Mended | None:
    """A session file that its own agent can resume; None if it must be written from the conversation instead."""
    chain = registry.FORMATS[document.format].chain
    with _within_reach(document):
        if chain is None or chain.is_whole(document, original):
            return _mend(document, original)
        made = chain.relink(document, original)
        return None if made is None else _guarded(document, original, made, lint_document(document))


@contextmanager
def _within_reach(document: Document) -> Generator[None]:
    """Refuse what is nested so deeply that it could only just be read, from a place nearer to the limit."""
    try:
        yield
    except RecursionError:
        raise FormatError(f"{document.name}: a value in it is nested too deeply to be repaired") from None


def _mend(document: Document, original: Original) -> Mended:
    """The mended file, checked. A file in which nothing would be refused or left out is returned unchanged."""
    found = lint_document(document)
    known = registry.FORMATS[document.format]
    is_damaged = any(note.is_damage for note in document.notes)
    is_cut = known.leaves_out_calls and any(finding.rule == f"session/{OPEN_CALL.name}" for finding in found)
    if document.format != "legato" and not refused(found) and not is_damaged and not is_cut:
        return Mended.of(RawFile(original).unchanged())
    repair = known.repair
    assert repair is not None  # only files of such formats keep their original
    return _guarded(document, original, repair(document, original), found)


def _guarded(document: Document, original: Original, mended: Mended, found: list[Finding]) -> Mended:
    """A mended file with the complete list of changes, and of objections to it."""
    changes = [*(note for note in document.notes if note.is_damage), *mended.changes]
    against = find_losses(document, original, mended.data, found) if changes else still_refused(found)
    return replace(mended, changes=changes, losses=[*against, *mended.losses])


def _told(document: Document, mended: Mended) -> str:
    if not mended.changes:
        return f"{document.name}: not mended: it would be refused, and there is no known way to mend it"
    count = len(mended.losses)
    things = "1 thing" if count == 1 else f"{count:,} things"
    return (
        f"{document.name}: not mended, because {things} would be lost or broken; nothing was written. "
        "Use `--force -o OUT` to write it anyway"
    )
