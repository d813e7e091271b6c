"""shell: run a command in the working folder.

The command gets the session's environment without secrets: a command that a model wrote has no business with them. It
has no terminal and no input, so nothing can wait for a person there. It runs in the sandbox, if there is one. Where the
output of a failed command looks as if the sandbox had forbidden something, a person may let it run again outside; the
model, a rule or a mode cannot.
"""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable
from typing import Annotated, NamedTuple

from msgspec import Meta

from legato.errors import CallerError
from legato.tools.builtin.processes import Finished, run_program
from legato.tools.builtin.workspace import Workspace
from legato.tools.functions import tool
from legato.tools.registry import Tool, ToolContext, ToolKind, ToolOutput
from legato.tools.sandbox.denials import hint_of_denial
from legato.tools.sandbox.places import WITHHELD, TakenBack
from legato.tools.sandbox.sandbox import Sandbox

_MAX_OUTPUT = 1_000_000
"""what is kept of an output; how much of that the model sees is the scheduler's budget"""
_MAX_SECONDS = 600
"""how long a command may be given: our choice, longer ones belong into the background"""

_MOST_NAMES = 5
"""names of files in one sentence: our choice"""

# Patterns are compiled when a first command runs: many a session never runs one.
_ESCAPES = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
_OVERWRITTEN = r"(?m)^[^\n]*\r(?![\n\r]|\Z)"
"""what a progress bar wrote before it came back to the start of its line"""


def shell_tool(
    workspace: Workspace, *, environment: Callable[[], dict[str, str]], sandbox: Sandbox, seconds: int = 120
) -> Tool:
    """The tool that runs a command; `environment` gives the variables of each, `seconds` is the usual time limit."""
    program = shutil.which("bash") or "/bin/sh"

    async def run(command: str, context: ToolContext, timeout: float, *, outside: bool) -> Ran:  # noqa: ASYNC109
        async with sandbox.around([program, "-c", command], environment(), outside=outside) as confined:
            try:
                finished = await run_program(
                    confined.command,
                    context,
                    folder=workspace.root,
                    environment=confined.environment,
                    seconds=timeout,
                    limit=_MAX_OUTPUT,
                    descriptors=confined.descriptors,
                    leads=confined.leads,
                )
            finally:
                context.partial = readable(context.partial)
        return Ran(finished, readable(finished.output), confined.taken)

    @tool(
        kind=ToolKind.EXECUTE,
        preview=lambda arguments: str(arguments["command"]),
        subject=lambda arguments: str(arguments.get("command", "")),
        isolation=lambda: sandbox.isolation,
    )
    async def shell(
        command: str,
        context: ToolContext,
        timeout: Annotated[int, Meta(ge=1, le=_MAX_SECONDS)] = seconds,  # noqa: ASYNC109  # models know this name
    ) -> ToolOutput:
        """Run a shell command in the working folder; returns what it wrote and, if it failed, its exit code.

        There is no terminal and no input. Processes that it leaves in the background are ended with it.

        Args:
            timeout: seconds after which it is ended
        """
        if "\0" in command:
            raise CallerError("a command cannot contain a NUL character")
        ran = await run(command, context, timeout, outside=False)
        notes = _told_of_taken(ran.taken)
        if hint := _hint(ran, sandbox):
            notes.append(
                f'"{hint}" in its output may be due to the sandbox, where commands cannot {sandbox.policy.forbidden}.'
            )
        if notes and await context.offer(" ".join(notes)):
            return _report(await run(command, context, timeout, outside=True), timeout, [_AGAIN])
        return _report(ran, timeout, notes)

    return shell


class Ran(NamedTuple):
    """A command that has ended: how, what it wrote, and what it should not have made."""

    finished: Finished
    text: str
    taken: TakenBack | None


_AGAIN = "The user let this command run again, outside of the sandbox."


def _hint(ran: Ran, sandbox: Sandbox) -> str | None:
    """Words in the output of a failed command that a refusal of the sandbox would also give."""
    if not ran.finished.code or ran.finished.timed_out or not sandbox.isolation.holds:
        return None
    return hint_of_denial(ran.text, sandbox.policy)


def _told_of_taken(taken: TakenBack | None) -> list[str]:
    if taken is None:
        return []
    notes: list[str] = []
    if taken.moved:
        notes.append(f"It made {_listed(taken.moved)}, which is protected: moved to {WITHHELD}.")
    if taken.stuck:
        notes.append(f"It made {_listed(taken.stuck)}, which is protected and could not be moved away.")
    if taken.has_flooded:
        notes.append("It made so many files that not every folder could be looked through for protected ones.")
    return notes


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _report(ran: Ran, timeout: float, notes: list[str]) -> ToolOutput:
    finished, text = ran.finished, ran.text
    said = "".join(f" {note}" for note in notes)
    if finished.timed_out:
        told = f"The command ran longer than {timeout:g} s and was ended.{said} Its output so far:"
        return ToolOutput(text, told)
    if finished.code:
        return ToolOutput(text, f"The command ended with exit code {_exit_code(finished.code)}.{said}")
    return ToolOutput("\n".join([*(f"[{note}]" for note in notes), text or "[no output]"]))


def _exit_code(code: int) -> str:
    """As a shell says it, so that it is the same with a shell or a sandbox in between: 128 and the signal."""
    number = 128 - code if code < 0 else code
    return f"{number} (signal {number - 128})" if 128 < number <= 128 + signal.NSIG else str(number)


def readable(output: str) -> str:
    """Output as text: no colours, and of a line that was written over only its last state."""
    return re.sub(_OVERWRITTEN, "", re.sub(_ESCAPES, "", output)).rstrip()
