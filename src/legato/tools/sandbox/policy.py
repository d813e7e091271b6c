"""What a command may do: what a person can set about the sandbox, and how it is said.

In:  the table `[sandbox]` of the settings, or what a program passes.
Out: a policy, and the words in which a person and a model are told what it means.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

from legato.tools.isolation import Isolation


class SandboxMode(StrEnum):
    """Where a command may write, the strictest first."""

    READ_ONLY = "read-only"
    """nowhere but in a temporary folder of its own"""
    WORKSPACE = "workspace"
    """in the working folder, protected paths excepted, and in a temporary folder of its own"""
    OFF = "off"
    """wherever its user may: there is no sandbox"""


class SandboxPolicy(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The sandbox of commands that a model writes."""

    mode: SandboxMode = SandboxMode.WORKSPACE
    network: bool = False
    """whether they reach the network"""
    unix_sockets: bool = False
    """whether they reach local services (an ssh agent, a container engine, a database) through Unix sockets"""
    writable: tuple[str, ...] = ()
    """further paths that they may write, also protected ones; a relative one begins at the working folder"""
    processes: Annotated[int, Meta(ge=1)] = 4096
    """processes and threads that one command may have at once"""
    memory: Annotated[int, Meta(ge=0)] = 0
    """megabytes that each process may allocate; 0 is three quarters of the machine's memory"""

    @property
    def forbidden(self) -> str:
        """What commands cannot do, as the end of a sentence."""
        writes = {
            SandboxMode.READ_ONLY: "write anywhere but in $TMPDIR",
            SandboxMode.WORKSPACE: "write outside of the working folder and $TMPDIR, or to protected paths (.git, …)",
            SandboxMode.OFF: "",
        }[self.mode]
        return ", or ".join([writes, *(() if self.network else ("use the network",))])


def isolation_of(policy: SandboxPolicy, missing: str | None) -> Isolation:
    """What holds for commands under `policy`, where `missing` says why this system has no sandbox, if it has none."""
    if policy.mode is SandboxMode.OFF:
        return Isolation(False, "no sandbox: it is switched off, and this can do whatever you can")
    if missing is not None:
        return Isolation(False, f"no sandbox: {missing}; this can do whatever you can", is_missing=True)
    network = "" if policy.network else ", no network"
    where = "nothing can be written" if policy.mode is SandboxMode.READ_ONLY else "writes only in this folder"
    return Isolation(True, f"in the sandbox: {where}{network}")
