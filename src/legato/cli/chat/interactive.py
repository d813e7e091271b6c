"""The conversation in a terminal: prompt, turn, prompt, until someone leaves.

Esc and Ctrl-C cancel the turn and keep the session; at an empty prompt, twice, Ctrl-C leaves (130). SIGTERM and a
closed terminal end the turn, save and leave (143, 129). What is typed while a turn runs joins it at its next step.
"""

from __future__ import annotations

import signal
from collections import deque
from functools import partial

import anyio

from legato.cli.chat.attachments import read_message
from legato.cli.chat.recap import show_recap
from legato.cli.chat.setup import ChatSetup
from legato.cli.chat.shared_terminal import SharedTerminal
from legato.cli.chat.slash.contract import Leave, Next, Reopen
from legato.cli.chat.slash.table import COMMANDS, run_command
from legato.cli.chat.user_shell import run_for_person
from legato.cli.exits import ExitCode, diagnosed_fault, line_of
from legato.cli.signals import ENDING, handling_signals
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.prompt import Prompt
from legato.cli.terminal.styles import Style
from legato.cli.terminal.turn_display import TurnDisplay
from legato.cli.terminal.words import about_route, dollars, tokens
from legato.errors import CallerError, LegatoError, StoreError
from legato.model import CallId
from legato.model.records import Recorded
from legato.routing import Profile
from legato.session import Session, Turn, events

_TICK = 0.2
"""seconds between two looks at the status line"""


class Interactive:
    """One run of the interactive program."""

    def __init__(
        self, setup: ChatSetup, terminal: SharedTerminal, *, prompt: Prompt, servers: dict[str, str] | None = None
    ) -> None:
        self.setup = setup
        setup.watch, setup.noted = self.watch, self.note
        self.screen = terminal.screen
        self.servers = servers or {}
        self._terminal = terminal
        self._prompt = prompt
        self._display = TurnDisplay(terminal.screen, setup.settings.show, edits=setup.edits, verbose=setup.reports)
        self._session: Session | None = None
        self._waiting: deque[str] = deque()
        """lines that were typed during a turn and could not join it"""
        self._asking: anyio.CancelScope | None = None
        self._shell: anyio.CancelScope | None = None
        self._interrupts = 0
        self._ended_by: int | None = None

    @property
    def session(self) -> Session:
        """The session that is open."""
        assert self._session is not None, "no session is open"
        return self._session

    @property
    def below(self) -> str:
        """What is below the prompt."""
        if self._session is None:
            return ""
        spent = self.session.spending
        used = f" · {tokens(spent.usage)} · {dollars(spent.cost, known=spent.known)}" if spent.by_route else ""
        return about_route(self.session.route, f"{self.setup.approval.mode}{used}", self.screen.width)

    async def run(self, session_id: str | None = None, *, profile: Profile | None = None) -> int:
        """Talk until someone leaves; the exit code."""
        async with handling_signals(self._react):
            following: Leave | Reopen = Reopen(session_id)
            while isinstance(following, Reopen):
                following = await self._next_session(following, profile)
                profile = None
        return self._ended_by or following.code

    async def _next_session(self, wanted: Reopen, profile: Profile | None) -> Leave | Reopen:
        """Go on in another session; if it cannot be opened, in the one before it."""
        before = self._session
        try:
            return await self._with_session(wanted.session_id, profile)
        except StoreError as error:
            if before is None:
                raise
            self.screen.line(one_line(error.message), Style.RED)
            self._session = None
            return Reopen(before.id)

    async def _with_session(self, session_id: str | None, profile: Profile | None) -> Leave | Reopen:
        async with self.setup.open(session_id, profile=profile or self._present()) as session:
            self._session = session
            if session_id is not None:
                show_recap(session, self.screen)
            following = await self._converse()
        store = self.setup.store
        if store is not None and session_id is None and session.id is not None and not _was_anything_said(session):
            await store.delete(session.id)  # so there is nothing to come back to
        return following

    def _present(self) -> Profile | None:
        """Who answers in a session that takes the place of this one."""
        return None if self._session is None else self._session.router.pending or self._session.router.profile

    async def _converse(self) -> Leave | Reopen:
        if self.session.parked:
            self._display.note("A question was open when this session ended; it is asked again.", Style.YELLOW)
            await self._follow(self.session.ask_again())
        while self._ended_by is None:
            said = self._waiting.popleft() if self._waiting else await self._ask()
            following = await self._take(said) if isinstance(said, str) else said
            if following is not None:
                return following
        return Leave(self._ended_by)

    async def _ask(self) -> str | Leave:
        """What the person says next, or that they leave."""
        self.screen.fresh_line()
        try:
            with anyio.CancelScope() as self._asking:
                said = await self._prompt.message(default=self._terminal.keyboard.ahead.take())
                self._interrupts = 0
                return said.strip()
        except EOFError:
            return Leave()
        except KeyboardInterrupt:
            self._interrupts += 1
        finally:
            self._asking = None
        if self._ended_by is not None or self._interrupts > 1:
            return Leave(self._ended_by or ExitCode.INTERRUPTED)
        if self._interrupts:
            self.screen.line("Press Ctrl-C again to leave.", Style.DIM)
        return ""

    async def _take(self, said: str) -> Next:
        """Do what a line asks for."""
        if not said:
            return None
        if said.startswith("/"):
            return await run_command(self, said)
        if said.startswith("!"):
            await self._run(said[1:].strip())
            return None
        message = read_message(said, self.setup.folder)
        for note in message.notes:
            self.screen.line(note, Style.DIM)
        try:
            turn = self.session.send(*message.blocks)
        except CallerError as error:
            self.screen.line(error.message, Style.RED)
            return None
        await self._follow(turn)
        return None

    async def _run(self, command: str) -> None:
        if not command:
            return
        with anyio.CancelScope() as self._shell:
            entry = await run_for_person(command, folder=self.setup.folder, screen=self.screen)
            await self.session.journal.record(entry)
        self._shell = None

    # --- a turn ---

    async def _follow(self, turn: Turn) -> None:
        """Show a turn to its end; what is typed meanwhile is heard."""
        terminal = self._terminal
        terminal.turn = turn
        self._display.begin(self.session.route)
        try:
            async with anyio.create_task_group() as group:
                listen = partial(terminal.keyboard.listen, interrupted=terminal.interrupt)
                group.start_soon(listen, partial(self._heard, group))
                group.start_soon(self._tick)
                async for event in turn:
                    await terminal.gate.passed()
                    self._display.show(event)
                group.cancel_scope.cancel()
            await turn
        except LegatoError as error:
            self._display.note(line_of(error), Style.RED)
            last = self.session.last
            if last is not None and last.error is not None and diagnosed_fault(error):
                self._display.note("/last shows what was sent, and which layer is at fault.")
        finally:
            terminal.turn = None
            self.screen.status("")

    async def _tick(self) -> None:
        while True:
            self._display.typed = self._terminal.keyboard.ahead.typed
            if self._terminal.gate.is_open:
                self._display.tick()
            await anyio.sleep(_TICK)

    def _heard(self, group: anyio.abc.TaskGroup, line: str) -> None:
        """A line was typed while a turn runs."""
        turn, said = self._terminal.turn, line.strip()
        command = COMMANDS.get(said.partition(" ")[0])
        if command is not None and command.at_once:
            self._display.end_text()
            group.start_soon(run_command, self, said)
        elif said.startswith(("/", "!")) or turn is None or turn.is_done:
            self._waiting.append(said)
            self._display.note(f"› {said} (after this turn)")
        else:
            message = read_message(said, self.setup.folder)
            self.session.send(*message.blocks)
            self._display.note(f"› {said} (joins at the next step)")
            for note in message.notes:
                self._display.note(note)

    def watch(self, call: CallId, event: events.Event) -> None:
        """Show in a few words what a subagent does."""
        if isinstance(event, events.ToolBegan) and self._terminal.gate.is_open:
            self._display.note(f"  subagent: {event.name}")

    def note(self, text: str) -> None:
        """A line about something beside the conversation."""
        self._display.note(text)

    # --- signals ---

    def _react(self, number: signal.Signals) -> None:
        is_end = number in ENDING
        if is_end:
            self._ended_by = ENDING[number]
        turn = self._terminal.turn
        if turn is not None:
            turn.cancel()
            if is_end:
                turn.cancel()  # no one waits for tools now
        elif self._shell is not None:
            self._shell.cancel()
        elif self._asking is not None:
            self._interrupts += not is_end
            self._asking.cancel()


def _was_anything_said(session: Session) -> bool:
    """Whether the log holds a message; one that was undone counts too, because undoing takes nothing out of the log."""
    return any(isinstance(record, Recorded) for record in session.talk.log)
