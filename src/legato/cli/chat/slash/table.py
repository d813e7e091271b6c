"""Slash commands: what a person can ask the program itself, in the middle of a conversation.

Each command is a function of the table below; `/help` is printed from the table, and completion reads it too.
"""

from __future__ import annotations

from difflib import get_close_matches

from legato.cli.chat.slash import answering, history, overview, requests, thinking
from legato.cli.chat.slash.contract import Chat, Command, Leave, Next
from legato.cli.chat.slash.layout import hanging
from legato.cli.exits import line_of
from legato.cli.terminal.styles import Style
from legato.errors import LegatoError


async def run_command(chat: Chat, line: str) -> Next:
    """Run the command in `line`; an error is said, and nothing else happens."""
    name, _, rest = line.strip().partition(" ")
    command = find_command(name)
    if command is None:
        near = get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else "/help lists them"
        chat.screen.line(f"There is no command {name}; {hint}", Style.YELLOW)
        return None
    try:
        return await command.run(chat, rest.strip())
    except (LegatoError, OSError) as error:
        chat.screen.line(line_of(error), Style.RED)
        return None


def find_command(name: str) -> Command | None:
    """The command of that name, or of a name that other agents have for it."""
    return COMMANDS.get(_ELSEWHERE.get(name, name))


async def _help(chat: Chat, _: str) -> Next:
    rows = [(f"{command.name} {command.arguments}".strip(), command.summary) for command in COMMANDS.values()]
    rows += [
        ("!command", "run a command in your shell and put its output into the conversation"),
        ("@file", "attach a file or an image to a message"),
        ("Alt-Enter, Ctrl-J", "begin a new line"),
        ("Esc", "interrupt what runs; what you typed meanwhile stays"),
        ("Esc, Esc", "at rest: edit your last message"),
        ("Up", "in an empty box: take back what waits, then what you said before"),
        ("Ctrl-R", "search what you said before"),
        ("Ctrl-O", "open output that was folded"),
        ("Shift-Tab", "the next approval mode: ask, edits, plan"),
        ("Ctrl-X Ctrl-E", "write the message in your editor"),
        ("Ctrl-Z", "suspend; fg goes on"),
        ("Ctrl-C", "interrupt what runs; twice at an empty prompt: leave"),
    ]
    for line in hanging(rows, chat.screen.width):
        chat.screen.line(line)
    return None


async def _quit(_chat: Chat, _: str) -> Next:
    return Leave()


_ELSEWHERE = {"/exit": "/quit", "/new": "/clear", "/resume": "/sessions", "/permissions": "/approval"}
"""names that fingers know from other agents"""

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("/model", "[ROUTE]", "pick who answers, or name them", answering.model, at_once=True),
        Command(
            "/route", "[PROFILE]", "profiles, and how their routes are; let one choose", answering.route, at_once=True
        ),
        Command("/retry", "", "ask again for an answer that did not come", answering.retry, at_once=True),
        Command("/approval", "[MODE]", "ask, edits, plan or never", answering.approval, at_once=True),
        Command("/thinking", "[on|off|default]", "whether the model thinks first", thinking.thinking, at_once=True),
        Command("/effort", "[WORD]", "how hard it thinks", thinking.effort, at_once=True),
        Command("/history", "[NAME VALUE]", "how much it is sent of what was said", thinking.history, at_once=True),
        Command("/status", "", "route, session, size and cost", overview.status, at_once=True),
        Command("/tools", "", "the tools that the model may use", overview.tools, at_once=True),
        Command("/mcp", "", "the MCP servers and how they are", overview.mcp, at_once=True),
        Command("/compact", "", "shorten the conversation now", history.compact),
        Command("/undo", "[N]", "take back the last message and what followed", history.undo),
        Command("/lint", "[ROUTE]", "what a provider would say to this conversation", requests.lint, at_once=True),
        Command("/last", "[FILE]", "the last request: what was decided, what came of it", requests.last, at_once=True),
        Command(
            "/export", "[FILE] [FORMAT]", "write it to a file: md, html, json, or for another agent", requests.export
        ),
        Command("/cost", "", "what was used, by route", overview.cost, at_once=True),
        Command("/sessions", "[ID]", "pick a stored session, and go on with it", history.sessions),
        Command("/clear", "", "begin a new conversation", history.clear),
        Command("/help", "", "this list", _help, at_once=True),
        Command("/quit", "", "leave", _quit),
    )
}
