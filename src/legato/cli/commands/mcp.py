"""`legato mcp`: the MCP servers of this project: those of `.mcp.json`, in the form that other agents use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from legato.cli.saying import say


@click.group(short_help="Add, list or remove MCP servers of this project.")
def mcp() -> None:
    """Add, list or remove the MCP servers of this project, which are in its .mcp.json."""


@mcp.command(short_help="Add a server.", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--url", metavar="URL", help="Where it is reached, in place of a command.")
@click.option("-e", "--env", "variables", multiple=True, metavar="NAME=VALUE", help="A variable that it gets.")
@click.option(
    "-H", "--header", "headers", multiple=True, metavar="NAME: VALUE", help="A header that is sent to the URL."
)
def add(
    name: str, command: tuple[str, ...], url: str | None, variables: tuple[str, ...], headers: tuple[str, ...]
) -> None:
    """Add the server NAME, which COMMAND starts, or which is reached at a URL.

    Options of COMMAND go behind --: legato mcp add files -- npx -y some-server. A secret is better written as ${NAME},
    which is filled in from the environment when the server is started. What you add here is started without asking.
    """
    words = list(command)
    if url is None and len(words) == 1 and words[0].startswith(("http://", "https://")):
        url = words.pop()
    if bool(words) == bool(url):
        raise click.UsageError("a server has a command or a --url; give one of them")
    entry: dict[str, Any] = {"url": url} if url else {"command": words[0], "args": words[1:]}
    if variables:
        entry["env"] = _pairs(variables, "=", "--env")
    if headers:
        entry["headers"] = _pairs(headers, ":", "--header")
    from legato.cli.settings.mcp_file import add_server

    say(f"Added {name} to {add_server(Path.cwd(), name, entry)}.", err=True)


@mcp.command("list", short_help="List the servers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_servers(as_json: bool) -> None:
    """List the servers, what starts them, and whether somebody agreed to that."""
    import msgspec

    from legato.cli.chat.mcp_servers import find_servers
    from legato.cli.saying import say_data
    from legato.cli.terminal.reveal import reveal_line
    from legato.files.json_text import encode_json

    found = find_servers(Path.cwd())
    if found.path is None:
        say("No .mcp.json is in this folder or above; `legato mcp add` begins one.", err=True)
        return
    for server in (*found.agreed, *found.unknown):
        is_agreed = server in found.agreed
        if as_json:
            plain = {**msgspec.to_builtins(server), "agreed": is_agreed, "file": str(found.path)}
            say_data(encode_json(plain).decode())
        else:
            note = "" if is_agreed else "  (not agreed to; `legato config trust`)"
            say(f"{reveal_line(server.name)}: {reveal_line(server.shown)}{note}")


@mcp.command(short_help="Remove a server.")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the server NAME."""
    from legato.cli.settings.mcp_file import remove_server

    say(f"Removed {name} from {remove_server(Path.cwd(), name)}.", err=True)


def _pairs(texts: tuple[str, ...], sign: str, option: str) -> dict[str, str]:
    pairs = [text.partition(sign) for text in texts]
    for name, found, _ in pairs:
        if not name.strip() or not found:
            raise click.UsageError(f"{option} is written as NAME{sign}VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}
