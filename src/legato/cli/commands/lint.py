"""`legato lint`: what is wrong with files, for the providers that they are meant for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from legato.cli.exits import ExitCode, complain, line_of
from legato.cli.format_options import from_option
from legato.errors import FormatError
from legato.files.text import counted, one_line

if TYPE_CHECKING:
    from legato.diagnostics import Redactor
    from legato.files import LintReport
    from legato.formats import Finding

_LINE = re.compile(r"line (\d+)(?:, (.+))?", re.DOTALL)


@click.command(short_help="Say what is wrong with session files or request bodies.")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@from_option
@click.option(
    "--for",
    "targets",
    metavar="TARGET",
    multiple=True,
    help="Judge for this provider or route; may be given several times. Without it: the provider that a file was "
    "written for, or all of them where the format belongs to none.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="How to print findings."
)
@click.pass_context
def lint(ctx: click.Context, inputs: Sequence[str], format_: str | None, targets: Sequence[str], form: str) -> None:
    """Say what is wrong with session files or request bodies.

    INPUT is a file, or - for standard input. Each finding names a rule, a place, what the provider would say and what
    repair would do. Exit status: 0 if no provider would refuse anything (risky findings alone count as clean),
    3 if there are findings, 2 if something cannot be read.
    """
    from legato.diagnostics import Redactor

    redactor = Redactor()
    reports: list[LintReport] = []
    is_broken = False
    for path in inputs:
        try:
            report = _lint(path, format_, targets)
        except FormatError as error:
            complain(line_of(error))
            is_broken = True
            continue
        reports.append(report)
        if form == "text":
            for finding in report.findings:
                for line in _lines(report.file, finding, redactor):
                    click.echo(line)
    if form != "text" and reports:
        click.echo(_encoded(reports, form, redactor))
    levels = Counter(finding.level.value for report in reports for finding in report.findings)
    if reports:
        click.echo(_summary(len(reports), levels), err=True)
    if is_broken:
        ctx.exit(ExitCode.USAGE)
    ctx.exit(ExitCode.FINDINGS if levels["error"] else ExitCode.OK)


def _lint(path: str, format_: str | None, targets: Sequence[str]) -> LintReport:
    from legato import files
    from legato.cli.commands.file_arguments import opened

    with opened(path) as (source, name, progress):
        return files.lint(source, targets=targets, format=format_, name=name, progress=progress)


# --- what is printed --------------------------------------------------------------------------------------------------

_COLOURS = {"error": "red", "risky": "yellow", "note": "cyan"}


def _lines(file: str, finding: Finding, redactor: Redactor) -> Iterator[str]:
    where = one_line(file)
    if match := _LINE.fullmatch(finding.place):
        where += f":{match[1]}" + (f": {one_line(match[2])}" if match[2] else "")
    elif finding.place:
        where += f": {one_line(finding.place)}"
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


def _encoded(reports: Sequence[LintReport], form: str, redactor: Redactor) -> str:
    import msgspec

    from legato import files

    value = files.sarif(reports) if form == "sarif" else redactor.value({"files": msgspec.to_builtins(reports)})
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _summary(files: int, levels: Counter[str]) -> str:
    nouns = {"error": "error", "risky": "risky finding", "note": "note"}
    counts = [counted(levels[level], noun) for level, noun in nouns.items() if levels[level]]
    return f"{counted(files, 'file')}: {', '.join(counts) or 'nothing found'}"
