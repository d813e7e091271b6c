"""MCP servers of a conversation: started behind the prompt, told about when they fail, and watched from then on.

A person can type at once; the tools of a server are offered when it has answered. The first message waits for servers
that are still starting, so that the model has all tools from its first request on, and the prompt cache stays whole.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from legato.cli.terminal.reveal import reveal_line
from legato.tools import Tool

if TYPE_CHECKING:
    from legato.tools.mcp import McpLink, McpServer


class RunningServers:
    """What the servers of a conversation offer, and how each is doing. `tell` gets a line about what went wrong."""

    def __init__(self) -> None:
        self.conditions: dict[str, str] = {}
        """by name, how each is doing, in words"""
        self.tell: Callable[[str], None] = lambda _: None
        self.offered: Callable[[Sequence[Tool]], None] = lambda _: None
        """told of the tools of all servers, whenever they change"""
        self._links: Sequence[McpLink] = ()
        self._tools: tuple[Tool, ...] = ()

    @property
    def are_starting(self) -> bool:
        """Whether a server has neither answered nor failed yet."""
        return any(not link.ready.is_set() for link in self._links)

    async def ready(self) -> None:
        """Wait until every server has answered or failed."""
        for link in self._links:
            await link.ready.wait()

    def watch(self, links: Sequence[McpLink]) -> None:
        """These are the servers."""
        self._links = links
        self.conditions.update((link.server.name, link.condition) for link in links)

    def changed(self, link: McpLink) -> None:
        """A server is doing better or worse."""
        name = link.server.name
        self.conditions[name] = link.condition
        if link.failure is not None:
            self.tell(f"MCP server {reveal_line(name)}: {reveal_line(link.failure)}")
        elif link.condition == "starting again":
            self.tell(f"MCP server {reveal_line(name)} has ended and is started again")
        tools = tuple(tool for one in self._links if one.failure is None for tool in one.tools)
        if tools != self._tools:
            self._tools = tools
            self.offered(tools)


@asynccontextmanager
async def running_servers(servers: Sequence[McpServer], *, seconds: float) -> AsyncGenerator[RunningServers]:
    """Start `servers`, without waiting for them, for the time of the `async with`."""
    running = RunningServers()
    if not servers:
        yield running
        return
    from legato.tools.mcp import start_mcp  # only here: most folders name no servers

    async with start_mcp(servers, seconds=seconds, changed=running.changed) as links:
        running.watch(links)
        yield running
