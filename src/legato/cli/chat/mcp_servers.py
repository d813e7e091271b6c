"""The servers of `.mcp.json`: which of them may be started, after a person was asked once for each.

Starting a server means running what the project's file says. The answer is remembered for this folder and for exactly
this command, URL and environment; a changed line asks again. Where no one can be asked, a server that was never agreed
to is left out, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from legato.cli.settings.project_files import MCP_FILE, find_file
from legato.cli.settings.trust import Trust
from legato.cli.terminal.reading import PromptReader
from legato.cli.terminal.reveal import reveal_line
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.model.trust import Allowance, Party, Power, leave_of

if TYPE_CHECKING:
    from legato.tools.mcp import McpServer


class Servers(NamedTuple):
    """The servers of a project: those that may start, and those that no one agreed to."""

    path: Path | None
    agreed: list[McpServer]
    unknown: list[McpServer]


def find_servers(folder: Path, trust: Trust | None = None) -> Servers:
    """The servers that count for `folder`: of the nearest `.mcp.json`."""
    file = find_file((MCP_FILE,), folder).file
    if file is None:
        return Servers(None, [], [])
    from legato.tools.mcp import read_mcp_config  # only here: most folders have no such file

    known = trust or Trust()
    agreed: list[McpServer] = []
    unknown: list[McpServer] = []
    # Whoever wrote the file, and whether its folder's settings are trusted or not: a server is asked about by itself.
    is_asked = leave_of(Party.TRUSTED, Power.START_SERVER) is not Allowance.YES
    for server in read_mcp_config(file.data, file.path):
        is_agreed = not is_asked or known.knows(file.path.parent, server.digest)
        (agreed if is_agreed else unknown).append(server)
    return Servers(file.path, agreed, unknown)


async def ask_for_servers(
    servers: Servers, *, screen: Screen, reader: PromptReader, trust: Trust | None = None
) -> list[McpServer]:
    """Ask about the servers that no one agreed to yet; those that may start now."""
    agreed = list(servers.agreed)
    if servers.path is None:
        return agreed
    keeper = trust or Trust()
    for server in servers.unknown:
        show(server, screen)
        answer = await _answer(reader, f"{reveal_line(server.name)}: start it? [y] yes, always here  [o] once  [n] no ")
        if answer == "y":
            keeper.remember(servers.path.parent, server.digest)
        if answer in ("y", "o"):
            agreed.append(server)
        else:
            screen.line(f"{reveal_line(server.name)} is not started.", Style.DIM)
    return agreed


def show(server: McpServer, screen: Screen) -> None:
    """Show what starting `server` would do, with nothing hidden."""
    verb = "reach" if server.url else "run"
    screen.line(f"{MCP_FILE} of this project wants to {verb} the MCP server {reveal_line(server.name)}:")
    screen.quote(reveal_line(server.shown))
    if server.cwd:
        screen.quote(f"in {reveal_line(server.cwd)}")
    for name, value in server.env.items():
        screen.quote(f"{reveal_line(name)}={reveal_line(value)}")
    for name, value in server.headers.items():
        screen.quote(f"{reveal_line(name)}: {reveal_line(value)}")


def left_out(servers: Sequence[McpServer]) -> str:
    """What is said where no one can be asked."""
    names = ", ".join(reveal_line(server.name) for server in servers)
    return f"not started, because nobody agreed to it yet: {names}; `legato config trust` asks"


async def _answer(reader: PromptReader, question: str) -> str:
    while True:
        try:
            answer = (await reader.line(question)).strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            return "n"
        if answer in ("y", "o", "n"):
            return answer
