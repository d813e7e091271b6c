"""Slash commands that show what there is: the route, tools, servers, costs."""

from __future__ import annotations

from legato.cli.chat.slash.contract import Chat, Next
from legato.cli.chat.slash.layout import hanging
from legato.cli.terminal.cells import table
from legato.cli.terminal.words import dollars, tokens


async def status(chat: Chat, _: str) -> Next:
    """`/status`: everything about this conversation in a table."""
    session, setup = chat.session, chat.setup
    profile = session.router.pending or session.router.profile
    target = session.target(profile.routes[0])
    preview = session.preview_switch(session.route)
    usage = session.spending.usage
    rows = [
        ("route", session.route),
        ("profile", f"{profile.name} ({profile.policy})"),
        ("endpoint", "simulated" if setup.settings.simulate else target.endpoint),
        ("session", session.id or "not stored"),
        ("folder", str(setup.folder)),
        ("approval", setup.approval.mode.value),
        ("conversation", f"about {preview.tokens:,} of {preview.window:,} tokens"),
        ("used", f"{tokens(usage)}, {dollars(session.spending.cost, known=session.spending.known)}"),
        ("tools", str(len(session.tools))),
    ]
    for line in hanging(rows, chat.screen.width):
        chat.screen.line(line)
    return None


async def tools(chat: Chat, _: str) -> Next:
    """`/tools`: what the model may call."""
    rows = [(tool.name, tool.kind.value, tool.spec.description) for tool in chat.session.tools]
    for line in table(rows, width=chat.screen.width):
        chat.screen.line(line)
    return None


async def mcp(chat: Chat, _: str) -> Next:
    """`/mcp`: the servers, and how each is doing."""
    if not chat.servers:
        chat.screen.line("No MCP server is connected; name them in .mcp.json.")
    for line in hanging(list(chat.servers.items()), chat.screen.width) if chat.servers else ():
        chat.screen.line(line)
    return None


async def cost(chat: Chat, _: str) -> Next:
    """`/cost`: tokens and dollars, by route."""
    spending = chat.session.spending
    rows = [(route, f"{tokens(usage)} · {dollars(cost)}") for route, (usage, cost) in spending.by_route.items()]
    rows.append(("together", f"{tokens(spending.usage)} · {dollars(spending.cost, known=spending.known)}"))
    for line in hanging(rows, chat.screen.width):
        chat.screen.line(line)
    return None
