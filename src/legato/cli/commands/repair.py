"""`legato repair`: a mended copy of a file, in its own format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from legato.cli.files_text import counted, one_line

if TYPE_CHECKING:
    from legato.formats import Note


@click.command(short_help="Write a mended copy of a session file or request body.")
@click.argument("input_", metavar="INPUT")
@click.option("-o", "--output", metavar="OUT", help="Where to write the mended copy; - is standard output.")
@click.option("--write", "in_place", is_flag=True, help="Put it in place of INPUT, which stays beside it as a backup.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option("--force", is_flag=True, help="Write OUT even if it would lack something, or still be refused.")
@click.option("--from", "format_", metavar="FORMAT", help="Read the file as this format, whatever it looks like.")
def repair(input_: str, output: str | None, in_place: bool, dry_run: bool, force: bool, format_: str | None) -> None:
    """Write a mended copy of a session file or request body, in the same format.

    Claude Code sessions, Codex rollouts, Legato logs and request bodies can be mended; convert what is in another
    format. Every call gets exactly one result where its agent or provider wants it; what was right keeps its bytes. A
    result that is put in says that there is none, and is known for that when the file is read again. Repairing twice
    changes nothing more.

    If the mended copy would lack anything that INPUT holds, would read as another conversation or would still be
    refused, that is told, nothing is written, and the exit status is 3. --force writes it all the same, to the OUT
    that is named and never over INPUT.
    """
    from legato.cli.files_reading import STDIN, pick, read_documents
    from legato.cli.files_writing import check_output, refuse_same_file, replace_with_backup, write_output
    from legato.errors import RepairRefused
    from legato.formats import mend

    if in_place and (output is not None or input_ == STDIN):
        raise click.UsageError("--write mends a file where it stands; leave out --output, and name a file")
    if not in_place and output is None and not dry_run:
        raise click.UsageError("say where to write: -o OUT, or --write to mend the file where it stands, or --dry-run")
    if force and (in_place or output is None):
        raise click.UsageError("--force writes to a file of its own: name it with -o OUT, and leave out --write")
    if output is not None:
        check_output(output)
        refuse_same_file(input_, output, advice="use --write to mend it where it stands")
    advice = "they cannot be mended in place; convert them"
    document = pick(read_documents(input_, format=format_), None, advice=advice)
    try:
        mended = mend(document, force=force)
    except RepairRefused as error:
        _tell(document.name, error.losses)
        raise
    _tell(document.name, [*mended.changes, *mended.losses])
    told = counted(len(mended.changes), "change") if mended.changes else "nothing to mend"
    if mended.losses:
        told += f"; {counted(len(mended.losses), 'thing')} against it"
    if dry_run:
        told += "; nothing was written"
    elif in_place:
        if mended.changes:
            backup = replace_with_backup(input_, mended.data)
            told += f"; the file as it was is {one_line(str(backup))}"
    elif output is not None:
        write_output(output, mended.data)
    click.echo(f"{one_line(document.name)}: {told}", err=True)


_SHOWN = 50
"""notes that are printed; a session that was taken for another may lose thousands of things"""


def _tell(name: str, notes: Sequence[Note]) -> None:
    from legato.diagnostics import Redactor

    hide = Redactor().text
    for note in notes[:_SHOWN]:
        click.echo(f"{one_line(name)}: {one_line(hide(str(note)))}", err=True)
    if len(notes) > _SHOWN:
        click.echo(f"{one_line(name)}: and {len(notes) - _SHOWN:,} more", err=True)
