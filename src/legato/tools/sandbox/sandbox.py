"""The sandbox of one working folder: which mechanism holds here, and how a command is started in it.

    bubblewrap, where it is installed and works  >  Landlock and seccomp, through our launcher  >  none

In:  a folder, a policy.
Out: for each command the command line that starts it in the sandbox, and afterwards what it should not have made.

Which mechanism works is tried out with a command that does nothing, when the first one is to be run or asked about:
containers and distributions forbid different parts of it, and no version number tells.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread

from legato.tools.isolation import Isolation
from legato.tools.protected import Protection
from legato.tools.sandbox import bubblewrap, landlock
from legato.tools.sandbox.places import ProtectedPlaces, TakenBack
from legato.tools.sandbox.policy import SandboxMode, SandboxPolicy, isolation_of
from legato.tools.sandbox.seccomp import MACHINES, call_filter
from legato.tools.sandbox.supervision import Confined, close, launch, memory_file, supervise

_TRIAL_SECONDS = 10
"""for a command that does nothing: our choice, hundreds of times what it takes"""

_SACRIFICE = 500
"""what is ended first when memory runs out is a command: halfway to "always" (1000)"""


class Mechanism(StrEnum):
    """What holds a command."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


class ChosenMechanism(NamedTuple):
    """The mechanism that holds here, or why there is none."""

    mechanism: Mechanism | None
    reason: str


class Sandbox:
    """Starts commands for one working folder.

    `protected` are further files and folders that stay read-only. `written` gives the files that were meanwhile written
    on purpose, and are therefore not taken back. `only` names the mechanism to use, for tests.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        policy: SandboxPolicy | None = None,
        *,
        protected: Iterable[str | os.PathLike[str]] = (),
        written: Callable[[], frozenset[str]] = frozenset,
        only: Mechanism | None = None,
    ) -> None:
        self.folder = os.path.realpath(folder)
        self.policy = policy or SandboxPolicy()
        self._further = [os.path.realpath(path) for path in (*protected, *_own_code())]
        self._written, self._only = written, only
        self._opened = {
            os.path.realpath(os.path.join(self.folder, os.path.expanduser(p))) for p in self.policy.writable
        }
        self._places = ProtectedPlaces(self.folder, Protection(folder=self.folder))

    # --- what holds here ---

    @property
    def isolation(self) -> Isolation:
        """What holds for commands, in words; tries it out the first time."""
        wanted = self.policy.mode is not SandboxMode.OFF
        return isolation_of(self.policy, self.choice.reason if wanted and self.choice.mechanism is None else None)

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What the mechanism of this system does not hold, though another one would."""
        return landlock.weaknesses() if self.choice.mechanism is Mechanism.LANDLOCK else ()

    @cached_property
    def choice(self) -> ChosenMechanism:
        """The mechanism that is used, tried out."""
        if sys.platform != "linux":
            return ChosenMechanism(None, f"there is none for {platform.system()}")
        if platform.machine() not in MACHINES:
            return ChosenMechanism(None, f"there is none for machines of the kind {platform.machine()}")
        reasons: list[str] = []
        for mechanism in Mechanism if self._only is None else (self._only,):
            reason = self._is_missing(mechanism) or self._fails(mechanism)
            if reason is None:
                return ChosenMechanism(mechanism, "")
            reasons.append(reason)
        return ChosenMechanism(None, ", and ".join(reasons))

    def _is_missing(self, mechanism: Mechanism) -> str | None:
        if mechanism is Mechanism.BUBBLEWRAP:
            is_there = bubblewrap.find_bubblewrap(self.folder) is not None
            return None if is_there else "bubblewrap (bwrap) is not installed outside of the working folder"
        if (known := landlock.version()) < landlock.OLDEST:
            return f"this kernel's Landlock is {'too old' if known else 'missing'} (Linux 6.2 has it)"
        return None

    def _fails(self, mechanism: Mechanism) -> str | None:
        """Why a command that does nothing cannot be run; None if it can."""
        confined = self._confine(mechanism, ["/bin/sh", "-c", ":"], {}, [])
        try:
            done = subprocess.run(  # a program of ours, or the system's own
                confined.command,
                env=dict(os.environ) | confined.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIAL_SECONDS,
                check=False,
                pass_fds=confined.descriptors,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return f"{mechanism} does not work here ({error})"
        finally:
            close(confined.descriptors)
        told = done.stderr.decode("utf-8", "replace").strip()
        return f"{mechanism} does not work here ({told[-200:] or done.returncode})" if done.returncode else None

    # --- starting a command ---

    @asynccontextmanager
    async def around(
        self, command: Sequence[str], environment: dict[str, str], *, outside: bool = False
    ) -> AsyncGenerator[Confined]:
        """The command to start in place of `command`; what it should not have made is taken back behind it.

        `outside` of the sandbox nothing is forbidden and nothing taken back; processes still end with their command.
        """
        mechanism = None if outside or self.policy.mode is SandboxMode.OFF else await self._mechanism()
        if mechanism is None:
            confined = supervise(command, environment, folder=self.folder)
            before = None
        else:
            before = await anyio.to_thread.run_sync(self._places.find) if self._is_workspace_writable else None
            places = [os.path.join(self.folder, path) for path in before or ()]
            confined = self._confine(mechanism, command, environment, places)
        try:
            yield confined
        finally:
            close(confined.descriptors)
            if before is not None:
                with anyio.CancelScope(shield=True):
                    confined.taken = await anyio.to_thread.run_sync(self._take_back, before)

    async def _mechanism(self) -> Mechanism | None:
        choice = await anyio.to_thread.run_sync(lambda: self.choice)
        return choice.mechanism

    @property
    def _is_workspace_writable(self) -> bool:
        return self.policy.mode is SandboxMode.WORKSPACE

    def _take_back(self, before: dict[str, str]) -> TakenBack:
        opened = frozenset(path for path in self._opened if path.startswith(f"{self.folder}/"))
        return self._places.take_back(before, spared=self._written() | opened)

    def _confine(
        self, mechanism: Mechanism, command: Sequence[str], environment: dict[str, str], places: Iterable[str]
    ) -> Confined:
        writable = sorted(path for path in self._opened if os.path.exists(path))
        if self._is_workspace_writable:
            writable = [self.folder, *writable]
        protected = {os.path.realpath(path) for path in (*places, *self._further)} - self._opened
        own_namespaces = mechanism is Mechanism.BUBBLEWRAP
        program = call_filter(
            platform.machine(),
            network=self.policy.network,
            unix_sockets=self.policy.unix_sockets,
            own_namespaces=own_namespaces,
        )
        if own_namespaces:
            inside = [path for path in protected if os.path.exists(path) and _is_below(path, writable)]
            return self._in_bubblewrap(command, environment, writable, inside, program)
        job = landlock.LaunchJob(
            parent=os.getpid(),
            command=list(command),
            limits=[*self._limits(threads=threads_of_machine()).items()],
            sacrifice=b"%d" % _SACRIFICE,
            handled=landlock.handled(network=self.policy.network),
            rules=landlock.rules([self._temporary, *writable], {*protected, *places} - self._opened),
            scoped=landlock.version() >= landlock.WITH_SCOPES,
            filter=program,
        )
        return launch(job, environment | {"TMPDIR": self._temporary})

    def _in_bubblewrap(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        writable: Collection[str],
        protected: Collection[str],
        program: bytes,
    ) -> Confined:
        found = bubblewrap.find_bubblewrap(self.folder)
        assert found is not None, "it was found when it was chosen"
        filtering = memory_file("filter", program)
        options = bubblewrap.arguments(
            folder=self.folder,
            temporary=self._temporary,
            writable=writable,
            protected=protected,
            network=self.policy.network,
            filter_file=filtering,
        )
        told = memory_file("options", b"".join(os.fsencode(one) + b"\0" for one in options))
        line = bubblewrap.command_line(found, told, command, limits=self._limits(threads=0), sacrifice=_SACRIFICE)
        return Confined(line, environment, (filtering, told), leads=True)

    def _limits(self, *, threads: int) -> dict[int, int]:
        """By resource, what one command may use; `threads` run already and are counted with it."""
        memory = self.policy.memory * 1024 * 1024
        wanted = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_DATA: memory or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4,
            resource.RLIMIT_NPROC: self.policy.processes + threads,
        }
        hard = {one: resource.getrlimit(one)[1] for one in wanted}
        return {one: value if hard[one] < 0 else min(value, hard[one]) for one, value in wanted.items()}

    @cached_property
    def _temporary(self) -> str:
        """A folder of its own for all commands, removed with the sandbox or when the program ends."""
        folder = tempfile.mkdtemp(prefix="legato-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return os.path.realpath(folder)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _own_code() -> Iterator[str]:
    """What this program runs from: whoever changes it runs outside of the sandbox the next time."""
    yield from (os.path.join(sys.prefix, name) for name in ("bin", "lib", "lib64", "pyvenv.cfg"))
    yield str(Path(__file__).parents[2])


def threads_of_machine() -> int:
    """All threads of the machine: no fewer than those of this user, which the kernel counts."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
