"""`legato sessions`: what is stored, and what can be done with it."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from legato.cli import completing
from legato.cli.exits import ExitCode
from legato.cli.format_options import FormatOption
from legato.cli.saying import say, say_data

if TYPE_CHECKING:
    from legato.store import SessionSummary, Store

T = TypeVar("T")

_config = click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Use these settings.")


_LISTED = 50
"""sessions that are listed where no one says how many: our choice, about two screens"""


def _listing(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a list of sessions: those of `legato sessions` and of `legato sessions list`."""
    options = (
        click.option("--here", is_flag=True, help="Only those of this folder."),
        click.option("-n", "--limit", type=click.IntRange(min=1), help=f"Show at most this many (default: {_LISTED})."),
        click.option("--json", "as_json", is_flag=True, help="One JSON object a line."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(invoke_without_command=True, short_help="List, show, export or delete stored sessions.")
@_config
@_listing
@click.pass_context
def sessions(ctx: click.Context, config: Path | None, here: bool, limit: int | None, as_json: bool) -> None:
    """List, show, export, check or delete stored sessions. Without a command they are listed.

    A session is named by its id, or by the beginning or the end of it.
    """
    ctx.obj = config
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sessions, here=here, limit=limit, as_json=as_json)
    elif here or limit is not None or as_json:
        raise click.UsageError(f"--here, -n and --json go behind the command: legato sessions {ctx.invoked_subcommand}")


@sessions.command("list", short_help="List the sessions, the one written last first.")
@_listing
@click.pass_obj
def list_sessions(config: Path | None, here: bool, limit: int | None, as_json: bool) -> None:
    """List the sessions, the one written last first, those of their subagents (↳) under them."""
    from legato.cli.sessions.lookup import as_rows
    from legato.cli.sessions.subagents import with_subagents, without_subagents
    from legato.cli.terminal.cells import table
    from legato.cli.terminal.screen import Screen

    folder = Path.cwd().resolve()
    found = _in_store(config, lambda store: store.list())
    chosen = [one for one in without_subagents(found) if not here or one.cwd == str(folder)][: limit or _LISTED]
    chosen = with_subagents(chosen, found)
    if as_json:
        for one in chosen:
            _print_json(one)
        return
    if not chosen:
        say("No session is stored here yet." if here else "No session is stored yet.", err=True)
        return
    screen = Screen(sys.stdout)
    width = screen.width if sys.stdout.isatty() else 1_000
    for line in table(as_rows(chosen, folder, width=width), width=width):
        screen.line(line)


@sessions.command(short_help="Show what was said in a session.")
@click.argument("session", shell_complete=completing.sessions)
@click.option("--json", "as_json", is_flag=True, help="The facts about it, as JSON.")
@click.pass_obj
def show(config: Path | None, session: str, as_json: bool) -> None:
    """Show what was said in a session, and what its tools returned, in a few lines each."""
    from legato.cli.sessions.as_lines import page
    from legato.cli.sessions.subagents import with_subagents
    from legato.transcript import Conversation

    async def look(store: Store) -> tuple[SessionSummary, Conversation, list[SessionSummary]]:
        summary = await _find(store, session)
        records = () if as_json else await store.read(summary.id)
        return summary, Conversation(records), with_subagents([summary], await store.list())[1:]

    summary, talk, subagents = _in_store(config, look)
    if as_json:
        _print_json(summary)
        return
    for line in page(summary, talk, subagents):
        say(line)


@sessions.command(short_help="Write a session as a file.")
@click.argument("session", shell_complete=completing.sessions)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where to write it.")
@click.option(
    "--format",
    "form",
    cls=FormatOption,
    default="legato",
    show_default=True,
    shell_complete=completing.written_formats,
    help="{files}, or a request: {bodies}.",
)
@click.option(
    "--model", metavar="ROUTE", shell_complete=completing.routes, help="The route that a request body is for."
)
@click.pass_obj
def export(config: Path | None, session: str, output: Path | None, form: str, model: str | None) -> None:
    """Write a session as a file, to standard output unless -o names one. A Legato log can be imported again."""
    from legato.cli.private_files import write_new
    from legato.formats import write
    from legato.transcript import Conversation

    async def dump(store: Store) -> tuple[bytes, list[str]]:
        summary = await _find(store, session)
        if form == "legato":
            return b"".join([line async for line in store.export(summary.id)]), []
        written = write(Conversation(await store.read(summary.id)), form, model=model)
        return written.data, [str(loss) for loss in written.losses]

    data, losses = _in_store(config, dump)
    if output is None:
        sys.stdout.buffer.write(data)
    else:
        try:
            write_new(output, data)
        except FileExistsError:
            raise click.UsageError(f"{output} exists already; name another file") from None
    for loss in losses:
        say(f"not carried: {loss}", err=True)


@sessions.command(short_help="Forget sessions for good.")
@click.argument("names", metavar="SESSION...", nargs=-1, required=True, shell_complete=completing.sessions)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(config: Path | None, names: tuple[str, ...], yes: bool) -> None:
    """Forget sessions for good, each with those of its subagents."""
    from legato.cli.sessions.kept_outputs import forget_outputs
    from legato.cli.sessions.subagents import with_subagents

    async def find(store: Store) -> list[SessionSummary]:
        return with_subagents([await _find(store, name) for name in names], await store.list())

    async def forget(store: Store) -> None:
        for summary in found:
            await store.delete(summary.id)
            forget_outputs(summary.id)

    found = _in_store(config, find)
    told = ", ".join(f"{one.id} (subagent of {one.subagent_of})" if one.subagent_of else one.id for one in found)
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody is there to confirm it; give --yes")
        click.confirm(f"Forget {told} for good?", abort=True, err=True)
    _in_store(config, forget)
    say(f"Forgotten: {told}", err=True)


@sessions.command(short_help="Copy a session.")
@click.argument("session", shell_complete=completing.sessions)
@click.option("--at", type=click.IntRange(min=0), metavar="N", help="Copy only the first N records.")
@click.pass_obj
def fork(config: Path | None, session: str, at: int | None) -> None:
    """Copy a session, or its beginning; the id of the copy is printed."""

    async def copy(store: Store) -> str:
        return await store.fork((await _find(store, session)).id, at=at)

    say(_in_store(config, copy))


@sessions.command(short_help="Give a session a title.")
@click.argument("session", shell_complete=completing.sessions)
@click.argument("title")
@click.pass_obj
def rename(config: Path | None, session: str, title: str) -> None:
    """Give a session a title, which lists show instead of the first words said."""

    async def name(store: Store) -> None:
        await store.annotate((await _find(store, session)).id, {"title": title or None})

    _in_store(config, name)


@sessions.command(short_help="Look for damage.")
@click.argument("session", required=False, shell_complete=completing.sessions)
@click.pass_obj
def check(config: Path | None, session: str | None) -> int:
    """Look at every stored byte of a session, or of all. Exit status: 0 if all is well, 7 if something is damaged."""
    from legato.cli.terminal.cells import one_line
    from legato.store import Problem

    async def look(store: Store) -> list[Problem]:
        return list(await store.check(None if session is None else (await _find(store, session)).id))

    problems = _in_store(config, look)
    for problem in problems:
        place = " ".join(
            part
            for part in (
                problem.session or "",
                f"record {problem.sequence}" if problem.sequence is not None else "",
            )
            if part
        )
        say(one_line(f"{place}: {problem.message}" if place else problem.message))
    say(f"{len(problems)} problem{'s' * (len(problems) != 1)} found." if problems else "All is well.", err=True)
    return ExitCode.SESSION if problems else ExitCode.OK


@sessions.command(short_help="Copy the whole store into a file.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
def backup(config: Path | None, file: Path) -> None:
    """Copy the whole store into a new SQLite FILE, also while sessions are being written."""

    async def copy(store: Store) -> None:
        from legato.store.sqlite import SqliteStore

        if not isinstance(store, SqliteStore):
            raise click.UsageError("only the SQLite store copies itself; use the database's own tools for this one")
        await store.backup(file)

    _in_store(config, copy)
    say(f"Copied to {file}.", err=True)


def _in_store(config: Path | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do `work` with the store that the settings name."""
    from legato.cli.async_main import run_async
    from legato.cli.settings.project import store_setting
    from legato.store import open_store

    place = store_setting(config)

    async def main() -> T:
        async with open_store(place) as store:
            return await work(store)

    return run_async(main)


async def _find(store: Store, name: str) -> SessionSummary:
    from legato.cli.sessions.lookup import find_session

    return await find_session(store, name)


def _print_json(summary: SessionSummary) -> None:
    import msgspec

    say_data(msgspec.json.encode(summary).decode())
