"""`legato repair`: a mended copy of a file, in its own format."""

from __future__ import annotations

import click

from legato.cli.files_text import counted, one_line


@click.command(short_help="Write a mended copy of a session file or request body.")
@click.argument("input_", metavar="INPUT")
@click.option("-o", "--output", metavar="OUT", help="Where to write the mended copy; - is standard output.")
@click.option("--write", "in_place", is_flag=True, help="Put it in place of INPUT, which stays beside it as a backup.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option("--from", "format_", metavar="FORMAT", help="Read the file as this format, whatever it looks like.")
def repair(input_: str, output: str | None, in_place: bool, dry_run: bool, format_: str | None) -> None:
    """Write a mended copy of a session file or request body, in the same format.

    Every call gets exactly one result, directly behind it; what was right keeps its bytes. A result that is put in
    says that there is none, and is known for that when the file is read again. Repairing twice changes nothing more.
    """
    from legato.cli.files_reading import STDIN, pick, read_documents
    from legato.cli.files_writing import check_output, refuse_same_file, replace_with_backup, write_output
    from legato.diagnostics import Redactor
    from legato.formats import mend

    if in_place and (output is not None or input_ == STDIN):
        raise click.UsageError("--write mends a file where it stands; leave out --output, and name a file")
    if not in_place and output is None and not dry_run:
        raise click.UsageError("say where to write: -o OUT, or --write to mend the file where it stands, or --dry-run")
    if output is not None:
        check_output(output)
        refuse_same_file(input_, output, advice="use --write to mend it where it stands")
    advice = "they cannot be mended in place; convert them"
    document = pick(read_documents(input_, format=format_), None, advice=advice)
    mended = mend(document)
    hide = Redactor().text
    name = one_line(document.name)
    for change in mended.changes:
        click.echo(f"{name}: {one_line(hide(str(change)))}", err=True)
    told = f"{counted(len(mended.changes), 'change')}" if mended.changes else "nothing to mend"
    if dry_run:
        click.echo(f"{name}: {told}; nothing was written", err=True)
    elif in_place:
        if mended.changes:
            backup = replace_with_backup(input_, mended.data)
            told += f"; the file as it was is {one_line(str(backup))}"
        click.echo(f"{name}: {told}", err=True)
    elif output is not None:
        write_output(output, mended.data)
        click.echo(f"{name}: {told}", err=True)
