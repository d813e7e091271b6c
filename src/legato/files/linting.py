"""Say what is wrong with a file, for the providers that it is meant for.

In:  a session file or a request body, and the targets to judge it for.
Out: a `LintReport` with the findings of all conversations in the file. Nothing is changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.diagnostics import Redactor
from legato.files.sources import Progress, Source
from legato.formats import Document, Finding, Level, lint_document, read_all
from legato.formats.targets import find_target


class LintReport(Struct, frozen=True, kw_only=True):
    """What was found in one file."""

    file: str
    format: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that a provider would refuse the file for; without any the file is clean."""
        return tuple(finding for finding in self.findings if finding.level is Level.ERROR)


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
    documents = read_all(source, format=format, name=name, progress=progress)
    findings: list[Finding] = []
    for number, document in enumerate(documents, 1):
        found = lint_document(document, *names)
        findings += found if len(documents) == 1 else _in_one_of_several(found, document, number)
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
        else replace(finding, place=f"conversation {number}, {finding.place}")
        for finding in findings
    ]
