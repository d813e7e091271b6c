"""Carry a conversation from any format to a request body or to a session file of another agent.

In:  a file, and what to make of it: a provider or route (`anthropic`, `groq/llama-3.3-70b-versatile`), or a kind of
     session file (`claude-code`, `codex`, `legato`).
Out: a `Converted`: the bytes, and a report on everything that was closed, moved, renamed or left out on the way.

A request body is one that the provider accepts, whatever was missing in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.diagnostics import Redactor, report_json
from legato.errors import FormatError
from legato.files.sources import PathName, Progress, Source, pick_document
from legato.files.writing import check_destination, save
from legato.formats import Document, FileNote, read_all, request_for, targets, write
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

    `model` is the model that a request body is for; `compacted` leaves out of it what the file's own agent had already
    summarised. `pick` is the number, from 1, of the conversation in a file that holds several. `overwrite` replaces an
    `output` that exists, but never the source. Raises `UnknownTarget`, `SeveralConversations`, `FormatError` for what
    cannot be read or written, `ImpossibleRequest` for what the target cannot be asked at all.
    """
    check_target(target, model=model, compacted=compacted)
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
    check_target(target, model=model, compacted=compacted)
    if target in targets.FILES:
        raise FormatError(f"a session file holds one conversation; convert them to {target} one by one")
    documents = read_all(source, format=format, name=name, progress=progress)
    return (
        convert_document(document, target, model=model, compacted=compacted)
        for document in documents
        if document.entries
    )


def check_target(target: str, *, model: str | None, compacted: bool) -> None:
    """Say what is wrong with a target before a large file is read; raises `UnknownTarget` or `FormatError`."""
    if target not in targets.FILES:
        find_target(target, model=model)
    elif model or compacted:
        raise FormatError(f"model and compacted are for request bodies, and {target} is a session file")


def convert_document(
    document: Document, target: str, *, model: str | None = None, compacted: bool = False
) -> Converted:
    """One conversation as `target`; raises as `convert` does."""
    data, told, losses = (
        _session_file(document, target)
        if target in targets.FILES
        else _request_body(document, target, model, compacted)
    )
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
    )


def _request_body(
    document: Document, name: str, model: str | None, compacted: bool
) -> tuple[bytes, JsonObject, Sequence[FileNote]]:
    request, losses = request_for(document, find_target(name, model=model, document=document), compacted=compacted)
    told = {**report_json(request.report), "risky": msgspec.to_builtins(request.check())}
    return request.json() + b"\n", told, losses


def _session_file(document: Document, format_: str) -> tuple[bytes, JsonObject, Sequence[FileNote]]:
    written = write(document, format_)
    return written.data, {"format": format_}, written.losses
