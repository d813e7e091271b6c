"""`legato convert`: a conversation from any format to a request body or a session file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from legato.cli import completing
from legato.cli.format_options import FormatOption, from_option
from legato.cli.saying import say
from legato.files.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from legato.files import Converted
    from legato.formats import Document
    from legato.model import JsonObject


@click.command(short_help="Carry a conversation to another provider or agent.")
@click.argument("input_", metavar="INPUT", shell_complete=completing.sessions_and_files)
@from_option
@click.option(
    "--to",
    "target",
    cls=FormatOption,
    metavar="TARGET",
    shell_complete=completing.targets,
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
        file_name,
        pick_one,
        read_documents,
        refuse_same_file,
        write_output,
    )
    from legato.errors import FormatError
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
        chosen = [document for document in documents if not document.is_empty]
    else:
        chosen = [pick_one(documents, pick, advice="choose one with --pick N, or take --all")]
    if not chosen:
        raise FormatError(f"{file_name(input_)}: there is no conversation in it, so there is nothing to convert")
    made = [convert_document(document, target, model=model, compacted=compacted) for document in chosen]
    _tell(one_line(chosen[0].name if len(chosen) == 1 else file_name(input_)), made)
    _tell_left_out(one_line(file_name(input_)), documents, chosen)
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
    say(f"{one_line(converted.name)}: now in {one_line(str(installed.path))}; go on with:", err=True)
    say(installed.resume)


# --- what people are told ---------------------------------------------------------------------------------------------


_SHOWN = 20
"""lines on what is missing: our choice, a screen; the report has everything"""


def _tell(name: str, made: Sequence[Converted]) -> None:
    """What was changed and what is missing in the result, each thing once, and how much else there is to read."""
    from msgspec.structs import replace

    from legato.diagnostics import Redactor
    from legato.formats import FileNote
    from legato.formats.document import fold_notes

    hide = Redactor().text
    notes = [note for converted in made for note in converted.notes]
    missing = [note for note in notes if note.is_unknown or note.is_damage]
    left = [replace(loss, message=f"not carried: {loss.message}") for converted in made for loss in converted.losses]
    changes = ["; ".join(converted.changes) for converted in made if converted.changes]
    told = fold_notes([*(FileNote("", f"{text}; --report FILE says why") for text in changes), *missing, *left])
    for note in told[:_SHOWN]:
        say(f"{name}: {one_line(hide(str(note)))}", err=True)
    if len(told) > _SHOWN:
        say(f"{name}: and {len(told) - _SHOWN:,} more; --report FILE holds them", err=True)
    if others := len(notes) - len(missing):
        say(f"{name}: {counted(others, 'note')} on what was read; --report FILE holds them", err=True)


def _tell_left_out(name: str, documents: Sequence[Document], chosen: Sequence[Document]) -> None:
    taken = set(map(id, chosen))
    others = [document for document in documents if id(document) not in taken]
    unread = [document for document in others if document.is_empty]
    if len(unread) < len(others):
        left = counted(len(others) - len(unread), "other conversation")
        say(f"{name}: {left} in it; --pick N takes the one of that number", err=True)
    if unread:
        why = next((f": {one_line(str(note))}" for document in unread for note in document.notes), "")
        say(f"{name}: {counted(len(unread), 'part')} of it not read{why}", err=True)


def _encoded(value: JsonObject | list[JsonObject]) -> bytes:
    from legato.files.json_text import encode_indented

    return encode_indented(value) + b"\n"
