"""`legato repair`: a mended copy of a file, in its own format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from legato.cli import completing
from legato.cli.format_options import from_option
from legato.cli.saying import say
from legato.files.text import counted, one_line

if TYPE_CHECKING:
    from legato.formats import FileNote


@click.command(short_help="Write a mended copy of a session file or request body.")
@click.argument("input_", metavar="INPUT", shell_complete=completing.sessions_and_files)
@click.option("-o", "--output", metavar="OUT", help="Where to write the mended copy; - is standard output.")
@click.option("--write", "in_place", is_flag=True, help="Put it in place of INPUT, which stays beside it as a backup.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option("--force", is_flag=True, help="Write OUT even if it would lose something or still be refused.")
@from_option
def repair(input_: str, output: str | None, in_place: bool, dry_run: bool, force: bool, format_: str | None) -> None:
    """Write a mended copy of a session file or request body, in the same format.

    INPUT is a file, the id of a stored session, or - for standard input.
    Claude Code sessions, Codex rollouts, Legato logs and request bodies can be mended; convert anything else. Every
    call gets exactly one result where its agent or provider expects it; what was right keeps its bytes. A result that
    is inserted says that there is none, and is recognised when the file is read again. Repairing twice changes nothing
    more.

    If the copy would lose anything that INPUT contains, read as a different conversation, or still be refused, the
    reasons are listed, nothing is written, and the exit status is 3. --force writes the copy anyway, but only to OUT
    and never over INPUT.
    """
    from legato import files
    from legato.cli.commands.file_arguments import (
        STANDARD,
        check_output,
        opened,
        refuse_same_file,
        stored_session,
        write_output,
    )
    from legato.errors import RepairRefused

    if in_place and (output is not None or input_ == STANDARD):
        raise click.UsageError("--write mends a file where it stands; leave out --output, and name a file")
    if in_place and stored_session(input_) is not None:
        raise click.UsageError("a stored session is never rewritten: write a copy with -o OUT, and `legato import` it")
    if not in_place and output is None and not dry_run:
        raise click.UsageError("say where to write: -o OUT, or --write to mend the file where it stands, or --dry-run")
    if force and (in_place or output is None):
        raise click.UsageError("--force writes only to a named file: add -o OUT, and leave out --write")
    if output is not None:
        check_output(output)
        refuse_same_file(input_, output, advice="use --write to mend it where it stands")
    try:
        with opened(input_) as (source, name, progress):
            if in_place:
                repaired = files.repair_in_place(input_, format=format_, progress=progress)
            else:
                repaired = files.repair(source, force=force, format=format_, name=name, progress=progress)
    except RepairRefused as error:
        _tell(error.facts["name"], error.losses)
        raise
    _tell(repaired.name, [*repaired.changes, *repaired.losses])
    told = counted(len(repaired.changes), "change") if repaired.changes else "nothing to mend"
    if repaired.losses:
        told += f"; {counted(len(repaired.losses), 'objection')} overruled"
    if dry_run:
        told += "; nothing was written"
    elif repaired.backup is not None:
        told += f"; the file as it was is {one_line(str(repaired.backup))}"
    elif output is not None:
        write_output(output, repaired.data)
    say(f"{one_line(repaired.name)}: {told}", err=True)


_SHOWN = 50
"""how many notes are printed; a misread session may have thousands"""


def _tell(name: str, notes: Sequence[FileNote]) -> None:
    from legato.diagnostics import Redactor

    hide = Redactor().text
    for note in notes[:_SHOWN]:
        say(f"{one_line(name)}: {one_line(hide(str(note)))}", err=True)
    if len(notes) > _SHOWN:
        say(f"{one_line(name)}: and {len(notes) - _SHOWN:,} more", err=True)
