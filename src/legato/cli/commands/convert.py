"""`legato convert`: a conversation from any format to a request body or a session file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from legato.cli.format_options import FormatOption, from_option
from legato.files.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from legato.files import Converted
    from legato.formats import Document
    from legato.model import JsonObject


@click.command(short_help="Carry a conversation to another provider or agent.")
@click.argument("input_", metavar="INPUT")
@from_option
@click.option(
    "--to",
    "target",
    cls=FormatOption,
    metavar="TARGET",
    required=True,
    help="A request body ({bodies}, or a route such as groq/llama-3.3-70b-versatile), or a session file ({files}).",
)
@click.option("--model", metavar="MODEL", help="The model that a request body is for.")
@click.option("-o", "--output", default="-", metavar="OUT", help="Where to write; - is standard output, the default.")
@click.option(
    "--install",
    is_flag=True,
    help="Put a session file where its agent looks for it, and print the command that goes on with it.",
)
@click.option("--report", metavar="FILE", help="Write what was closed, moved, dropped or renamed, and why, as JSON.")
@click.option("--pick", type=int, metavar="N", help="The number of the conversation, in a file that holds several.")
@click.option("--all", "takes_all", is_flag=True, help="Every conversation of the file, one request body a line.")
@click.option("--compacted", is_flag=True, help="Leave out what the file's own agent had already summarised.")
def convert(
    input_: str,
    format_: str | None,
    target: str,
    model: str | None,
    output: str,
    report: str | None,
    pick: int | None,
    takes_all: bool,
    compacted: bool,
    install: bool,
) -> None:
    """Carry a conversation to another provider or agent, with its tool calls and results kept as pairs.

    INPUT is a file, the id of a stored session, or - for standard input. Only the result goes to standard output; a
    request body is one that the provider accepts, whatever was missing in the file.
    """
    from legato.cli.commands.file_arguments import (
        STANDARD,
        check_output,
        pick_one,
        read_documents,
        refuse_same_file,
        write_output,
    )
    from legato.files.conversion import check_target, convert_document
    from legato.formats.targets import FILES

    if target in FILES and (model or takes_all):
        raise click.UsageError(f"--model and --all are for request bodies, and {target} is a session file")
    if install and (target not in FILES or output != STANDARD):
        raise click.UsageError("--install is for session files, and says itself where they go; leave out --output")
    if takes_all and pick is not None:
        raise click.UsageError("--all takes every conversation and --pick one of them; use one of the two")
    if report == output:
        raise click.UsageError("--report and --output cannot be the same file")
    check_target(target, model=model)
    for path in (output, report or output):
        check_output(path)
    refuse_same_file(input_, output, advice="name another file, or mend it with `legato repair --write`")
    documents = read_documents(input_, format=format_)
    if takes_all:
        chosen = [document for document in documents if document.entries]
    else:
        chosen = [pick_one(documents, pick, advice="choose one with --pick N, or take --all")]
    made = [convert_document(document, target, model=model, compacted=compacted) for document in chosen]
    for converted in made:
        _tell(converted)
    _tell_left_out(documents, chosen)
    if install:
        _install(made[0])
    else:
        write_output(output, b"".join(converted.data for converted in made))
    if report is not None:
        reports = [converted.report for converted in made]
        write_output(report, _encoded(reports if takes_all else reports[0]))


def _install(converted: Converted) -> None:
    from legato.files import install

    installed = install(converted)
    click.echo(f"{one_line(converted.name)}: now in {one_line(str(installed.path))}; go on with:", err=True)
    click.echo(installed.resume)


# --- what people are told ---------------------------------------------------------------------------------------------


def _tell(converted: Converted) -> None:
    if converted.changes:
        told = "; ".join(converted.changes)
        click.echo(f"{one_line(converted.name)}: {one_line(told)}; --report FILE says why", err=True)
    if converted.notes:
        notes_made = counted(len(converted.notes), "note")
        click.echo(f"{one_line(converted.name)}: {notes_made} on what was read; --report FILE holds them", err=True)
    for loss in converted.losses:
        click.echo(f"{one_line(converted.name)}: {one_line(str(loss))}", err=True)


def _tell_left_out(documents: Sequence[Document], chosen: Sequence[Document]) -> None:
    if len(chosen) < len(documents):
        left = counted(len(documents) - len(chosen), "other conversation")
        click.echo(f"{one_line(documents[0].name)}: {left} in it; --pick N takes the one of that number", err=True)


def _encoded(value: JsonObject | list[JsonObject]) -> bytes:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
