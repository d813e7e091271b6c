"""`!command`: a command of the person's own, in their shell, shown and put into the conversation.

It is the person who runs it, so nothing is asked and their whole environment is there. What it wrote becomes part of
the conversation as something that they said.
"""

from __future__ import annotations

import os
from pathlib import Path

from legato.cli.terminal.filter import TerminalFilter
from legato.cli.terminal.screen import Screen
from legato.cli.terminal.styles import Style
from legato.model import Entry, Speaker, Text
from legato.tools import ToolContext
from legato.tools.builtin.processes import run_program

_SECONDS = 3600.0
"""how long a command of the person's own may run: our choice, they are there to stop it"""

_KEPT = 60_000
"""characters of its output that the model is told: our choice, as much as of a tool's"""


async def run_for_person(command: str, *, folder: Path, screen: Screen) -> Entry:
    """Run `command`, showing its output as it comes; what to record about it."""
    stream = TerminalFilter()
    context = ToolContext(name="shell", progress=lambda text: screen.write(stream.feed(text)))
    shell = os.environ.get("SHELL") or "/bin/sh"
    try:
        finished = await run_program(
            [shell, "-c", command],
            context,
            folder=folder,
            environment=os.environ,
            seconds=_SECONDS,
            limit=_KEPT,
        )
        output, ended = finished.output, f"exit code {finished.code}"
    except OSError as error:
        output, ended = "", f"it could not be started: {error.strerror or error}"
        screen.line(ended)
    else:
        screen.write(stream.flush())
        screen.fresh_line()
        if finished.code:
            screen.line(f"({ended})", Style.DIM)
    written = f"It wrote:\n\n{output.rstrip()}" if output.strip() else "It wrote nothing."
    return Entry(Speaker.HUMAN, (Text(f"I ran this command in my shell: {command}\n({ended}) {written}"),))
