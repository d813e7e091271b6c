"""End a process group: ask, wait, insist.

Where the first process only waits for the others (`leads`: bubblewrap, or our launcher) it is asked last, because with
its end it ends what has left the group, too.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import Protocol

import anyio


class Leader(Protocol):
    """The first process of a group, as `asyncio` and `anyio` have it."""

    @property
    def pid(self) -> int: ...

    async def wait(self) -> int: ...


async def end_group(process: Leader, *, leads: bool, patience: float) -> None:
    """End the group of `process`; each polite signal has `patience` seconds to work."""
    with anyio.CancelScope(shield=True):  # a cancelled scope would cancel this as well, again and again
        if leads:
            for member in _members(process.pid):
                _signal(member, signal.SIGTERM)
            await wait_a_while(process, patience)
            _signal(process.pid, signal.SIGTERM)
        else:
            signal_group(process.pid, signal.SIGTERM)
        await wait_a_while(process, patience)
        signal_group(process.pid, signal.SIGKILL)
        await process.wait()


async def wait_a_while(process: Leader, seconds: float) -> bool:
    """Wait for the end of `process` for so long; whether it came."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.wait()
            return True
    return False


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a group that are there."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _members(leader: int) -> list[int]:
    """The processes of the group that `leader` leads, without itself; none where there is no /proc."""
    found: list[int] = []
    with suppress(OSError):
        for name in os.listdir("/proc"):
            with suppress(OSError, ProcessLookupError):
                if name.isdecimal() and int(name) != leader and os.getpgid(int(name)) == leader:
                    found.append(int(name))
    return found


def _signal(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)
