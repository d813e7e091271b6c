"""`legato lint`: what is wrong with files, for the providers that they are meant for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from legato.cli.exits import ExitCode, complain, line_of
from legato.errors import FormatError
from legato.files.text import counted, one_line

if TYPE_CHECKING:
    from legato.diagnostics import Redactor
    from legato.files.sarif_log import Linted
    from legato.formats import Document
    from legato.formats.findings import Finding
    from legato.model import JsonObject

_LINE = re.compile(r"line (\d+)(?:, (.+))?", re.DOTALL)


@click.command(short_help="Say what is wrong with session files or request bodies.")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--from", "format_", metavar="FORMAT", help="Read the file as this format, whatever it looks like.")
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
    files: list[Linted] = []
    is_broken = False
    for path in inputs:
        try:
            linted = _lint(path, format_, targets)
        except FormatError as error:
            complain(line_of(error))
            is_broken = True
            continue
        files.append(linted)
        if form == "text":
            for finding in linted.findings:
                for line in _lines(linted.file, finding, redactor):
                    click.echo(line)
    if form != "text" and files:
        click.echo(_encoded(files, form, redactor))
    levels = Counter(finding.level.value for linted in files for finding in linted.findings)
    if files:
        click.echo(_summary(len(files), levels), err=True)
    if is_broken:
        ctx.exit(ExitCode.USAGE)
    ctx.exit(ExitCode.FINDINGS if levels["error"] else ExitCode.OK)


def _lint(path: str, format_: str | None, names: Sequence[str]) -> Linted:
    from legato.cli.commands.file_arguments import STDIN, read_documents
    from legato.files.sarif_log import Linted
    from legato.formats.findings import lint as find
    from legato.formats.targets import find_target

    for name in names:
        find_target(name)  # says what is wrong with a name before a large file is read
    documents = read_documents(path, format=format_)
    findings: list[Finding] = []
    for number, document in enumerate(documents, 1):
        found = find(document, *names)
        findings += found if len(documents) == 1 else [_of_one(finding, document, number) for finding in found]
    return Linted("standard input" if path == STDIN else path, documents[0].format, findings)


def _of_one(finding: Finding, document: Document, number: int) -> Finding:
    """A finding in one of several conversations: its place names the conversation where it does not name a line."""
    from msgspec.structs import replace

    if finding.place.startswith(("line ", "[")) or document.name.endswith(finding.place):
        return finding
    return replace(finding, place=f"conversation {number}, {finding.place}" if finding.place else document.name)


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


def _encoded(files: Sequence[Linted], form: str, redactor: Redactor) -> str:
    import msgspec

    if form == "sarif":
        from legato.files.sarif_log import sarif

        value = sarif(files)
    else:
        value = _plain(files)
    return msgspec.json.format(msgspec.json.encode(redactor.value(value)), indent=2).decode()


def _plain(files: Sequence[Linted]) -> JsonObject:
    import msgspec

    return {
        "files": [
            {"file": file, "format": format_, "findings": msgspec.to_builtins(findings)}
            for file, format_, findings in files
        ]
    }


def _summary(files: int, levels: Counter[str]) -> str:
    nouns = {"error": "error", "risky": "risky finding", "note": "note"}
    counts = [counted(levels[level], noun) for level, noun in nouns.items() if levels[level]]
    return f"{counted(files, 'file')}: {', '.join(counts) or 'nothing found'}"
