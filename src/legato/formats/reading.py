"""From bytes to documents: open, look, settle the format, read.

The format is detected unless the caller names one; then the file is read as that, whatever it looks like. If nothing
can be read that way, the error says what the file looks like.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from legato.errors import FormatError, UnknownFormat
from legato.formats.content import Content
from legato.formats.detection import Detected, detect_format
from legato.formats.document import Document
from legato.formats.fields import as_object
from legato.formats.format import Format
from legato.formats.head import Head, Layout, UnclearLayout, look_at
from legato.formats.registry import FORMATS
from legato.formats.sources import Data, Progress, Source, open_source
from legato.wire.dialects import dialect_parts


def detect(data: Data, *, name: str = "") -> Detected:
    """The format of `data`, and the evidence for it; raises `FormatError` if it is none that we know."""
    source = open_source(data, name=name)
    head, found = look(source, None)
    return _known(found, source.name, head)


def read_all(
    data: Data,
    *,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> list[Document]:
    """Every conversation in `data`, at least one.

    `format` overrides detection, always; of a file that holds many requests it says what those are. Raises
    `FormatError`, with one line that says what is wrong, for everything that cannot be read.
    """
    return _read(data, format, name, progress, is_only_judged=False)


def read_to_judge(
    data: Data,
    *,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> list[Document]:
    """As `read_all`, for whoever judges the documents and lets them go: without a digest, and without their lines.

    Those are for writing the file again. In a large session they take as much memory as the conversation. Where it is
    certain that nothing is wrong with the calls of a session, its document does without entries too (`is_skimmed`).
    """
    return _read(data, format, name, progress, is_only_judged=True)


def _read(
    data: Data, asked_for: str | None, name: str, progress: Progress | None, *, is_only_judged: bool
) -> list[Document]:
    asked = None if asked_for is None else format_named(asked_for)
    source = open_as(data, asked, name=name, progress=progress)
    source.is_only_judged = is_only_judged
    documents = read_as(source, *look(source, asked), asked)
    if reason := why_unread(documents):
        raise FormatError(reason)
    return documents


def open_as(data: Data, asked: Format | None, *, name: str = "", progress: Progress | None = None) -> Source:
    """`data` as a source; raises `FormatError`, which says where files of the format that is asked for usually are."""
    try:
        return open_source(data, name=name, progress=progress)
    except FormatError as error:
        raise type(error)(error.message + _where_files_are(data, asked)) from None


def look(source: Source, asked: Format | None) -> tuple[Head, Detected | None]:
    """The head of `source`, and the format that the file shows."""
    try:
        head = look_at(source)
    except UnclearLayout:
        if asked is None or not asked.is_lines:
            raise
        return Head(Layout.LINES), None  # damaged so badly that only the caller can know
    found = detect_format(source, head)
    if found is None and asked is None and head.layout is Layout.DATABASE:
        raise UnknownFormat(f"{source.name}: this is an SQLite database, but none of those that are read here")
    if found is None and asked is None and head.layout is Layout.ARCHIVE:
        raise UnknownFormat(f"{source.name}: this is a ZIP archive, but no log of Inspect; try the files in it")
    return head, found


def read_as(source: Source, head: Head, found: Detected | None, asked: Format | None) -> list[Document]:
    """Every conversation in `source`, read as the format that was asked for, or else as the one that was found."""
    if asked is None:
        chosen, wire = format_named(_known(found, source.name, head).format), ""
    else:
        chosen, wire = _asked_for(asked, head, found)
    layout = _layout(chosen, head)
    open_content = partial(
        Content, source, chosen.name, layout, head, marks=chosen.marks, keep=chosen.repair is not None, wire=wire
    )
    try:
        if source.is_only_judged and layout is Layout.LINES and chosen.skim is not None and not source.is_stream:
            skimmed = chosen.skim(open_content())
            if skimmed is not None:
                return [skimmed]
            source.begin_again()
        documents = chosen.read(open_content())
    except RecursionError:
        raise FormatError(f"{source.name}: a value in it is nested too deeply to be read") from None
    is_doubtful = asked is not None and (found is None or found.format != asked.name)
    if is_doubtful and all(document.is_empty for document in documents):
        raise FormatError(_nothing_read(source.name, asked.name if asked is not None else "", found))
    if not documents:
        raise FormatError(f"{source.name}: nothing in it could be read as {chosen.name}")
    return documents


def why_unread(documents: Sequence[Document]) -> str:
    """Why nothing could be read of a file whose format is known; empty if something was, or there was nothing to read.

    What is damaged is told by lint, with its place.
    """
    if not all(document.is_empty for document in documents):
        return ""
    unknown = (note for document in documents for note in document.notes if note.is_unknown)
    first = next(unknown, None)
    one = documents[0]
    return "" if first is None else f"{one.name}: nothing in it could be read as {one.format}: {first}"


def _where_files_are(data: Data, asked: Format | None) -> str:
    """What helps someone who named a folder, or a file that is not there."""
    if not isinstance(data, str | os.PathLike):
        return ""
    path = Path(data)
    if path.is_dir():
        homes = (known.home for known in FORMATS.values() if known.home is not None)
        beside = next((home for home in homes if path.resolve().is_relative_to(home.path.resolve())), None)
        return f", such as {beside.pattern}" if beside is not None else ""
    if asked is None or asked.home is None or path.exists():
        return ""
    return f"; files of {asked.name} are usually {asked.home.pattern}"


def _asked_for(asked: Format, head: Head, found: Detected | None) -> tuple[Format, str]:
    """How to read what the caller calls `asked`, and what the requests in it are, if it holds several.

    A request is one value, so a file of lines holds many; so does a value that looks like a list of them and has no
    messages itself.
    """
    if asked.dialect is None:
        return asked, ""
    field = dialect_parts(asked.dialect).messages_field
    holds_many = found is not None and found.format == "chat-records" and field not in as_object(head.value)
    return (FORMATS["chat-records"], asked.name) if head.layout is Layout.LINES or holds_many else (asked, "")


def _nothing_read(name: str, asked: str, found: Detected | None) -> str:
    looks = f"; it looks like {found.format} ({found.reason})" if found else ""
    return f"{name}: nothing in it could be read as {asked}{looks}"


def read(
    data: Data,
    *,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Document:
    """The conversation in `data`, or the main one where a session holds others beside it.

    Raises `FormatError` if there are several of equal rank: `read_all` gives them.
    """
    documents = read_all(data, format=format, name=name, progress=progress)
    if len(documents) > 1 and not documents[0].meta.get("beside"):
        raise FormatError(f"{documents[0].name}: this file holds {len(documents)} conversations; choose one of them")
    return documents[0]


def _layout(chosen: Format, head: Head) -> Layout:
    """One line may be a value, or a file of lines that has only one: what its records look like decides.

    What is no value, because most of its lines are damaged, can only be lines.
    """
    if head.layout is Layout.WHOLE and chosen.is_lines:
        if head.is_one_line:
            record = as_object(head.value)
            return Layout.LINES if record and chosen.marks.fit(record) else Layout.WHOLE
        return Layout.LINES if head.error else Layout.WHOLE
    return head.layout


def _known(found: Detected | None, name: str, head: Head) -> Detected:
    if found is None:
        what = f"{head.error}, and what is there is" if head.error else "this is JSON, but"
        brief = f"{name}: unknown format: {what} not of a kind that Legato recognises"
        raise UnknownFormat(
            f"{brief}. If you know its format, name it with --from (`legato formats` lists them)", brief=brief
        )
    return found


def format_named(name: str) -> Format:
    """The format of that name; raises `FormatError` for a name that no format has."""
    known = FORMATS.get(name)
    if known is None:
        near = get_close_matches(name, FORMATS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(FORMATS)}"
        raise FormatError(f"there is no format {name!r}; {hint}")
    return known
