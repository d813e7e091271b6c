"""From a command line to a conversation: settings, store, session, servers, and then one of the two faces.

Whatever has to be asked before (trust this project, start this server, pick a session, try it simulated) is asked here.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from legato.cli.async_main import run_async
from legato.cli.chat.log_file import logging_to
from legato.cli.chat.mcp_servers import Servers, ask_for_servers, find_servers, left_out
from legato.cli.chat.notices import notices
from legato.cli.chat.oneshot import OneShot, OneShotQuestion, one_question, read_question
from legato.cli.chat.options import ChatOptions
from legato.cli.chat.outputs import Output, PrintFormat, output_for
from legato.cli.chat.running_servers import running_servers
from legato.cli.chat.setup import ChatSetup
from legato.cli.chat.structured import read_schema
from legato.cli.exits import ExitCode
from legato.cli.providers import (
    NotConfigured,
    initial_profile,
    not_configured,
    open_world,
    require_usable,
    resumed_profile,
)
from legato.cli.sessions.lookup import find_session, last_of_folder, pick_session
from legato.cli.settings.files import load
from legato.cli.settings.layers import Loaded
from legato.cli.settings.project import ask_to_trust
from legato.cli.terminal.approver import TerminalApprover
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.chat_prompt import ChatPrompt
from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.live_screen import LiveScreen
from legato.cli.terminal.reading import PlainReader, PromptReader
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.cli.terminal.turn_display import TurnDisplay
from legato.errors import CallerError
from legato.routing import Profile
from legato.store import Store, open_store
from legato.tools import Tool
from legato.tools.sandbox.hiding import hide_process
from legato.version import __version__

if TYPE_CHECKING:
    from legato.tools.mcp import McpServer


class Chosen(NamedTuple):
    """The session that goes on (None begins one), and who answers in it."""

    session_id: str | None
    profile: Profile | None = None


def run_one_shot(wanted: ChatOptions) -> int:
    """Ask what `wanted` asks, and print the answer; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter still shows the others
    folder = Path.cwd().resolve()
    loaded = _load(wanted, folder)
    screen = Screen(sys.stderr, loaded.settings.color)
    try:
        with logging_to(wanted.log_file):
            if wanted.schema is not None:
                options = replace(loaded.settings.options, output=read_schema(wanted.schema))
                loaded = replace(loaded, settings=replace(loaded.settings, options=options))
            # Before the event loop begins: a person must be able to interrupt the wait for standard input.
            questions = _questions(wanted, folder, screen)
            return run_async(lambda: _one_shot(wanted, loaded, folder, questions=questions, screen=screen))
    finally:
        screen.leave()  # what went wrong is told next


async def converse(wanted: ChatOptions, screen: LiveScreen, prompt: ChatPrompt) -> int:
    """Talk at a prompt that is there already, until someone leaves; the exit code."""
    folder = Path.cwd().resolve()
    loaded = _load(wanted, folder)
    screen.choose_colours(loaded.settings.color)
    with logging_to(wanted.log_file):
        return await _interactive(wanted, loaded, folder, screen=screen, prompt=prompt)


def _load(wanted: ChatOptions, folder: Path) -> Loaded:
    hide_process()
    loaded = load(flags=wanted.flags, config=wanted.config, folder=folder)
    if wanted.pace is not None and not loaded.settings.simulate:
        raise CallerError(
            "--pace is for simulated providers, real ones have their own; add --simulate, or leave it out"
        )
    return loaded


# --- one shot ---------------------------------------------------------------------------------------------------------


async def _one_shot(
    wanted: ChatOptions, loaded: Loaded, folder: Path, *, questions: AsyncIterator[OneShotQuestion], screen: Screen
) -> int:
    def tell(text: str) -> None:
        screen.line(f"legato: {one_line(text)}")

    settings = loaded.settings
    for note in notices(loaded, folder):
        tell(note)
    async with AsyncExitStack() as stack:
        store = await _store(wanted, loaded, stack)
        chosen = await _choose(wanted, loaded, store, folder, screen=screen)
        if chosen.profile is None and not _can_anyone_answer(loaded):
            screen.line(f"legato: {not_configured()}")
            return ExitCode.USAGE
        profile = chosen.profile or initial_profile(settings)
        require_usable(settings, profile)
        remote = await stack.enter_async_context(_agreed_tools(loaded, folder, tell))
        world = await stack.enter_async_context(open_world(settings, pace=wanted.pace, waits=True))
        setup = ChatSetup(loaded, world, profile, folder=folder, store=store, remote=remote, reports=wanted.is_verbose)
        for note in setup.unknown_rules:
            tell(note)
        gate, display = InputGate(), None
        if not wanted.is_quiet:
            verbose = wanted.is_verbose
            display = TurnDisplay(screen, settings.show, edits=setup.edits, answers=False, verbose=verbose)
        schema = settings.options.output.schema if wanted.schema is not None and settings.options.output else None
        shot = OneShot(setup, _output(wanted, screen), display=display, tell=tell, gate=gate, schema=schema)
        if sys.stdin.isatty() and sys.stderr.isatty():  # a person is there to be asked
            setup.approval.approver = TerminalApprover(
                screen, PlainReader(screen), interrupt=shot.interrupt, before=gate.close, after=gate.open
            )
        return await shot.run(questions, session_id=chosen.session_id, profile=chosen.profile)


def _output(wanted: ChatOptions, screen: Screen) -> Output:
    """Who writes the answer to standard output, beside what `screen` shows on standard error."""
    form, out = PrintFormat(wanted.output), Screen(sys.stdout, beside=screen)
    if form is PrintFormat.STREAM_JSON and not out.is_terminal:
        screen.is_live = False  # a program behind the pipe (jq) may write to this terminal at any time
    return output_for(form, out, is_structured=wanted.schema is not None)


def _questions(wanted: ChatOptions, folder: Path, screen: Screen) -> AsyncIterator[OneShotQuestion]:
    if wanted.takes_json:
        from legato.cli.chat.json_input import read_messages  # only here: few runs are asked by a program

        return read_messages()
    return one_question(read_question(wanted.prompt, folder, tell=lambda text: screen.line(f"legato: {text}")))


@asynccontextmanager
async def _agreed_tools(loaded: Loaded, folder: Path, tell: Callable[[str], None]) -> AsyncGenerator[tuple[Tool, ...]]:
    """The tools of the servers that someone agreed to before; what is missing is told."""
    servers = find_servers(folder) if loaded.settings.mcp.enabled else Servers(None, [], [])
    if servers.unknown:
        tell(left_out(servers.unknown))
    async with _connected(loaded, servers.agreed) as (tools, failures):
        for name, reason in failures.items():
            tell(f"MCP server {name}: {reason}")
        yield tools


# --- interactive ------------------------------------------------------------------------------------------------------


async def _interactive(wanted: ChatOptions, loaded: Loaded, folder: Path, *, screen: Screen, prompt: ChatPrompt) -> int:
    # Only here: one-shot use needs none of it.
    from legato.cli.chat.completion import Suggestions
    from legato.cli.chat.interactive import Interactive
    from legato.cli.chat.shared_terminal import SharedTerminal

    while await ask_to_trust(loaded, screen=screen, reader=prompt):
        loaded = load(flags=wanted.flags, config=wanted.config, folder=folder)
    for note in notices(loaded, folder):
        screen.line(one_line(note), Style.YELLOW)
    async with AsyncExitStack() as stack:
        store = await _store(wanted, loaded, stack)
        chosen = await _choose(wanted, loaded, store, folder, screen=screen, prompt=prompt)
        if wanted.resume is not None and chosen.session_id is None:
            return ExitCode.OK  # the picker was left without a choice
        if chosen.profile is None and not _can_anyone_answer(loaded):
            screen.line(not_configured())
            if not await _wants_simulation(prompt):
                return ExitCode.USAGE
            loaded = replace(loaded, settings=replace(loaded.settings, simulate=True))
        profile = chosen.profile or initial_profile(loaded.settings)
        require_usable(loaded.settings, profile)
        agreed: list[McpServer] = []
        if loaded.settings.mcp.enabled:
            agreed = await ask_for_servers(find_servers(folder), screen=screen, reader=prompt)
        servers = await stack.enter_async_context(running_servers(agreed, seconds=loaded.settings.mcp.seconds))
        world = await stack.enter_async_context(open_world(loaded.settings, pace=wanted.pace, waits=True))
        terminal = SharedTerminal(screen)
        setup = ChatSetup(loaded, world, profile, folder=folder, store=store, reports=wanted.is_verbose)
        setup.use_servers(servers)
        for note in setup.unknown_rules:
            screen.line(one_line(note), Style.YELLOW)
        prompt.actions.suggest = Suggestions(setup)
        setup.approval.approver = TerminalApprover(
            screen, prompt, interrupt=terminal.interrupt, before=terminal.take, after=terminal.give_back
        )
        chat = Interactive(setup, terminal, prompt=prompt, servers=servers.conditions)
        servers.tell = chat.note
        _greet(screen, loaded, profile)
        return await chat.run(chosen.session_id, profile=profile, opening=wanted.prompt or "")


def _greet(screen: Screen, loaded: Loaded, profile: Profile) -> None:
    who = profile.routes[0].name if len(profile.routes) == 1 else f"{profile.name} ({profile.policy})"
    screen.line(f"legato {__version__} · {who} · approval {loaded.settings.approval.mode} · /help", Style.DIM)
    if loaded.settings.simulate:
        screen.line("Simulated: no key, no network; costs as the real ones ask.", Style.DIM)
        screen.line("Try: use list on . — /model mistral/mistral-large-latest", Style.DIM)


def _can_anyone_answer(loaded: Loaded) -> bool:
    try:
        initial_profile(loaded.settings)
    except NotConfigured:
        return False
    return True


async def _wants_simulation(reader: PromptReader) -> bool:
    try:
        answer = await reader.line("Try it now with a simulated model? [y/n] ")
    except (EOFError, KeyboardInterrupt):
        return False
    return answer.lower().startswith("y")


# --- both -------------------------------------------------------------------------------------------------------------


async def _store(wanted: ChatOptions, loaded: Loaded, stack: AsyncExitStack) -> Store | None:
    return await stack.enter_async_context(open_store(loaded.settings.store)) if wanted.stores else None


async def _choose(
    wanted: ChatOptions,
    loaded: Loaded,
    store: Store | None,
    folder: Path,
    *,
    screen: Screen,
    prompt: ChatPrompt | None = None,
) -> Chosen:
    """Which session goes on, if any, and who answers in it: who was named now, else who answered last."""
    if store is None or not (wanted.continues or wanted.resume is not None):
        return Chosen(None)
    if wanted.continues:
        summary = await last_of_folder(store, folder)
    elif wanted.resume:
        summary = await find_session(store, wanted.resume)
    else:
        assert prompt is not None, "one-shot use names the session"
        async with prompt.aside():
            picked = await pick_session(store, folder, screen=screen, reader=prompt)
        if picked is None:
            return Chosen(None)
        summary = picked
    session_id = await store.fork(summary.id) if wanted.forks else summary.id
    is_named = any(wanted.flags.get(name, ("", None))[1] is not None for name in ("model", "route"))
    return Chosen(session_id, None if is_named else resumed_profile(loaded.settings, summary.route))


@asynccontextmanager
async def _connected(
    loaded: Loaded, servers: list[McpServer]
) -> AsyncGenerator[tuple[tuple[Tool, ...], dict[str, str]]]:
    """The tools of `servers` while they are connected, and what is wrong with those that are not."""
    if not servers:
        yield (), {}
        return
    from legato.tools.mcp import connect_mcp  # only here: most folders name no servers

    async with connect_mcp(servers, seconds=loaded.settings.mcp.seconds) as connected:
        yield connected.tools, connected.failures
