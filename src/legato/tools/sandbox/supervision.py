"""Start a command so that everything it starts ends with it, in a sandbox or without one.

In:  a command, and what restricts it, if anything does.
Out: the command line that starts it through our launcher.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from legato.tools.sandbox import landlock
from legato.tools.sandbox.places import TakenBack


class Confined(Struct):
    """A command as it is to be started. `taken` is known when it has ended.

    `leads` says that its first process is not the command, but one that waits for it and ends what it leaves.
    """

    command: list[str]
    environment: dict[str, str]
    descriptors: tuple[int, ...] = ()
    leads: bool = False
    taken: TakenBack | None = None


def supervise(command: Sequence[str], environment: dict[str, str], *, folder: str | None = None) -> Confined:
    """`command` without a sandbox: on Linux its processes still end with it.

    It is started as it is where there is no such program: then the system says so.
    """
    program = _find(command[0], environment, folder) if sys.platform == "linux" and sys.executable else None
    if program is None:
        return Confined(list(command), environment)
    job = landlock.LaunchJob(
        parent=os.getpid(),
        command=[program, *command[1:]],
        limits=[],
        sacrifice=b"",
        handled=(),
        rules=[],
        scoped=False,
        filter=b"",
    )
    return launch(job, environment)


def _find(name: str, environment: dict[str, str], folder: str | None) -> str | None:
    """The program of that name, as a process that starts in `folder` finds it."""
    place = folder or os.curdir
    if os.path.dirname(name):
        found = shutil.which(os.path.join(place, name))
    else:
        folders = environment.get("PATH", os.defpath).split(os.pathsep)
        found = shutil.which(name, path=os.pathsep.join(os.path.join(place, one) for one in folders))
    return found and os.path.abspath(found)


def launch(job: landlock.LaunchJob, environment: dict[str, str]) -> Confined:
    """The command of `job` as our launcher starts it."""
    told = memory_file("job", landlock.launch_data(job))
    command = [sys.executable, "-I", "-S", "-c", landlock.START_LAUNCHER, str(told)]
    return Confined(command, environment, (told,), leads=True)


def memory_file(name: str, data: bytes) -> int:
    """An open file in memory that holds `data`, for a program that is about to be started."""
    descriptor = os.memfd_create(name)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def close(descriptors: Iterable[int]) -> None:
    """Close what only the program that was started needs."""
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)
