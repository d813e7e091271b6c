"""One message, one answer, an exit code: for scripts, pipes and quick questions.

In:  a prompt, and what standard input holds.
Out: the answer on standard output, everything else on standard error.

The exit code says how it went: 0 answered, 4 every route refused, 5 answered, but a tool was not run because no one
was there to allow it, 6 a limit was reached, 8 the answer is not whole, 9 the model refused to answer, 130 and 143
cancelled by a signal. Nothing here loads the prompt of an interactive conversation.
"""

from __future__ import annotations

import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from msgspec import Struct

from legato.cli.chat.attachments import read_message
from legato.cli.chat.outputs import Failure, Output, Pending, Report
from legato.cli.chat.setup import ChatSetup
from legato.cli.exits import ExitCode, code_of, line_of
from legato.cli.signals import ENDING, handling_signals
from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.turn_display import TurnDisplay
from legato.errors import CallerError, LegatoError
from legato.model import Block, CallId, ClosureReason, Text
from legato.model.records import TurnOutcome
from legato.routing import Profile
from legato.session import Session, Turn, events

MAX_STDIN = 10 * 1024 * 1024
"""bytes that are read from a pipe: our choice, far beyond any window, and no endless stream fills the memory"""

_SILENCE = 3.0
"""seconds without anything on standard input until a person is told what is waited for"""

_HINTS = {
    ClosureReason.APPROVAL_UNAVAILABLE: (
        "it needs an approval, and nobody is there to give it; allow it with --approval, or with a rule such as "
        "approval.allow = [{!r}]"
    ),
    ClosureReason.PROTECTED: (
        "it may reach a protected file, which only a person can allow, each call by itself; do it in a conversation, "
        "or, in a sandbox, with --approval never"
    ),
}
"""what a person can do about a call that no one was there to allow"""


class OneShotQuestion(Struct, frozen=True):
    """What is asked: the blocks of one message, and notes about what was attached to it."""

    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()


def read_question(prompt: str | None, folder: Path, *, tell: Callable[[str], None]) -> OneShotQuestion:
    """The prompt with the files it mentions, and standard input behind it; raises `CallerError` if both are empty."""
    piped = read_stdin(tell)
    message = read_message(prompt, folder) if prompt is not None and prompt.strip() else None
    if message is None and not piped.strip():
        raise CallerError("there is nothing to ask; give a prompt with -p, or something on standard input")
    if message is None:
        return OneShotQuestion((Text(piped),))
    *attached, said = message.blocks
    if piped.strip() and isinstance(said, Text):
        said = Text(f"{said.text}\n\n{piped}")
    return OneShotQuestion((*attached, said), message.notes)


def read_stdin(tell: Callable[[str], None]) -> str:
    """What standard input holds, if it is not a terminal. Who forgot to close it is told why nothing happens."""
    try:
        if sys.stdin.isatty():
            return ""
        if _is_silent(sys.stdin, _SILENCE):
            tell("waiting for standard input; close it with < /dev/null if there is nothing to read")
        data = sys.stdin.buffer.read(MAX_STDIN + 1)
    except (AttributeError, OSError, ValueError):
        return ""  # there is no standard input
    if len(data) > MAX_STDIN:
        raise CallerError(f"standard input holds more than {MAX_STDIN:,} bytes; name the file in the prompt instead")
    return data.decode("utf-8", "replace")


def _is_silent(stream: TextIO, seconds: float) -> bool:
    """Whether nothing can be read for so long, not even the end."""
    try:
        return not select.select([stream.fileno()], [], [], seconds)[0]
    except (OSError, ValueError):
        return False  # nothing to wait for: it is no file


class OneShot:
    """One run. `tell` writes a line for a person; `gate` is closed while someone is asked a question."""

    def __init__(
        self,
        setup: ChatSetup,
        output: Output,
        *,
        display: TurnDisplay | None,
        tell: Callable[[str], None],
        gate: InputGate | None = None,
    ) -> None:
        self._setup = setup
        setup.watch, setup.noted = self.watch, tell
        self._output = output
        self._display = display
        self._tell = tell
        self._gate = gate or InputGate()
        self._turn: Turn | None = None
        self._signal: signal.Signals | None = None
        self._pending: list[Pending] = []

    async def run(
        self, question: OneShotQuestion, *, session_id: str | None = None, profile: Profile | None = None
    ) -> int:
        """Ask, and write what comes; the exit code."""
        async with handling_signals(self._react), self._setup.open(session_id, profile=profile) as session:
            self._opened(session)
            for note in question.notes:
                self._tell(note)
            report = await self._ask(session, question)
            self._output.result(report)
            return report.exit_code

    def watch(self, call: CallId, event: events.Event) -> None:
        """See what a subagent does: only what could not be allowed matters here."""
        self._note_pending(event)

    def interrupt(self) -> None:
        """Cancel the turn, as Ctrl-C does."""
        self._react(signal.SIGINT)

    async def _ask(self, session: Session, question: OneShotQuestion) -> Report:
        turn = self._turn = session.send(*question.blocks)
        if self._signal is not None:
            turn.cancel()
        if self._display is not None:
            self._display.begin(session.route)
        async for event in turn:
            await self._gate.passed()
            self._note_pending(event)
            if self._display is not None:
                self._display.show(event)
            self._output.event(event)  # last: in a terminal, an answer begins where a thought has ended
        try:
            result = await turn
        except LegatoError as error:
            message = line_of(error)
            self._tell(message)
            failure = _failure(error, message)
            if failure.fault and not self._setup.reports:
                self._tell("-v shows what was decided for the request; --log-file FILE and the JSON outputs hold it")
            return Report(
                outcome=TurnOutcome.FAILED.value,
                text="",
                exit_code=code_of(error),
                session=session.id,
                route=session.route,
                approvals_needed=tuple(self._pending),
                error=failure,
                request=self._last_request(session, failed=True),
            )
        if self._display is None and result.outcome not in (TurnOutcome.DONE, TurnOutcome.CANCELLED):
            self._tell(result.detail)
        return Report(
            outcome=result.outcome.value,
            text=result.text,
            exit_code=self._code(result.outcome),
            session=session.id,
            route=result.route,
            steps=result.steps,
            usage=result.usage,
            cost=result.cost,
            detail=result.detail,
            ending=result.ending and result.ending.value,
            approvals_needed=tuple(self._pending),
            request=self._last_request(session),
        )

    def _last_request(self, session: Session, *, failed: bool = False) -> dict[str, Any] | None:
        told = session.last if failed or self._setup.reports else None
        return None if told is None else told.as_json()

    def _opened(self, session: Session) -> None:
        self._output.opened(
            {
                "session": session.id,
                "route": session.route,
                "cwd": str(self._setup.folder),
                "approval": self._setup.approval.mode.value,
                "tools": [tool.name for tool in session.tools],
            }
        )

    def _note_pending(self, event: events.Event) -> None:
        if not isinstance(event, events.ToolEnded) or event.response.reason is None:
            return
        if hint := _HINTS.get(event.response.reason):
            self._pending.append(Pending(event.call, event.name))
            self._tell(f"{event.name} was not run: {hint.format(event.name)}")

    def _code(self, outcome: TurnOutcome) -> ExitCode | int:
        match outcome:
            case TurnOutcome.DONE:
                return ExitCode.APPROVAL_NEEDED if self._pending else ExitCode.OK
            case TurnOutcome.INCOMPLETE:
                return ExitCode.INCOMPLETE
            case TurnOutcome.REFUSED:
                return ExitCode.DECLINED
            case TurnOutcome.LIMIT:
                return ExitCode.LIMIT
            case TurnOutcome.CANCELLED:
                return ENDING.get(self._signal or signal.SIGINT, ExitCode.INTERRUPTED)
            case TurnOutcome.FAILED:
                return ExitCode.FAILURE

    def _react(self, number: signal.Signals) -> None:
        """A signal cancels the turn; the second one, or one that ends the program, waits for no tool."""
        hurried = self._signal is not None or number in ENDING
        self._signal = number
        if self._turn is not None:
            self._turn.cancel()
            if hurried:
                self._turn.cancel()


def _failure(error: LegatoError, message: str) -> Failure:
    from legato.diagnostics import diagnose  # most runs do not fail

    diagnosis = diagnose(error)
    return Failure(
        type=diagnosis.error,
        message=message,
        fault=diagnosis.fault.value if diagnosis.fault else "",
        cause=diagnosis.cause,
        why=diagnosis.why,
        calls=tuple(diagnosis.calls),
    )
