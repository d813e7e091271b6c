"""Conversations as HTML pages that need no network.

In:  a file, or a folder of them.
Out: one page that holds everything; or a folder with a page for each session and a list of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from legato.diagnostics import Redactor
from legato.errors import FormatError, ImpossibleRequest, LegatoError, RenderError, UnknownTarget
from legato.files.folders import session_files
from legato.files.html.folder_list import INDEX, PageNames, list_page
from legato.files.html.page_writing import PageSummary, PageWriter
from legato.files.inspection import render_document
from legato.files.linting import Unread
from legato.files.sources import PathName, Progress, Source, has_main, pick_document
from legato.files.writing import check_destination, keeping, write_whole
from legato.formats import Document, read_all
from legato.formats.targets import find_target


def page(
    source: Source,
    *,
    target: str | None = None,
    pick: int | None = None,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> str:
    """The conversation in `source` beside the request that is made of it, as one HTML page without secrets.

    `target` is where the request goes, by default the provider that the file was written for; `pick` is the number,
    from 1, of the conversation in a file that holds several. Raises as `inspect` does, and, with a `target`, as
    `convert` does for a conversation that cannot be rendered for it. `write_page` does not hold the page in memory.
    """
    documents = _read(source, target, format=format, name=name, progress=progress)
    return b"".join(page_writer(documents, source, target=target, pick=pick).pieces()).decode()


def write_page(
    source: Source,
    output: PathName,
    *,
    target: str | None = None,
    pick: int | None = None,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PageSummary:
    """Write the page of `page` into the file `output`; what is on it.

    The file appears when it is whole. Raises `FormatError`, too, for an `output` that cannot be written or, without
    `overwrite`, exists.
    """
    check_destination(output, source=source, overwrite=overwrite)
    documents = _read(source, target, format=format, name=name, progress=progress)
    writer = page_writer(documents, source, target=target, pick=pick)
    with keeping(output):
        write_whole(output, writer.pieces())
    return writer.summary


def page_writer(
    documents: Sequence[Document],
    source: Source,
    *,
    target: str | None = None,
    pick: int | None = None,
    option: str = "pick",
    advice: str = "choose one with pick=N",
) -> PageWriter:
    """Who writes the page of one of `documents`, which were read from `source`, with the subagents of it."""
    document = pick_document(documents, pick, option=option, advice=advice)
    sides: list[Document] = []
    if document is documents[0] and (has_main(documents) or len(documents) == 1):
        sides = [*documents[1:], *_beside(source, document)]
    try:
        request, unsent = render_document(document, target), ""
    except (RenderError, ImpossibleRequest) as error:
        if target is not None:
            raise
        # Nobody has asked for a request: what is wrong with it is worth a look at the conversation.
        request, unsent = None, Redactor().text(error.message)
    return PageWriter(document, request, sides, target=target, unsent=unsent)


def _read(
    source: Source,
    target: str | None,
    *,
    format: str | None,  # noqa: A002
    name: str,
    progress: Progress | None,
) -> list[Document]:
    if target is not None:
        find_target(target)  # says what is wrong with a name before a large file is read
    return read_all(source, format=format, name=name, progress=progress)


def _beside(source: Source, document: Document) -> list[Document]:
    """The subagents of a Claude Code session, which newer versions keep in files of their own.

    For `SESSION.jsonl` they are in `SESSION/subagents/agent-*.jsonl`.
    """
    if document.format != "claude-code" or not isinstance(source, str | os.PathLike):
        return []
    found: list[Document] = []
    for path in sorted((Path(source).with_suffix("") / "subagents").glob("agent-*.jsonl")):
        try:
            side = read_all(path)[0]
        except FormatError:
            continue  # the session itself can be shown without it
        side.meta["sidechain"] = path.stem.removeprefix("agent-")
        found.append(side)
    return found


# --- a folder ---------------------------------------------------------------------------------------------------------


class FolderPages(Struct, frozen=True, kw_only=True):
    """What became of the files of a folder."""

    index: Path
    """the list of the pages"""
    pages: tuple[PageSummary, ...]
    unread: tuple[Unread, ...]
    """files that have no page, and why"""


def write_pages(
    folder: PathName, output: PathName, *, target: str | None = None, overwrite: bool = False
) -> FolderPages:
    """Write a page for each session below `folder` into the folder `output`, which is made, and a list of them.

    Files that hold no conversation are passed over and named in the result. Raises `FormatError` if `folder` cannot be
    read or holds no files that could be sessions, if `output` cannot be written, or, without `overwrite`, if it holds a
    list already.
    """
    if target is not None:
        find_target(target)
    try:
        files = session_files(folder)
    except OSError as error:
        raise FormatError(f"{folder}: cannot be read: {error.strerror}") from None
    if not files:
        raise FormatError(f"{folder}: there are no files in it that could be sessions or requests (*.json, *.jsonl)")
    binder = PageBinder(folder, output, target=target, overwrite=overwrite)
    for file in files:
        binder.add(file)
    return binder.finish()


class PageBinder:
    """Writes the pages of a folder one after the other, and the list of them at the end."""

    def __init__(self, folder: PathName, output: PathName, *, target: str | None = None, overwrite: bool) -> None:
        self._folder, self._output = Path(folder), Path(output)
        self._target = target
        if self._output.exists() and not self._output.is_dir():
            raise FormatError(f"{output}: this is a file; name a folder for the pages of {folder}")
        if (self._output / INDEX).exists() and not overwrite:
            raise FormatError(f"{self._output / INDEX}: this file exists already; name another folder")
        with keeping(output):
            self._output.mkdir(parents=True, exist_ok=True)
        self._names = PageNames()
        self._pages: list[tuple[str, str, PageSummary]] = []
        self._unread: list[Unread] = []

    def add(self, file: PathName) -> None:
        """Write the page of one file, unless another page shows it or it holds no conversation."""
        path = Path(file)
        if _is_shown_elsewhere(path):
            return
        below = path.relative_to(self._folder)
        name = self._names.name(below)
        try:
            summary = write_page(path, self._output / name, target=self._target, overwrite=True)
        except UnknownTarget:
            raise
        except LegatoError as error:
            self._unread.append(Unread(str(below), Redactor().text(error.message)))
        else:
            self._pages.append((name, str(below), summary))

    def finish(self) -> FolderPages:
        """Write the list."""
        index = self._output / INDEX
        unread = [(item.file, item.message) for item in self._unread]
        with keeping(index):
            write_whole(index, list_page(str(self._folder), self._pages, unread))
        return FolderPages(
            index=index, pages=tuple(summary for _, _, summary in self._pages), unread=tuple(self._unread)
        )


def _is_shown_elsewhere(path: Path) -> bool:
    """Whether this is the file of a subagent, which is on the page of its session."""
    if path.parent.name != "subagents" or not path.name.startswith("agent-"):
        return False
    session = path.parent.parent
    return session.with_name(f"{session.name}.jsonl").is_file()
