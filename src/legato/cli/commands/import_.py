"""`legato import`: a session file of any agent into the store, to go on with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from legato.cli.format_options import from_option
from legato.cli.saying import say

if TYPE_CHECKING:
    from legato.formats import Document
    from legato.store import Store


@click.command("import", short_help="Bring a session file into the store, to go on with it.")
@click.argument("file", metavar="FILE")
@from_option
@click.option("--title", metavar="TEXT", help="What lists show for it.")
@click.option("--all", "takes_all", is_flag=True, help="Every conversation, in a file that holds several.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use these settings.")
def import_(file: str, format_: str | None, title: str | None, takes_all: bool, config: Path | None) -> None:
    """Bring a session file into the store; its new id is printed. `legato -r ID` goes on with it.

    FILE is a session of any agent that `legato convert` reads, a request body, or a Legato log; - is standard input.
    What its own agent had summarised is hidden from the model but kept in the log.
    """
    from legato.cli.async_main import run_async
    from legato.cli.settings.project import store_setting
    from legato.cli.terminal.cells import one_line
    from legato.formats.document import fold_notes
    from legato.store import open_store

    place = store_setting(config)
    chosen = _read(file, format_, takes_all=takes_all)

    async def keep() -> list[str]:
        async with open_store(place) as store:
            return [await _keep(store, document, file, title) for document in chosen]

    for session_id, document in zip(run_async(keep), chosen, strict=True):
        say(session_id)
        count = len(document.entries)
        told = f"{document.format}, {count:,} {'entry' if count == 1 else 'entries'}"
        say(f"{one_line(document.name or file)}: {told}; go on with: legato -r {session_id}", err=True)
        notes = fold_notes(document.notes)
        for note in notes[:10]:
            say(f"  {one_line(str(note))}", err=True)
        if len(notes) > 10:
            say(f"  and {len(notes) - 10:,} more notes; `legato inspect` shows them", err=True)


def _read(file: str, format_: str | None, *, takes_all: bool) -> list[Document]:
    """The conversations to keep: the main one, or all that hold anything."""
    from legato.cli.commands.file_arguments import pick_one, read_documents
    from legato.errors import FormatError

    documents = read_documents(file, format=format_)
    picked = documents if takes_all else [pick_one(documents, None, advice="take them all with --all")]
    chosen = [one for one in picked if not one.is_empty]
    if not chosen:
        raise FormatError(f"{picked[0].name}: there is no conversation in it, so there is nothing to go on with")
    return chosen


async def _keep(store: Store, document: Document, file: str, title: str | None) -> str:
    meta = {"cwd": document.meta.get("cwd") or str(Path.cwd().resolve()), "imported": f"{document.format} {file}"}
    if title or document.meta.get("title"):
        meta["title"] = title or document.meta["title"]
    return await store.create(meta=meta, records=document.conversation(compacted=True).log)
