"""`legato lint`: what is wrong with files, for the providers that they are meant for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from legato.cli import completing
from legato.cli.exits import ExitCode, complain, line_of
from legato.cli.format_options import from_option
from legato.cli.saying import say, say_data
from legato.errors import FormatError, UnknownFormat
from legato.files.text import counted, one_line

if TYPE_CHECKING:
    from legato.diagnostics import Redactor
    from legato.files import LintReport, Unread
    from legato.formats import Finding


@click.command(short_help="Say what is wrong with session files or request bodies.")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, shell_complete=completing.sessions_and_files)
@from_option
@click.option(
    "--for",
    "targets",
    metavar="TARGET",
    multiple=True,
    help="Judge for this provider or route; may be given several times. Without it: the provider that a file was "
    "written for, or all of them where the format belongs to none.",
)
@click.option("--ignore-unknown", is_flag=True, help="Pass over files of an unknown format.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="How to print findings."
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.pass_context
def lint(
    ctx: click.Context,
    inputs: Sequence[str],
    format_: str | None,
    targets: Sequence[str],
    ignore_unknown: bool,
    form: str,
) -> None:
    """Say what is wrong with session files or request bodies.

    INPUT is a file, a folder of files, the id of a stored session, or - for standard input. Each finding names a rule,
    a place, what the provider would say and what repair would do. Exit status: 0 if no provider would refuse anything
    (risky findings alone count as clean), 3 if there are errors, 2 if something cannot be read.
    """
    from legato.cli.commands.file_arguments import walking
    from legato.diagnostics import Redactor
    from legato.formats.targets import find_target

    for target in targets:
        find_target(target)  # says what is wrong with a name before anything is read
    linted = _Linted(Redactor(), ignores_unknown=ignore_unknown)
    with walking(inputs) as walk:
        for path in walk:
            for line in linted.look_at(path, format_, targets):
                if form == "text":
                    walk.tell(line)
    if form != "text":
        say_data(linted.encoded(form))
    linted.sum_up(is_folder=walk.is_folder)
    ctx.exit(linted.status)


class _Linted:
    """What was found, in all files so far."""

    def __init__(self, redactor: Redactor, *, ignores_unknown: bool) -> None:
        self._redactor = redactor
        self._ignores_unknown = ignores_unknown
        self._reports: list[LintReport] = []
        self._unread: list[Unread] = []
        self._ignored: list[str] = []
        self._unknown = 0

    def look_at(self, path: str, format_: str | None, targets: Sequence[str]) -> Iterator[str]:
        """Judge a file; the lines to print about it."""
        from legato import files
        from legato.cli.commands.file_arguments import opened

        try:
            with opened(path) as (source, name, progress):
                report = files.lint(source, targets=targets, format=format_, name=name, progress=progress)
        except FormatError as error:
            self._pass_over(path, error)
            return
        self._reports.append(report)
        for finding in _folded(report.findings):
            yield from _lines(report.file, finding, self._redactor)

    def _pass_over(self, path: str, error: FormatError) -> None:
        from legato.files import Unread

        is_unknown = isinstance(error, UnknownFormat)
        if is_unknown and self._ignores_unknown:
            self._ignored.append(path)
            return
        line = line_of(error)
        self._unread.append(Unread(path, line))
        self._unknown += is_unknown
        if not is_unknown or self._unknown <= _SHOWN:
            is_told = is_unknown and self._unknown > 1  # the first one says what to do
            complain(one_line(self._redactor.text(error.facts.get("brief") or line)) if is_told else line)

    @property
    def _levels(self) -> Counter[str]:
        return Counter(finding.level.value for report in self._reports for finding in report.findings)

    @property
    def status(self) -> ExitCode:
        """How the program ends."""
        if self._unread:
            return ExitCode.USAGE
        return ExitCode.FINDINGS if self._levels["error"] else ExitCode.OK

    def encoded(self, form: str) -> str:
        """All of it as JSON, or as SARIF."""
        import msgspec

        from legato import files
        from legato.files.json_text import encode_indented

        if form == "sarif":
            value = files.sarif(self._reports, self._unread)
        else:
            told = {"files": self._reports, "unread": self._unread, "ignored": self._ignored}
            levels = self._levels
            summary = {"files": len(self._reports), **{name: levels[level] for level, name in _NAMES.items()}}
            value = self._redactor.value(msgspec.to_builtins(told) | {"summary": summary})
        return encode_indented(value).decode()

    def sum_up(self, *, is_folder: bool) -> None:
        """Tell the numbers: of a folder for each format."""
        if self._unknown > _SHOWN:
            complain(f"and {self._unknown - _SHOWN:,} more files of an unknown format")
        if self._unknown and is_folder:
            say("--ignore-unknown passes over files of an unknown format", err=True)
        if is_folder:
            from legato.cli.terminal.cells import table

            for line in table(self._rows(), width=_WIDE):
                say(line, err=True)
        if self._reports or is_folder:
            say(_summary(len(self._reports), self._levels, len(self._ignored)), err=True)

    def _rows(self) -> list[tuple[str, ...]]:
        """A row for each format, with the number of its files, and of findings in them."""
        formats: dict[str, list[LintReport]] = {}
        for report in self._reports:
            formats.setdefault(report.format, []).append(report)
        rows: list[tuple[str, ...]] = [("format", "files", "clean", *_NAMES.values())]
        for name, reports in sorted(formats.items()):
            levels = Counter(finding.level.value for report in reports for finding in report.findings)
            clean = sum(not report.errors for report in reports)
            numbers = (len(reports), clean, *(levels[level] for level in _NAMES))
            rows.append((name, *(f"{number:,}" for number in numbers)))
        for name, count in (("unknown", len(self._ignored)), ("not read", len(self._unread))):
            if count:
                rows.append((name, f"{count:,}", *[""] * (len(rows[0]) - 2)))
        return rows if len(rows) > 1 else []


# --- what is printed --------------------------------------------------------------------------------------------------

_COLOURS = {"error": "red", "risky": "yellow", "note": "cyan"}
_NAMES = {"error": "errors", "risky": "risky", "note": "notes"}
_SHOWN = 10
"""files of an unknown format that are named one by one: a folder may hold thousands"""
_WIDE = 1_000
"""columns of a table that nobody has to shorten: it has few of them"""


def _folded(findings: Sequence[Finding]) -> list[Finding]:
    """Findings for a person: what is no error and is found again and again is one line, at its first place."""
    from msgspec.structs import replace

    from legato.formats import Level
    from legato.formats.document import told_once, without_indexes

    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        alike = (finding.rule, finding.targets, without_indexes(finding.message))
        groups.setdefault(number if finding.level is Level.ERROR else alike, []).append(finding)
    return [replace(group[0], message=told_once(group[0].message, len(group))) for group in groups.values()]


def _lines(file: str, finding: Finding, redactor: Redactor) -> Iterator[str]:
    where = ":".join([one_line(file), *(str(number) for number in (finding.line, finding.column) if number)])
    inside = finding.place.partition(", ")[2] if finding.place.startswith("line ") else finding.place
    if inside:
        where += f": {one_line(inside)}"
    level = click.style(finding.level.value, fg=_COLOURS[finding.level.value], bold=True)
    yield f"{where}: {level}: {one_line(redactor.text(finding.message))} [{finding.rule}]"
    says = list(finding.says.items())
    if says:
        name, text = says[0]
        yield f"    what {name} says: {one_line(text)}"
    others = [name for name in finding.targets if not says or name != says[0][0]]
    if others:
        yield f"    {'also ' if says else ''}for {', '.join(others)}"
    if finding.repair:
        yield f"    {one_line(finding.repair)}"


def _summary(files: int, levels: Counter[str], ignored: int) -> str:
    nouns = {"error": "error", "risky": "risky finding", "note": "note"}
    counts = [counted(levels[level], noun) for level, noun in nouns.items() if levels[level]]
    passed_over = f"; {counted(ignored, 'file')} of another kind passed over" if ignored else ""
    return f"{counted(files, 'file')}: {', '.join(counts) or 'nothing found'}{passed_over}"
