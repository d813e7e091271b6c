"""The conversation in a terminal: prompt, turn, prompt, until someone leaves.

Esc and Ctrl-C cancel the turn and keep the session; at an empty prompt, twice, Ctrl-C leaves (130). SIGTERM and a
closed terminal end the turn, save and leave (143, 129). What is typed while a turn runs waits, and can be edited, until
the model can hear it: when it has asked for tools, when one of them has ended, or when the turn is over.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import anyio

from legato.cli.chat.attachments import read_message
from legato.cli.chat.recap import last_words, show_recap
from legato.cli.chat.setup import ChatSetup
from legato.cli.chat.shared_terminal import SharedTerminal
from legato.cli.chat.slash.contract import Leave, Next, Reopen
from legato.cli.chat.slash.table import find_command, run_command
from legato.cli.chat.user_shell import run_for_person
from legato.cli.exits import ExitCode, diagnosed_fault, line_of
from legato.cli.signals import ENDING, handling_signals
from legato.cli.terminal.cells import one_line
from legato.cli.terminal.chat_prompt import MARK, ChatPrompt
from legato.cli.terminal.pager import show_whole
from legato.cli.terminal.picker import Row, pick
from legato.cli.terminal.styles import Style
from legato.cli.terminal.turn_display import TurnDisplay
from legato.cli.terminal.words import about_route, dollars, tokens
from legato.errors import CallerError, LegatoError, StoreError
from legato.model import CallId
from legato.model.records import Recorded
from legato.routing import Profile
from legato.session import Session, Turn, events
from legato.tools import Mode

_TICK = 0.2
"""seconds between two looks at the status line"""


_LONG = 10.0
"""seconds after which someone may have turned to something else: the end of such a turn rings"""

_MODES = (Mode.ASK, Mode.EDITS, Mode.PLAN)
"""the approval modes that a key goes through; `never` is none to get into by accident"""


class Interactive:
    """One run of the interactive program."""

    def __init__(
        self, setup: ChatSetup, terminal: SharedTerminal, *, prompt: ChatPrompt, servers: dict[str, str] | None = None
    ) -> None:
        self.setup = setup
        setup.watch, setup.noted = self.watch, self.note
        self.screen = terminal.screen
        self.servers = servers or {}
        self._terminal = terminal
        terminal.take_back = prompt.take_back
        self._prompt = prompt
        actions = prompt.actions
        actions.below = lambda: self.below
        actions.interrupt = lambda: self._react(signal.SIGINT)
        actions.submitted = self._submitted
        actions.next_mode = self._next_mode
        actions.open_output = self._open_output
        actions.last_message = lambda: last_words(self.session)
        self._display = TurnDisplay(terminal.screen, setup.settings.show, edits=setup.edits, verbose=setup.reports)
        self._session: Session | None = None
        self._group: anyio.abc.TaskGroup | None = None
        """what runs beside the conversation"""
        self._asking: anyio.CancelScope | None = None
        self._work: anyio.CancelScope | None = None
        """what is done beside turns, which the same keys interrupt"""
        self._opening = ""
        """what was said on the command line"""
        self._behind: list[Turn] = []
        """turns that begin when the present one has ended"""
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
        # Dollars first: where the line is cut, they are what one looks for.
        used = f" · {dollars(spent.cost, known=spent.known)} · {tokens(spent.usage)}" if spent.by_route else ""
        return about_route(self.session.route, f"{self.setup.approval.mode}{used}", self.screen.width)

    async def run(self, session_id: str | None = None, *, profile: Profile | None = None, opening: str = "") -> int:
        """Talk until someone leaves; the exit code. `opening` was said already, on the command line."""
        self._opening = opening
        async with handling_signals(self._react):
            left = await self._sessions(session_id, profile)
        return self._ended_by or left.code

    async def _sessions(self, session_id: str | None, profile: Profile | None) -> Leave:
        """One session after the other, until someone leaves."""
        left: Leave | None = None
        async with anyio.create_task_group() as group:
            self._group, wanted = group, Reopen(session_id)
            while left is None:
                following, profile = await self._next_session(wanted, profile), None
                if isinstance(following, Leave):
                    left = following
                else:
                    wanted = following
            group.cancel_scope.cancel()
        return left or Leave()

    async def _next_session(self, wanted: Reopen, profile: Profile | None) -> Leave | Reopen:
        """Go on in another session; if it cannot be opened, in the one before it."""
        before = self._session
        try:
            return await self._with_session(wanted.session_id, wanted.profile or profile)
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
        elif store is not None and session.id is not None and isinstance(following, Leave):
            simulated = " --simulate" if self.setup.settings.simulate else ""
            self.screen.line(f"Resume with: legato --resume {session.id}{simulated}", Style.DIM)
        return following

    def _present(self) -> Profile | None:
        """Who answers in a session that takes the place of this one."""
        return None if self._session is None else self._session.router.pending or self._session.router.profile

    async def _converse(self) -> Leave | Reopen:
        if self.session.parked:
            self._display.note("A question was open when this session ended; it is asked again.", Style.YELLOW)
            await self.follow(self.session.ask_again())
        while self._ended_by is None:
            said = await self._ask()
            following = await self._take(said) if isinstance(said, str) else said
            if following is not None:
                return following
        return Leave(self._ended_by)

    async def _ask(self) -> str | Leave:
        """What the person says next, or that they leave."""
        self.screen.fresh_line()
        if self._opening:
            opening, self._opening = self._opening, ""
            self.screen.line(f"{MARK}{one_line(opening)}", Style.BOLD)
            return opening
        try:
            with anyio.CancelScope() as self._asking:
                said = await self._prompt.message()
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
            with self._interruptible():
                return await run_command(self, said)
            return None  # it was interrupted
        if said.startswith("!"):
            await self._run(said[1:].strip())
            return None
        if self._prompt.take_replacing():
            await run_command(self, "/undo")
        message = read_message(said, self.setup.folder)
        for note in message.notes:
            self.screen.line(note, Style.DIM)
        if self.setup.servers.are_starting:
            with self._interruptible("waiting for MCP servers; Esc goes on without them", "goes on without them"):
                await self.setup.servers.ready()
        try:
            turn = self.session.send(*message.blocks)
        except CallerError as error:
            self.screen.line(error.message, Style.RED)
            return None
        await self.follow(turn)
        return None

    async def _run(self, command: str) -> None:
        if not command:
            return
        with self._interruptible(f"running {one_line(command)[:60]}; Esc stops it"):
            entry = await run_for_person(command, folder=self.setup.folder, screen=self.screen)
            await self.session.journal.record(entry)

    @contextmanager
    def _interruptible(self, doing: str = "", told: str = "cancelled") -> Generator[None]:
        """Esc and Ctrl-C end what is done meanwhile, and `told` says so; `doing` is its status."""
        self.screen.status(doing)
        try:
            with self._prompt.busy(), anyio.CancelScope() as self._work:
                yield
            if self._work.cancelled_caught:
                self._display.note(told, Style.YELLOW)
        finally:
            self._work = None
            self.screen.status("")

    # --- a turn ---

    async def follow(self, turn: Turn) -> None:
        """Show a turn to its end; what is typed meanwhile is heard."""
        terminal, began = self._terminal, time.monotonic()
        terminal.turn, terminal.is_interrupted = turn, False
        self._display.begin(self.session.route)
        self._prompt.tell(f"legato · {self.setup.folder.name} · working")
        try:
            with self._prompt.busy():
                async with anyio.create_task_group() as group:
                    group.start_soon(self._tick)
                    async for event in turn:
                        await terminal.gate.passed()
                        self._display.show(event)
                        if isinstance(event, events.CallsMade | events.ToolEnded) and not terminal.is_interrupted:
                            self._pass_on()
                    group.cancel_scope.cancel()
                await turn
        except LegatoError as error:
            self._prompt.take_back()
            self._display.note(line_of(error), Style.RED)
            last = self.session.last
            if last is not None and last.error is not None and diagnosed_fault(error):
                self._display.note("/last shows what was sent, and which layer is at fault.")
            elif error.facts.get("retryable"):
                self._display.note("/retry asks again.")
        finally:
            terminal.turn = None
            self.screen.status("")
            self._prompt.tell(f"legato · {self.setup.folder.name}", bell=time.monotonic() - began > _LONG)
        while self._behind:
            await self.follow(self._behind.pop(0))

    async def _tick(self) -> None:
        while True:
            if self._terminal.gate.is_open:
                self._display.tick()
            await anyio.sleep(_TICK)

    def _submitted(self, said: str) -> bool:
        """A line was sent while something runs: a command that can run beside it does, all else waits."""
        command = find_command(said.partition(" ")[0])
        if command is None or not command.at_once or self._group is None or self._session is None:
            return False
        self._group.start_soon(run_command, self, said)
        return True

    def _pass_on(self) -> None:
        """Give the model what was said meanwhile: it hears it at its next step."""
        for said in self._prompt.take_messages():
            message = read_message(said, self.setup.folder)
            for note in message.notes:
                self._display.note(note)
            turn = self.session.send(*message.blocks)
            if turn is not self._terminal.turn and turn not in self._behind:
                self._behind.append(turn)  # too late for this one

    def _next_mode(self) -> None:
        approval = self.setup.approval
        at = _MODES.index(approval.mode) if approval.mode in _MODES else -1
        approval.mode = _MODES[(at + 1) % len(_MODES)]

    def _open_output(self) -> None:
        if self._group is not None:
            self._group.start_soon(self._show_folded)

    async def _show_folded(self) -> None:
        if not self._display.folded:
            self.screen.line("Nothing was folded.", Style.DIM)
            return
        await self._terminal.take()
        try:
            async with self._prompt.aside():
                await show_whole([*reversed(self._display.folded)])
        finally:
            self._terminal.give_back()

    async def pick(
        self, title: str, rows: Sequence[Row], *, columns: Sequence[str] = (), search: str = ""
    ) -> int | None:
        """Let the person pick one of `rows`, at first among those that fit `search`; None if they pick none."""
        await self._terminal.take()
        try:
            async with self._prompt.aside():
                return await pick(title, rows, screen=self.screen, reader=self._prompt, columns=columns, search=search)
        finally:
            self._terminal.give_back()

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
        if self._terminal.turn is not None:
            self._terminal.interrupt()
            if is_end:
                self._terminal.interrupt()  # no one waits for tools now
        elif self._work is not None:
            self._work.cancel()
        elif self._asking is not None:
            self._interrupts += not is_end
            self._asking.cancel()


def _was_anything_said(session: Session) -> bool:
    """Whether the log holds a message; one that was undone counts too, because undoing takes nothing out of the log."""
    return any(isinstance(record, Recorded) for record in session.talk.log)
