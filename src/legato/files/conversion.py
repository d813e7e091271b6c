"""Carry a conversation from any format to a request body or to a session file of another agent.

In:  a file, and what to make of it: a provider or route (`anthropic`, `groq/llama-3.3-70b-versatile`), or a kind of
     session file (`claude-code`, `codex`, `legato`).
Out: a `Converted`: the bytes, and a report on everything that was closed, moved, renamed or left out on the way.

A request body is one that the provider accepts, whatever was missing in the file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.diagnostics import Redactor, report_json
from legato.errors import FormatError
from legato.files.sources import PathName, Progress, Source, pick_document
from legato.files.wording import in_words
from legato.files.writing import check_destination, save
from legato.formats import FORMATS, Document, FileNote, read_all, request_for, targets, write
from legato.formats.format import Setting, WrittenSession
from legato.formats.targets import find_target
from legato.model import JsonObject


class Converted(Struct, frozen=True, kw_only=True):
    """One conversation in its new form.

    `notes` are on what was not understood in the file, `losses` on what the new form has no place for.
    `report` has all of them, and every decision about the conversation, as JSON without secrets.
    """

    name: str
    target: str
    data: bytes
    notes: tuple[FileNote, ...]
    losses: tuple[FileNote, ...]
    report: JsonObject
    changes: tuple[str, ...] = ()
    """what was closed, put in, dropped or told in another way to make a request body, each in a few words"""
    session: WrittenSession | None = None
    """what a session file says of itself: `install` goes by it"""
    output: Path | None = None
    """where it was written, if it was"""


def convert(
    source: Source,
    target: str,
    *,
    model: str | None = None,
    compacted: bool = False,
    pick: int | None = None,
    output: PathName | None = None,
    overwrite: bool = False,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Converted:
    """The conversation in `source` as `target`, written to the new file `output` if one is named.

    `model` is the model that a request body is for; `compacted` leaves out what the file's own agent had already
    summarised. A session file keeps the times and the folder of its conversation, or has those of now and here. `pick`
    is the number, from 1, of the conversation in a file that holds several. `overwrite` replaces an `output` that
    exists, but never the source. Raises `UnknownTarget`, `SeveralConversations`, `FormatError` for what cannot be read
    or written, `ImpossibleRequest` for what the target cannot be asked at all.
    """
    check_target(target, model=model)
    if output is not None:
        check_destination(output, source=source, overwrite=overwrite)
    documents = read_all(source, format=format, name=name, progress=progress)
    converted = convert_document(pick_document(documents, pick), target, model=model, compacted=compacted)
    if output is None:
        return converted
    return replace(converted, output=save(output, converted.data, overwrite=overwrite))


def convert_all(
    source: Source,
    target: str,
    *,
    model: str | None = None,
    compacted: bool = False,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Iterator[Converted]:
    """Every conversation in `source` that holds anything, as a request body for `target`, one after the other.

    Raises as `convert` does: what is wrong with the target or the file at once, what is wrong with one conversation
    when it is its turn.
    """
    check_target(target, model=model)
    if target in targets.FILES:
        raise FormatError(f"a session file holds one conversation; convert them to {target} one by one")
    documents = read_all(source, format=format, name=name, progress=progress)
    return (
        convert_document(document, target, model=model, compacted=compacted)
        for document in documents
        if document.entries
    )


def check_target(target: str, *, model: str | None) -> None:
    """Say what is wrong with a target before a large file is read; raises `UnknownTarget` or `FormatError`."""
    if target not in targets.FILES:
        find_target(target, model=model)
    elif model:
        raise FormatError(f"a model is for request bodies, and {target} is a session file")


def convert_document(
    document: Document, target: str, *, model: str | None = None, compacted: bool = False
) -> Converted:
    """One conversation as `target`; raises as `convert` does."""
    changes: tuple[str, ...] = ()
    session: WrittenSession | None = None
    told: JsonObject
    if target in targets.FILES:
        if document.is_empty:
            raise FormatError(f"{document.name}: there is no conversation in it, so there is nothing to convert")
        written = write(document, target, setting=Setting(str(Path.cwd()), time.time()), compacted=compacted)
        data, losses, session, told = written.data, written.losses, written.session, {"format": target}
    else:
        chosen = find_target(target, model=model, document=document)
        request, losses = request_for(document, chosen, compacted=compacted)
        data = request.json() + b"\n"
        changes = tuple(in_words(request.report.decisions))
        told = {**report_json(request.report), "risky": msgspec.to_builtins(request.check())}
    described = {"name": document.name, "format": document.format, "entries": len(document.entries), **document.meta}
    report: JsonObject = {
        "input": described,
        "to": target,
        **told,
        "not_carried": msgspec.to_builtins([*document.not_carried, *losses]),
    }
    return Converted(
        name=document.name,
        target=target,
        data=data,
        notes=tuple(document.notes),
        losses=tuple(losses),
        report=cast(JsonObject, Redactor().value(report)),
        changes=changes,
        session=session,
    )


# --- where its agent looks --------------------------------------------------------------------------------------------


class Installed(Struct, frozen=True, kw_only=True):
    """A session file where its agent looks for it, and the command that goes on with it."""

    path: Path
    resume: str


def install(converted: Converted) -> Installed:
    """Put a session file where its agent looks for sessions.

    Nothing is ever replaced. Raises `FormatError` if that agent keeps its sessions elsewhere than in files, if the
    session does not say which one it is, or if the file is there already.
    """
    known = FORMATS.get(converted.target)
    if known is not None and known.takes_by:
        raise FormatError(
            f"{known.name} has no place for files; write one with -o OUT, and take it with `{known.takes_by} OUT`"
        )
    if known is None or known.place is None or known.home is None:
        able = ", ".join(known.name for known in FORMATS.values() if known.place is not None)
        raise FormatError(f"{converted.target} has no place where files can just be put; those that have are {able}")
    if converted.session is None:
        raise FormatError(f"{converted.name}: this session has no id or folder by which {known.title} could be filed")
    placed = known.place(converted.session)
    path = known.home.path / placed.path
    if os.path.lexists(path):
        raise FormatError(f"{path}: this file exists already, and is not replaced; `{placed.resume}` goes on with it")
    for name, data in {**placed.beside, placed.path: converted.data}.items():
        file = known.home.path / name
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        save(file, data, overwrite=False)
    return Installed(path=path, resume=placed.resume)
