"""Mend a file in its own format, and write it somewhere new or over itself with a backup beside it.

In:  a session file or a request body.
Out: a `Repaired`: the bytes of the mended file, what was changed, and where it was written.

What mending does and when it refuses is decided in `legato.formats`; here are the files around it. Nothing is written
unless the repair succeeded, and nothing is replaced unless the caller asked for that.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from legato.errors import RepairRefused
from legato.files.sources import PathName, Progress, Source, pick_document
from legato.files.writing import check_destination, keeping, replace_with_backup, save
from legato.formats import Document, FileNote, mend, read_all


class Repaired(Struct, frozen=True, kw_only=True):
    """A mended file. Without `changes` nothing was broken, and `data` is the file as it was."""

    name: str
    data: bytes
    changes: tuple[FileNote, ...] = ()
    losses: tuple[FileNote, ...] = ()
    """what the mended file loses or leaves broken: only where `force` overruled that"""
    output: Path | None = None
    """where it was written, if it was"""
    backup: Path | None = None
    """where the file as it was is kept, if it was replaced"""


def repair(
    source: Source,
    output: PathName | None = None,
    *,
    force: bool = False,
    overwrite: bool = False,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Repaired:
    """`source` mended, in its own format, and written to the new file `output` if one is named.

    `overwrite` replaces an `output` that exists; the source itself is never overwritten (see `repair_in_place`).
    Raises `RepairRefused`, with `losses`, if the mended file would lose something or still be refused; with `force` it
    is made anyway. Raises `FormatError` for what cannot be read, mended or written.
    """
    if output is not None:
        check_destination(output, source=source, overwrite=overwrite)
    repaired = _repaired(_read(source, format=format, name=name, progress=progress), force=force)
    if output is None:
        return repaired
    return replace(repaired, output=save(output, repaired.data, overwrite=overwrite))


def repair_in_place(
    path: PathName,
    *,
    format: str | None = None,  # noqa: A002  # a format is a format
    progress: Progress | None = None,
) -> Repaired:
    """Mend the file at `path` where it is; what it was stays beside it, named `backup` in what is returned.

    A file without anything to mend is not touched. Raises as `repair` does, before anything is written, and
    `FormatError` if somebody else has written to the file meanwhile.
    """
    document = _read(path, format=format, progress=progress)
    repaired = _repaired(document)
    if not repaired.changes:
        return repaired
    with keeping(path):
        backup = replace_with_backup(path, repaired.data, read_as=document.digest)
    return replace(repaired, output=Path(path), backup=backup)


def _read(source: Source, *, format: str | None, name: str = "", progress: Progress | None) -> Document:  # noqa: A002
    documents = read_all(source, format=format, name=name, progress=progress)
    return pick_document(documents, None, advice="they cannot be mended in place; convert them")


def _repaired(document: Document, *, force: bool = False) -> Repaired:
    try:
        mended = mend(document, force=force)
    except RepairRefused as error:
        error.facts.setdefault("name", document.name)
        raise
    return Repaired(name=document.name, data=mended.data, changes=tuple(mended.changes), losses=tuple(mended.losses))
