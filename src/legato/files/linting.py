"""Say what is wrong with a file, for the providers that it is meant for.

In:  a session file or a request body, and the targets to judge it for.
Out: a `LintReport` with the findings of all conversations in the file. Nothing is changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.diagnostics import Redactor
from legato.files.sources import Progress, Source
from legato.formats import Document, Finding, Level, lint_document
from legato.formats.patching.spans import Places
from legato.formats.reading import read_to_judge
from legato.formats.targets import find_target

_LINE = re.compile(r"line (\d+)")
_ONE_OF_SEVERAL = "conversation"


class LintReport(Struct, frozen=True, kw_only=True):
    """What was found in one file."""

    file: str
    format: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that a provider would refuse the file for; without any the file is clean."""
        return tuple(finding for finding in self.findings if finding.level is Level.ERROR)


class Unread(Struct, frozen=True):
    """A file that could not be read, and why."""

    file: str
    message: str


def lint(
    source: Source,
    *,
    targets: str | Iterable[str] = (),
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> LintReport:
    """What is wrong with `source` for `targets`: providers or routes, by default those that it was written for.

    `format` reads it as that format, whatever it looks like; `name` is what the report and errors call it. Secrets that
    a finding would quote are hidden. Raises `FormatError` for what cannot be read, and `UnknownTarget`.
    """
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    for target in names:
        find_target(target)  # says what is wrong with a name before a large file is read
    documents = read_to_judge(source, format=format, name=name, progress=progress)
    findings: list[Finding] = []
    for number, document in enumerate(documents, 1):
        found = lint_document(document, *names)
        findings += found if len(documents) == 1 else _in_one_of_several(found, document, number)
    findings = list(_located(findings, source, documents[0]))
    return LintReport(
        file=name or (os.fspath(source) if isinstance(source, str | os.PathLike) else "input"),
        format=documents[0].format,
        findings=msgspec.convert(Redactor().value(msgspec.to_builtins(findings)), tuple[Finding, ...]),
    )


def _in_one_of_several(findings: Sequence[Finding], document: Document, number: int) -> list[Finding]:
    """`findings`, each with a place that names its conversation where it does not name a line."""
    return [
        finding
        if finding.place.startswith(("line ", "[")) or document.name.endswith(finding.place)
        else replace(finding, place=f"{_ONE_OF_SEVERAL} {number}, {finding.place}")
        for finding in findings
    ]


# --- the line of a finding --------------------------------------------------------------------------------------------


def _located(findings: Sequence[Finding], source: Source, document: Document) -> Iterator[Finding]:
    """`findings` with the line and the column of each, where its place is in the file."""
    text: _Text | None = None
    for finding in findings:
        if line := _LINE.match(finding.place):
            yield replace(finding, line=int(line[1]))
        elif finding.place and not finding.place.startswith(_ONE_OF_SEVERAL):
            text = text or _Text(_bytes_of(source, document))
            line, column = text.position(finding.place)
            yield replace(finding, line=line, column=column)
        else:
            yield finding


def _bytes_of(source: Source, document: Document) -> bytes:
    """The file again, where it can be had; a stream was read only once."""
    if document.original is not None and document.original.data:
        return document.original.data
    if isinstance(source, bytes):
        return source
    return Path(source).read_bytes() if isinstance(source, str | os.PathLike) else b""


class _Text:
    """A file that is one JSON value, and where things are in it as people count: in lines and characters.

    Findings come in about the order of the text, so counting goes on from the last one.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._places = Places(data)
        self._offset, self._line, self._column = 0, 1, 1

    def position(self, place: str) -> tuple[int, int]:
        """The line and the column of `place`, from 1; zeros where it is not in the text."""
        span = self._places.span(place)
        if span is None:
            return 0, 0
        if span.start < self._offset:
            self._offset, self._line, self._column = 0, 1, 1
        before = self._data[self._offset : span.start].decode("utf-8", "replace")
        lines, _, rest = before.rpartition("\n")
        if len(rest) < len(before):
            self._line += lines.count("\n") + 1
            self._column = 1
        self._column += len(rest)
        self._offset = span.start
        return self._line, self._column
