"""Tools of MCP servers, as tools of a session.

In:  `.mcp.json`: servers by name, started as a program (stdio) or reached by URL (streamable HTTP).
Out: while connected, one `Tool` for each remote tool, named `mcp__{server}__{tool}`.

Starting a server from a project's file means running what a stranger may have written, so it is asked for first; that
is the session's part. What it needs is here: what would be started, and a digest that changes when that does. A server
that cannot be reached is reported and leaves the others alone. A server's own word that a tool only reads is not
believed: all its tools count as `other`.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio
from msgspec import Struct

from legato.errors import ConfigError
from legato.tools.mcp_config import McpServer, fill_in, load_mcp_config, read_mcp_config
from legato.tools.mcp_link import McpLink
from legato.tools.registry import Tool

__all__ = [
    "McpLink",
    "McpServer",
    "McpTools",
    "connect_mcp",
    "fill_in",
    "load_mcp_config",
    "read_mcp_config",
    "start_mcp",
]


class McpTools(Struct, frozen=True):
    """What connecting gave: the tools of all servers that answered, and why the others did not."""

    tools: tuple[Tool, ...]
    failures: dict[str, str]


@asynccontextmanager
async def connect_mcp(
    servers: Iterable[McpServer], *, environment: Mapping[str, str] | None = None, seconds: float = 30.0
) -> AsyncGenerator[McpTools]:
    """Connect to `servers`, all at once, for the time of the `async with`; each has `seconds` to answer.

    Enter and leave it in the same task.
    """
    async with start_mcp(servers, environment=environment, seconds=seconds) as links:
        for link in links:
            await link.ready.wait()
        yield McpTools(
            tools=tuple(tool for link in links for tool in link.tools),
            failures={link.server.name: link.failure for link in links if link.failure is not None},
        )


@asynccontextmanager
async def start_mcp(
    servers: Iterable[McpServer],
    *,
    environment: Mapping[str, str] | None = None,
    seconds: float = 30.0,
    changed: Callable[[McpLink], None] = lambda _: None,
) -> AsyncGenerator[Sequence[McpLink]]:
    """Begin to connect to `servers`, without waiting for them; `changed` is told of each that connects or fails.

    Enter and leave it in the same task.
    """
    variables = os.environ if environment is None else environment
    links = [McpLink(server, variables, seconds, changed=changed) for server in servers]
    if links:
        _require_mcp()
    async with anyio.create_task_group() as group:
        for link in links:
            group.start_soon(link.keep)
        try:
            yield links
        finally:
            for link in links:
                link.end()


def _require_mcp() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError("MCP servers need the package `mcp`; install it with: pip install 'legato[mcp]'")
