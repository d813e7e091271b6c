"""`legato config`: the settings, where each comes from, and what a project may set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import click

from legato.cli import completing
from legato.cli.exits import ExitCode
from legato.cli.saying import say, say_data

_config = click.option("--config", "file", type=click.Path(path_type=Path), metavar="FILE", help="Use these settings.")


@click.group(invoke_without_command=True, short_help="Show the settings and where each comes from.")
@click.option(
    "--explain",
    "route",
    metavar="ROUTE",
    shell_complete=completing.routes,
    help="Say where each capability of a route comes from.",
)
@click.pass_context
def config(ctx: click.Context, route: str | None) -> None:
    """Show the settings, where each comes from, and agree to those of a project.

    Later places win: your file, the project's file, the environment, flags.
    """
    if route is not None and ctx.invoked_subcommand is not None:
        raise click.UsageError(f"--explain stands alone; leave out {ctx.invoked_subcommand}")
    if route is not None:
        ctx.invoke(explain, route=route)
    elif ctx.invoked_subcommand is None:
        say_data(ctx.get_help())


@config.command(short_help="Show every setting.")
@_config
@click.option("--origin", is_flag=True, help="Say where each setting comes from.")
@click.option("--all", "shows_all", is_flag=True, help="Also settings that have their default.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object: by setting, its value and origin.")
def show(file: Path | None, origin: bool, shows_all: bool, as_json: bool) -> None:
    """Show the settings that hold in this folder. Keys are hidden."""
    import msgspec

    from legato.cli.chat.notices import notices
    from legato.cli.settings.files import load
    from legato.cli.settings.layers import BUILT_IN, every_setting
    from legato.cli.terminal.reveal import reveal_line
    from legato.files.json_text import encode_indented

    loaded = load(config=file)
    rows = {
        key: (_hidden(key, value), loaded.origins.get(key, BUILT_IN))
        for key, value in every_setting(loaded.settings)
        if shows_all or as_json or origin or key in loaded.origins
    }
    if as_json:
        plain = {key: {"value": value, "origin": place} for key, (value, place) in rows.items()}
        say_data(encode_indented(plain).decode())
        return
    for key, (value, place) in rows.items():
        told = "" if value is None else msgspec.json.encode(value).decode()
        said = f"{key} = {told}" if value is not None else f"# {key} is not set"
        say(reveal_line(f"{said}  # {place}" if origin else said))
    if not rows:
        say(f"Nothing is set; {loaded.user_file} does not exist or is empty.", err=True)
    for note in notices(loaded, Path.cwd()):
        say(reveal_line(note), err=True)


@config.command(short_help="Say where each capability of a route comes from.")
@click.argument("route", shell_complete=completing.routes)
@_config
@click.option("--json", "as_json", is_flag=True, help="As one JSON object: by capability, its value and origin.")
def explain(route: str, file: Path | None = None, as_json: bool = False) -> None:
    """Say what is believed about ROUTE (provider/model), and where each capability comes from.

    The default of every model, then the built-in catalogue (what it says of the provider, then of models with such a
    name), then your settings: providers.NAME.capabilities, then families. A later place goes over an earlier one.
    """
    import msgspec

    from legato.cli.settings.files import load
    from legato.cli.settings.own_catalogue import catalogue_of
    from legato.cli.terminal.reveal import reveal_line
    from legato.files.json_text import encode_indented

    loaded = load(config=file)
    rows = catalogue_of(loaded.settings, loaded.origins).explain(route)
    if as_json:
        plain = {row.name: {"value": row.value, "origin": row.source} for row in rows}
        say_data(encode_indented(plain).decode())
        return
    for row in rows:
        say(reveal_line(f"{row.name} = {msgspec.json.encode(row.value).decode()}  # {row.source}"))


@config.command(short_help="Show where settings are read from.")
@_config
def path(file: Path | None) -> None:
    """Show the files that settings are read from, and whether they exist."""
    from legato.cli.settings.files import PROJECT_NAMES, user_file
    from legato.cli.settings.project_files import find_file
    from legato.cli.terminal.reveal import reveal_line

    user = user_file(file)
    project, passed_over = find_file(PROJECT_NAMES, Path.cwd())
    say(f"user     {user}{'' if user.exists() else '  (does not exist)'}")
    none = f"none ({' or '.join(PROJECT_NAMES)}, in this folder or above)"
    say(f"project  {none if project is None else project.path}")
    for note in passed_over:
        say(reveal_line(note), err=True)


@config.command(short_help="Begin a settings file.")
@_config
def init(file: Path | None) -> None:
    """Write a settings file with examples, all of them comments; an existing one is not touched."""
    from legato.cli.settings.files import user_file
    from legato.cli.settings.writing import EXAMPLE, write_file

    place = user_file(file)
    if place.exists():
        raise click.UsageError(f"{place} exists already; edit it, or name another file with --config")
    write_file(place, EXAMPLE)
    say(str(place))


@config.command(short_help="Agree to what this project's files want.")
@_config
@click.option("--yes", is_flag=True, help="Agree without being asked.")
def trust(file: Path | None, yes: bool) -> int:
    """Show what this project's settings and MCP servers want beyond harmless settings, and agree to it.

    The agreement holds for this folder and for exactly what is shown; what changes is asked for again.
    """
    from legato.cli.chat.mcp_servers import find_servers, show
    from legato.cli.settings.files import load
    from legato.cli.settings.project import show_file
    from legato.cli.settings.trust import Trust
    from legato.cli.terminal.screen import Screen

    keeper, screen = Trust(), Screen(sys.stdout)
    loaded = load(config=file)
    servers = find_servers(Path.cwd(), keeper)
    if not loaded.withheld and not servers.unknown:
        say("There is nothing to agree to here.", err=True)
        return ExitCode.OK
    if loaded.withheld:
        show_file(loaded, screen)
    for server in servers.unknown:
        show(server, screen)
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody is there to agree; give --yes")
        click.confirm("Agree to all of this?", abort=True)
    if loaded.withheld and loaded.project_file is not None and loaded.project is not None:
        keeper.remember(loaded.project_file.parent, loaded.project.digest)
    for server in servers.unknown:
        if servers.path is not None:
            keeper.remember(servers.path.parent, server.digest)
    if load(config=file).withheld:
        say("Agreed to what was shown; the file was changed meanwhile, so look at it again.", err=True)
        return ExitCode.FAILURE
    say("Agreed.", err=True)
    return ExitCode.OK


def _hidden(key: str, value: Any) -> Any:
    """`value` without secrets: the name of a variable is none, a key is."""
    from legato.diagnostics import HIDDEN, Redactor

    if key.startswith("keys."):
        return value if isinstance(value, str) and value.startswith("$") else HIDDEN
    return _without_headers(Redactor().value(value), HIDDEN)


def _without_headers(value: Any, hidden: str) -> Any:
    """`value` without what is in headers: tokens have many names there."""
    if isinstance(value, list):
        return [_without_headers(item, hidden) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    table = cast("dict[str, Any]", value)
    headers = table.get("headers")
    if isinstance(headers, dict):
        table = {**table, "headers": dict.fromkeys(cast("dict[str, Any]", headers), hidden)}
    return {name: _without_headers(item, hidden) for name, item in table.items()}
