"""One message, one answer, an exit code: for scripts, pipes and quick questions.

In:  a prompt, and what standard input holds.
Out: the answer on standard output, everything else on standard error.

The exit code says how it went: 0 answered, 4 every route refused, 5 answered, but a tool was not run because no one
was there to allow it, 6 a limit was reached, 8 the answer is not whole, 9 the model refused to answer, 10 it does not
fit the schema that was asked for, 130 and 143 cancelled by a signal. Of several messages, each is answered before the
next one is read, and the last failure counts. Nothing here loads the prompt of an interactive conversation.
"""

from __future__ import annotations

import select
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TextIO

import anyio
from msgspec import Struct

from legato.cli.chat.attachments import read_message
from legato.cli.chat.outputs import Failure, Output, Pending, Report
from legato.cli.chat.setup import ChatSetup
from legato.cli.chat.structured import Checked, check_answer
from legato.cli.exits import ExitCode, code_of, line_of
from legato.cli.signals import ENDING, handling_signals
from legato.cli.terminal.gate import InputGate
from legato.cli.terminal.turn_display import TurnDisplay
from legato.errors import CallerError, LegatoError
from legato.model import Block, CallId, ClosureReason, JsonObject, Text
from legato.model.records import TurnOutcome
from legato.routing import Profile
from legato.session import Session, Turn, events
from legato.tools import Mode

MAX_STDIN = 10 * 1024 * 1024
"""bytes that are read from a pipe: our choice, far beyond any window, and no endless stream fills the memory"""

_SILENCE = 3.0
"""seconds without anything on standard input until a person is told what is waited for"""

_NOTHING = "there is nothing to ask; give a prompt with -p, or something on standard input"

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

_NO_SANDBOX = "there is no sandbox here, and nobody to be asked; --sandbox off runs commands without one"


class OneShotQuestion(Struct, frozen=True):
    """What is asked: the blocks of one message, and notes about what was attached to it, or could not be."""

    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


async def one_question(question: OneShotQuestion) -> AsyncIterator[OneShotQuestion]:
    """One question, where several could be asked."""
    yield question


def read_question(prompt: str | None, folder: Path, *, tell: Callable[[str], None]) -> OneShotQuestion:
    """The prompt with the files it mentions, and standard input behind it; raises `CallerError` if both are empty."""
    piped = read_stdin(tell)
    message = read_message(prompt, folder) if prompt is not None and prompt.strip() else None
    if message is None and not piped.strip():
        raise CallerError(_NOTHING)
    if message is None:
        return OneShotQuestion((Text(piped),))
    *attached, said = message.blocks
    if piped.strip() and isinstance(said, Text):
        said = Text(f"{said.text}\n\n{piped}")
    return OneShotQuestion((*attached, said), message.notes, message.problems)


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
        schema: JsonObject | None = None,
    ) -> None:
        """`schema` is what the value of an answer has to fit, if it has to be one."""
        self._setup = setup
        self._schema = schema
        self._reading: anyio.CancelScope | None = None
        setup.watch, setup.noted = self.watch, tell
        self._output = output
        self._display = display
        self._tell = tell
        self._gate = gate or InputGate()
        self._turn: Turn | None = None
        self._signal: signal.Signals | None = None
        self._pending: list[Pending] = []

    async def run(
        self,
        questions: AsyncIterator[OneShotQuestion],
        *,
        session_id: str | None = None,
        profile: Profile | None = None,
    ) -> int:
        """Ask one question after the other, and write what comes; the exit code."""
        code = ExitCode.OK
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(handling_signals(self._react))
            question = await self._next(questions)
            if question is None and self._signal is None:
                raise CallerError(_NOTHING)  # before a session begins
            session = await stack.enter_async_context(self._setup.open(session_id, profile=profile))
            self._opened(session)
            while question is not None:
                for note in question.notes if self._display is not None else question.problems:
                    self._tell(note)
                report = await self._ask(session, question)
                self._output.result(report)
                code = report.exit_code or code
                self._pending.clear()
                question = await self._next(questions)
        return ENDING.get(self._signal, ExitCode.INTERRUPTED) if self._signal is not None and not code else code

    async def _next(self, questions: AsyncIterator[OneShotQuestion]) -> OneShotQuestion | None:
        """The next question; None if there is none, or if a signal came."""
        question = None
        if self._signal is None:
            with anyio.CancelScope() as self._reading:
                question = await anext(questions, None)
            self._reading = None
        return question

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
            # In a terminal, an answer begins where a thought has ended, and whatever follows begins where it has ended.
            shows = [self._output.event] if self._display is None else [self._display.show, self._output.event]
            for show in shows if isinstance(event, events.TextShown) else reversed(shows):
                show(event)
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
        code, checked = self._code(result.outcome), Checked()
        if self._schema is not None and result.outcome is TurnOutcome.DONE:
            checked = check_answer(result.text, self._schema)
            if checked.fault:
                self._tell(checked.fault)
                code = ExitCode.MISFIT
        return Report(
            outcome=result.outcome.value,
            text=result.text,
            exit_code=code,
            session=session.id,
            route=result.route,
            steps=result.steps,
            usage=result.usage,
            cost=result.cost,
            detail=result.detail or checked.fault,
            ending=result.ending and result.ending.value,
            structured=checked.value,
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
            if self._setup.approval.mode is Mode.NEVER:  # which asks for one reason only
                hint = _NO_SANDBOX
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
        if self._reading is not None:
            self._reading.cancel()
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
