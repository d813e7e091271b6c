"""From bytes to documents: open, look, settle the format, read.

The format is found out, or checked where the caller names one; a file that is plainly something else is refused rather
than read wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import cast

from legato.errors import FormatError
from legato.formats.content import Content
from legato.formats.detection import Detected, detect_head
from legato.formats.document import Document
from legato.formats.fields import as_object
from legato.formats.head import Head, Layout, look_at
from legato.formats.registry import FORMATS, Format
from legato.formats.sources import Data, Progress, open_source
from legato.formats.wire_shapes import WIRE_DIALECTS


def detect(data: Data, *, name: str = "") -> Detected:
    """The format of `data`, and what gave it away; raises `FormatError` if it is none that we know."""
    source = open_source(data, name=name)
    return _known(detect_head(look_at(source)), source.name)


def read_all(
    data: Data,
    *,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> list[Document]:
    """Every conversation in `data`, at least one.

    `format` overrides detection; one that the file contradicts is refused. Raises `FormatError`, with one line that
    says what is wrong, for everything that cannot be read.
    """
    asked = None if format is None else _named(format)
    source = open_source(data, name=name, progress=progress)
    head = look_at(source)
    found = detect_head(head)
    chosen = _named(_known(found, source.name).format) if asked is None else _settled(asked, found, source.name)
    content = Content(source, chosen.name, _layout(chosen, head), marks=chosen.marks, keep=chosen.is_written)
    reader = cast("Callable[[Content], list[Document]]", import_module(f"legato.formats.{chosen.module}").read)
    try:
        documents = reader(content)
    except RecursionError:
        raise FormatError(f"{source.name}: a value in it is nested too deeply to be read") from None
    if not documents:
        raise FormatError(f"{source.name}: nothing in it could be read as {chosen.name}")
    return documents


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
    """One line may be a value, or a file of lines that has only one: what its records look like decides."""
    if head.layout is Layout.WHOLE and head.is_one_line and chosen.is_lines:
        record = as_object(head.value)
        return Layout.LINES if record and chosen.marks.fit(record) else Layout.WHOLE
    return head.layout


def _known(found: Detected | None, name: str) -> Detected:
    if found is None:
        raise FormatError(f"{name}: unknown format: JSON, but none of the session files or requests that are read here")
    return found


def _named(name: str) -> Format:
    known = FORMATS.get(name)
    if known is None:
        near = get_close_matches(name, FORMATS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(FORMATS)}"
        raise FormatError(f"there is no format {name!r}; {hint}")
    return known


def _settled(asked: Format, found: Detected | None, name: str) -> Format:
    if found is None or found.format == asked.name or _family(found.format) == _family(asked.name):
        return asked
    raise FormatError(f"{name}: this is {found.format} ({found.reason}), not {asked.name}; name that format, or none")


def _family(name: str) -> str:
    """Formats of one family are read by the same rules."""
    dialect = WIRE_DIALECTS.get(name)
    return str(dialect) if dialect else "anthropic" if name == "cline" else name
