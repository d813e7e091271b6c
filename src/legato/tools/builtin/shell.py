"""shell: run a command in the working folder.

The command gets the session's environment without the keys of model providers: a command that a model wrote has no
business with them. It has no terminal and no input, so nothing can wait for a person there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import Meta

from legato.errors import CallerError
from legato.tools.builtin.processes import Finished, run_program
from legato.tools.builtin.workspace import Workspace
from legato.tools.functions import tool
from legato.tools.registry import Tool, ToolContext, ToolKind, ToolOutput

_MAX_OUTPUT = 1_000_000
"""what is kept of an output; how much of that the model sees is the scheduler's budget"""
_MAX_SECONDS = 600
"""how long a command may be given: our choice, longer ones belong into the background"""

# Patterns are compiled when a first command runs: many a session never runs one.
_KEYS = (
    r"(?i).*_API_?KEYS?(_.*)?|API_?KEY|.*_(API|AUTH|BEARER)_TOKEN(_.*)?|HF_TOKEN|HUGGING_?FACE.*TOKEN"
    r"|GOOGLE_APPLICATION_CREDENTIALS|AWS_(SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN.*)|.*_SECRET_?KEY"
)
_QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
_ESCAPES = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
_OVERWRITTEN = r"(?m)^[^\n]*\r(?![\n\r]|\Z)"
"""what a progress bar wrote before it came back to the start of its line"""


def shell_tool(workspace: Workspace, *, secrets: Iterable[str] = (), seconds: int = 120) -> Tool:
    """The tool that runs a command; `secrets` are further variables to hide, `seconds` the usual time limit."""
    hidden = frozenset(secrets)
    program = shutil.which("bash") or "/bin/sh"

    @tool(
        kind=ToolKind.EXECUTE,
        preview=lambda arguments: str(arguments["command"]),
        subject=lambda arguments: str(arguments.get("command", "")),
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
        try:
            finished = await run_program(
                [program, "-c", command],
                context,
                folder=workspace.root,
                environment=clean_environment(os.environ, hidden),
                seconds=timeout,
                limit=_MAX_OUTPUT,
            )
        finally:
            context.partial = readable(context.partial)
        return _report(finished, timeout)

    return shell


def clean_environment(environment: Mapping[str, str], hidden: Iterable[str] = ()) -> dict[str, str]:
    """`environment` without keys, and set so that programs neither page nor ask."""
    names = frozenset(hidden)
    kept = {name: value for name, value in environment.items() if name not in names and not re.fullmatch(_KEYS, name)}
    return kept | _QUIET


def _report(finished: Finished, timeout: float) -> ToolOutput:
    text = readable(finished.output)
    if finished.timed_out:
        return ToolOutput(text, f"The command ran longer than {timeout:g} s and was ended. Its output so far:")
    if finished.code < 0:
        return ToolOutput(text, f"The command was ended by signal {-finished.code}.")
    if finished.code:
        return ToolOutput(text, f"The command ended with exit code {finished.code}.")
    return ToolOutput(text or "[no output]")


def readable(output: str) -> str:
    """Output as text: no colours, and of a line that was written over only its last state."""
    return re.sub(_OVERWRITTEN, "", re.sub(_ESCAPES, "", output)).rstrip()
