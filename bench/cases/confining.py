"""What the sandbox costs: a command that does nothing, in it and without it.

Processor time of the command and of all that is started for it, the smallest of many, alternating: a bound on the wall
says more about the machine. The launcher is measured against an interpreter that does nothing, in the same run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from tempfile import TemporaryDirectory

import anyio

from bench.figures import Figure, Goal, Outcome, Scale
from legato.tools.sandbox.sandbox import Mechanism, Sandbox

TRUE = ["/bin/sh", "-c", "true"]
PLAIN = "true, without a sandbox"
INTERPRETER = "python -I -S -c pass"


def sandbox(scale: Scale) -> Outcome:
    """`true` with each mechanism that this system has."""
    with TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], float]] = {
            PLAIN: lambda: _spent(TRUE, ()),
            INTERPRETER: lambda: _spent([sys.executable, "-I", "-S", "-c", "pass"], ()),
        }
        for mechanism in Mechanism:
            confining = Sandbox(folder, only=mechanism)
            if confining.choice.mechanism is not None:
                ways[mechanism] = lambda confining=confining: anyio.run(_confined, confining)
        taken = {name: min(way() for _ in range(10 * scale.children)) for name, way in ways.items()}
    figures: list[Figure] = []
    for name in ways.keys() & {*Mechanism}:
        more = taken[name] - taken[PLAIN]
        if name == Mechanism.BUBBLEWRAP:
            figures.append(Figure(f"true in {name}", more * 1000, "ms", PLAIN, goal=Goal("at most", 15)))
        else:
            goal = Goal("at most", 1.5)
            detail = f"{more * 1000:.1f} ms more than {PLAIN}"
            figures.append(Figure(f"true in {name}", more / taken[INTERPRETER], "x", INTERPRETER, detail, goal))
    return Outcome(figures)


async def _confined(sandbox: Sandbox) -> float:
    async with AsyncExitStack() as stack:
        confined = await stack.enter_async_context(sandbox.around(TRUE, dict(os.environ)))
        return _spent(confined.command, confined.descriptors)


def _spent(command: list[str], descriptors: tuple[int, ...]) -> float:
    """Seconds of the processor, with all that it started and waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, pass_fds=descriptors)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
