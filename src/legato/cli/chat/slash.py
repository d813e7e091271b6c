"""Slash commands: what a person can ask the program itself, in the middle of a conversation.

Each command is a function of the table below; `/help` is printed from the table, and completion reads it too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from legato.cli.chat.attachments import words_of
from legato.cli.chat.workbench import Workbench
from legato.cli.exits import line_of
from legato.cli.private_files import write_new
from legato.cli.sessions.lookup import PICKED, as_rows, find_session
from legato.cli.sessions.subagents import begun_by_people
from legato.cli.surroundings import find_profile, profiles_of
from legato.cli.terminal.cells import clip, one_line, table
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.cli.terminal.words import dollars, subject_of, tokens
from legato.errors import CallerError, LegatoError
from legato.model import Authority, Entry, Speaker
from legato.routing import Profile
from legato.session import Sent, Session
from legato.tools import Mode


class Leave(Struct, frozen=True):
    """The program ends."""

    code: int = 0


class Reopen(Struct, frozen=True):
    """Another session takes the place of this one: a stored one, or a new one."""

    session_id: str | None = None


Next = Leave | Reopen | None
"""what follows from a command: usually nothing"""


class Talk(Protocol):
    """What commands see of the conversation."""

    bench: Workbench
    screen: Screen
    servers: dict[str, str]
    """MCP servers by name, and how each is doing"""

    @property
    def session(self) -> Session:
        """The session that is open."""
        ...


class Command(Struct, frozen=True):
    """One command: how it is written, what it does, and the function."""

    name: str
    arguments: str
    summary: str
    run: Callable[[Talk, str], Awaitable[Next]]
    at_once: bool = False
    """whether it makes sense while a turn is under way"""


async def run_command(talk: Talk, line: str) -> Next:
    """Run the command that `line` spells; an error is said, and nothing else happens."""
    name, _, rest = line.strip().partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        near = get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {near[0]}?" if near else "/help lists them"
        talk.screen.line(f"There is no command {name}; {hint}", Style.YELLOW)
        return None
    try:
        return await command.run(talk, rest.strip())
    except (LegatoError, OSError) as error:
        talk.screen.line(line_of(error), Style.RED)
        return None


# --- who answers ------------------------------------------------------------------------------------------------------


async def _model(talk: Talk, route: str) -> Next:
    if not route:
        talk.screen.line(f"{talk.session.route} answers. /model provider/model lets another one answer.")
        return None
    preview = talk.session.preview_switch(route)
    await _switch(talk, route)
    losses = ", ".join(f"{count} × {reason}" for reason, count in preview.losses.items())
    size = f"about {preview.tokens:,} of {preview.window:,} tokens"
    talk.screen.line(f"  {size}{'; ' if losses else ''}{losses}", Style.DIM)
    if not preview.fits:
        talk.screen.line("  The conversation is longer than its window and will be shortened.", Style.YELLOW)
    return None


async def _route(talk: Talk, name: str) -> Next:
    profiles = profiles_of(talk.bench.settings)
    if name:
        await _switch(talk, find_profile(talk.bench.settings, name))
        return None
    if not profiles:
        talk.screen.line("No profiles are configured; add [profiles.NAME] with policy and routes to the settings.")
    present = talk.session.router.pending or talk.session.router.profile
    for profile in profiles.values():
        mark = "▸" if profile.name == present.name else " "
        routes = ", ".join(route.name for route in profile.routes)
        talk.screen.line(f"{mark} {profile.name}: {profile.policy}: {routes}")
    return None


async def _switch(talk: Talk, route: str | Profile) -> None:
    switched = await talk.session.switch(route)
    when = "from the next turn on" if switched.deferred else "from now on"
    talk.screen.line(f"{switched.route} answers {when}.")


async def _approval(talk: Talk, mode: str) -> Next:
    approval = talk.bench.approval
    if mode:
        try:
            approval.mode = Mode(mode)
        except ValueError:
            raise CallerError(f"there is no approval mode {mode!r}; there are {', '.join(Mode)}") from None
    talk.screen.line(f"Approval: {approval.mode}.")
    for rule in approval.rules:
        talk.screen.line(f"  {rule.effect} {rule}", Style.DIM)
    for grant in approval.grants:
        talk.screen.line(f"  this session: {grant.tool} {one_line(subject_of(grant.arguments))}", Style.DIM)
    return None


# --- what there is ----------------------------------------------------------------------------------------------------


async def _status(talk: Talk, _: str) -> Next:
    session, bench = talk.session, talk.bench
    target = session.target((session.router.pending or session.router.profile).routes[0])
    preview = session.preview_switch(session.route)
    usage = session.spending.usage
    rows = [
        ("route", session.route),
        ("profile", f"{session.router.profile.name} ({session.router.profile.policy})"),
        ("endpoint", "simulated" if bench.settings.simulate else target.endpoint),
        ("session", session.id or "not stored"),
        ("folder", str(bench.folder)),
        ("approval", bench.approval.mode.value),
        ("conversation", f"about {preview.tokens:,} of {preview.window:,} tokens"),
        ("used", f"{tokens(usage)}, {dollars(session.spending.cost)}"),
        ("tools", str(len(session.tools))),
    ]
    for line in table(rows, width=talk.screen.width):
        talk.screen.line(line)
    return None


async def _tools(talk: Talk, _: str) -> Next:
    rows = [(tool.name, tool.kind.value, tool.spec.description) for tool in talk.session.tools]
    for line in table(rows, width=talk.screen.width):
        talk.screen.line(line)
    return None


async def _mcp(talk: Talk, _: str) -> Next:
    if not talk.servers:
        talk.screen.line("No MCP server is connected; name them in .mcp.json.")
    for line in table(list(talk.servers.items()), width=talk.screen.width):
        talk.screen.line(line)
    return None


async def _cost(talk: Talk, _: str) -> Next:
    spending = talk.session.spending
    rows = [(route, tokens(usage), dollars(cost)) for route, (usage, cost) in spending.by_route.items()]
    rows.append(("together", tokens(spending.usage), dollars(spending.cost)))
    for line in table(rows, width=talk.screen.width, flexible=0):
        talk.screen.line(line)
    return None


# --- the conversation -------------------------------------------------------------------------------------------------


async def _compact(talk: Talk, _: str) -> Next:
    told = await talk.session.compact()
    if told is None:
        talk.screen.line("There is nothing that could be shortened.")
    else:
        talk.screen.line(f"Shortened: {told.before:,} to {told.after:,} tokens; {told.detail}")
    return None


async def _undo(talk: Talk, count: str) -> Next:
    if count and not count.isdecimal():
        raise CallerError("/undo takes a number of messages, or nothing")
    said = [entry for entry in talk.session.talk.entries if _is_by_a_person(entry)]
    if not await talk.session.undo(int(count or 1)):
        talk.screen.line("There is nothing to undo.")
        return None
    taken = said[-int(count or 1) :]
    many = f"{len(taken)} messages, the first of them: " if len(taken) > 1 else ""
    talk.screen.line(clip(f"Undone: {many}{words_of(taken[0]) or 'an attachment'}", talk.screen.width))
    talk.screen.line("  What tools did to files and elsewhere is not undone.", Style.DIM)
    return None


def _is_by_a_person(entry: Entry) -> bool:
    return entry.speaker is Speaker.HUMAN and entry.authority is Authority.PERSON


async def _lint(talk: Talk, route: str) -> Next:
    from legato.diagnostics import report_lines
    from legato.request import render

    session = talk.session
    target = session.world.target(route or session.route)
    request = render(session.talk, target, tools=session.tools.specs, system=session.system, thinking=session.thinking)
    found = request.check()
    for violation in found:
        text = f"{violation.severity}: {violation.message} ({violation.rule} at {violation.path})"
        talk.screen.line(one_line(text), Style.YELLOW)
    for line in report_lines(request.report):
        talk.screen.line(one_line(line), Style.DIM)
    talk.screen.line(f"{target.route}: {len(found)} finding{'s' * (len(found) != 1)}.")
    return None


async def _last(talk: Talk, name: str) -> Next:
    last = talk.session.last
    if last is None:
        talk.screen.line("No request was made yet since this conversation was opened.")
        return None
    if name:
        path = _write_last(last, talk.bench.folder, name)
        talk.screen.line(f"Wrote {path}: the request with its report, and what came of it.")
        return None
    for line in last.lines():
        indent = len(line) - len(line.lstrip())
        talk.screen.line(" " * indent + one_line(line), Style.DIM)
    return None


def _write_last(last: Sent, folder: Path, name: str) -> Path:
    from legato.diagnostics import Redactor  # rarely needed, and slow to load

    path = folder / Path(name).expanduser()
    told = last.as_json() | {"body": Redactor().value(last.request.copy())}
    _write_new(path, msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")
    return path


async def _export(talk: Talk, arguments: str) -> Next:
    name, _, form = arguments.partition(" ")
    path = _write(talk, Path(name or f"{talk.session.id or 'conversation'}.jsonl"), form.strip() or "legato")
    talk.screen.line(f"Wrote {path}.")
    return None


def _write(talk: Talk, name: Path, form: str) -> Path:
    from legato.formats import FORMATS, write

    path = talk.bench.folder / name.expanduser()
    is_request = form in FORMATS and FORMATS[form].is_wire
    written = write(talk.session.talk, form, model=talk.session.route if is_request else None)
    _write_new(path, written.data)
    for loss in written.losses:
        talk.screen.line(f"  not carried: {one_line(str(loss))}", Style.DIM)
    return path


def _write_new(path: Path, data: bytes) -> None:
    try:
        write_new(path, data)
    except FileExistsError:
        raise CallerError(f"{path} exists already; name another file") from None


async def _sessions(talk: Talk, wanted: str) -> Next:
    store = talk.bench.store
    if store is None:
        raise CallerError("sessions are not stored in this run (--no-store)")
    if wanted:
        return Reopen((await find_session(store, wanted)).id)
    sessions = [one for one in begun_by_people(await store.list()) if one.id != talk.session.id][:PICKED]
    width = talk.screen.width
    for line in table(as_rows(sessions, talk.bench.folder, width=width), width=width):
        talk.screen.line(line)
    talk.screen.line("/sessions ID goes on with one of them." if sessions else "No other session is stored.")
    return None


async def _clear(talk: Talk, _: str) -> Next:
    kept = "the old one stays stored" if talk.session.id is not None else "the old one is not kept"
    talk.screen.line(f"A new conversation begins; {kept}.")
    return Reopen()


async def _help(talk: Talk, _: str) -> Next:
    rows = [(f"{command.name} {command.arguments}".strip(), command.summary) for command in COMMANDS.values()]
    rows += [
        ("!command", "run a command in your shell and put its output into the conversation"),
        ("@file", "attach a file or an image to a message"),
        ("Alt-Enter", "begin a new line"),
        ("Ctrl-R", "search what you said before"),
        ("Esc", "interrupt what runs; what you typed meanwhile stays"),
        ("Ctrl-C", "interrupt what runs; twice at an empty prompt: leave"),
    ]
    for line in table(rows, width=talk.screen.width):
        talk.screen.line(line)
    return None


async def _quit(_talk: Talk, _: str) -> Next:
    return Leave()


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("/model", "[ROUTE]", "let another model answer", _model, at_once=True),
        Command("/route", "[PROFILE]", "let a profile choose who answers", _route, at_once=True),
        Command("/approval", "[MODE]", "ask, edits, plan or never", _approval, at_once=True),
        Command("/status", "", "route, session, size and cost", _status, at_once=True),
        Command("/tools", "", "the tools that the model may use", _tools, at_once=True),
        Command("/mcp", "", "the MCP servers and how they are", _mcp, at_once=True),
        Command("/compact", "", "shorten the conversation now", _compact),
        Command("/undo", "[N]", "take back the last message and what followed", _undo),
        Command("/lint", "[ROUTE]", "what a provider would say to this conversation", _lint, at_once=True),
        Command("/last", "[FILE]", "the last request: what was decided, what came of it", _last, at_once=True),
        Command("/export", "[FILE] [FORMAT]", "write the conversation to a file", _export),
        Command("/cost", "", "what was used, by route", _cost, at_once=True),
        Command("/sessions", "[ID]", "stored sessions; go on with one", _sessions),
        Command("/clear", "", "begin a new conversation", _clear),
        Command("/help", "", "this list", _help, at_once=True),
        Command("/quit", "", "leave", _quit),
    )
}
