"""Who holds a lease, and whether that process still lives.

In:  what a writer left in the store: its host, its process id, when that process started.
Out: whether someone else may take the session over.

A process on this host can be asked for: the kernel knows whether it lives, and its start time tells it from a later
process with the same number. So a crash frees a session at once, and a writer that merely sleeps (a closed laptop lid,
Ctrl-Z) keeps it. Of other hosts only the expiry of the lease is known. "This host" means one boot and one space of
process numbers: two containers may share a host name and still not see each other.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

from msgspec import Struct


class Process(Struct, frozen=True):
    """One process: where it runs, its number, and when it started, as the kernel counts (empty: unknown)."""

    host: str
    pid: int
    started: str


def this_process() -> Process:
    """The process that runs this."""
    pid = os.getpid()
    return Process(_this_host(), pid, _started(pid))


def may_take_over(process: Process, *, expired: bool) -> bool:
    """Whether a lease of `process` no longer counts."""
    if process.host != _this_host():
        return expired
    if not _exists(process.pid):
        return True
    started = _started(process.pid)
    if started and process.started:
        return started != process.started
    return expired  # alive, but whether it is still the same process cannot be told here


@cache
def _this_host() -> str:
    parts = [platform.node(), _text("/proc/sys/kernel/random/boot_id").strip()]
    try:
        parts.append(os.readlink("/proc/self/ns/pid"))
    except OSError:
        parts.append("")
    return "/".join(parts)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it belongs to another user
    # A process that has ended and was not yet waited for by its parent will never write again.
    return _field(pid, 0) not in {"Z", "X"}


def _started(pid: int) -> str:
    return _field(pid, 19)


def _field(pid: int, index: int) -> str:
    """One field of /proc/PID/stat, counted after the name, which may itself hold spaces and brackets."""
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[index] if index < len(fields) else ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
