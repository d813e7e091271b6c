"""The sandbox without bubblewrap: what the kernel's Landlock is told, and the job for the launcher.

In:  what may be written, and the protected places in it.
Out: rules for paths, and a job that `launcher` does in a process of its own.

Landlock has a list of what is allowed and nothing else: a right to a folder is a right to all that is below it, and no
rule takes a part of it away. Where a folder holds something protected, rights are therefore given to its other entries
one by one; in the folder itself nothing can be made, renamed or removed. New protected files in other folders are taken
back when the command has ended (`places`).
"""

from __future__ import annotations

import marshal
import os
import platform
import stat
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

from legato.tools.sandbox.seccomp import MACHINES

OLDEST = 3
"""the version of Landlock's interface that we need, of Linux 6.2: before it, a file outside could be emptied"""

_WRITE_FILE, _READ_FILE, _TRUNCATE, _IOCTL_DEVICE = 1 << 1, 1 << 2, 1 << 14, 1 << 15
_CHANGE_FOLDER = sum(1 << bit for bit in range(4, 14))
"""remove, make files of every kind, link and rename across folders"""
_ALL_WRITES = _WRITE_FILE | _CHANGE_FOLDER | _TRUNCATE
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPE_ABSTRACT_SOCKET, _SCOPE_SIGNAL = 1, 2
_WITH_NETWORK, _WITH_DEVICES, WITH_SCOPES = 4, 5, 6
"""versions of the interface that learned these"""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_OF_THE_KERNEL = ("/dev", "/proc", "/sys")
"""devices and settings: who may write all of `/` does not mean them"""
_CALL_CREATE_RULESET, _ASK_VERSION = 444, 1

_LAUNCHER = Path(__file__).with_name("launcher.py")
START_LAUNCHER = (
    "import marshal, sys\n"
    "with open(int(sys.argv[1]), 'rb') as file: made_for, code, source, job = marshal.load(file)\n"
    "names = {'__name__': 'launcher'}\n"
    "exec(marshal.loads(code) if made_for == sys.implementation.cache_tag else source, names)\n"
    "names['main'](job)"
)
"""the program of an interpreter, as `-c` takes it, that gets the number of an open file with `launch_data`"""


class LaunchJob(TypedDict):
    """What the launcher does; everything that restricts may be empty."""

    parent: int
    command: list[str]
    limits: list[tuple[int, int]]
    sacrifice: bytes
    """how much rather than others the command is ended when memory runs out (`oom_score_adj`)"""
    handled: tuple[int, ...]
    """what Landlock decides about: accesses to files, accesses to the network, scopes"""
    rules: list[tuple[bytes, int]]
    scoped: bool
    filter: bytes


@lru_cache(maxsize=1)
def version() -> int:
    """The version of Landlock's interface here; 0 if there is none."""
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return 0
    import ctypes  # only here: most runs start no command

    return max(ctypes.CDLL(None).syscall(_CALL_CREATE_RULESET, None, 0, _ASK_VERSION), 0)


@lru_cache(maxsize=1)
def _launcher() -> tuple[str, bytes, str]:
    """The launcher: for which Python it is compiled, how, and its text. To compile it takes as long as all it does."""
    text = _LAUNCHER.read_text(encoding="utf-8")
    return sys.implementation.cache_tag, marshal.dumps(compile(text, str(_LAUNCHER), "exec", dont_inherit=True)), text


def launch_data(job: LaunchJob) -> bytes:
    """What the launcher is given: itself, and what it shall do."""
    return marshal.dumps((*_launcher(), dict(job)))


def weaknesses() -> tuple[str, ...]:
    """What Landlock leaves open, for a person who may install bubblewrap."""
    told = (
        "install bubblewrap (bwrap) for more: without it nothing can be made or removed in a folder that holds a "
        "protected path, /tmp cannot be written, and modes, groups and times of your files elsewhere can be changed"
    )
    if version() >= WITH_SCOPES:
        return (told,)
    return (told, "before Linux 6.12 a command can also send signals to your other processes")


def handled(*, network: bool) -> tuple[int, ...]:
    """What Landlock is asked to decide about, as far as this kernel can."""
    known = version()
    files = _ALL_WRITES | _READ_FILE | (_IOCTL_DEVICE if known >= _WITH_DEVICES else 0)
    if known < _WITH_NETWORK:
        return (files,)
    sockets = 0 if network else _BIND_TCP | _CONNECT_TCP
    scopes = (_SCOPE_ABSTRACT_SOCKET | _SCOPE_SIGNAL,) if known >= WITH_SCOPES else ()
    return (files, sockets, *scopes)


def rules(folders: Iterable[str], protected: Iterable[str]) -> list[tuple[bytes, int]]:
    """Which paths may be written: `folders`, without what is `protected` in them; and all but devices may be read.

    A terminal is a device: who reads from one takes away what a person types there.
    """
    kept = frozenset((*protected, *_OF_THE_KERNEL))
    on_the_way = {str(folder) for path in kept for folder in Path(path).parents}
    allowed = [(device, _WRITE_FILE | _READ_FILE) for device in _DEVICES]
    allowed += [(f"/{name}", _READ_FILE) for name in sorted(os.listdir("/")) if name != "dev"]
    allowed.append(("/dev/shm", _READ_FILE))
    for folder in folders:
        allowed += _allowed_in(folder, kept, on_the_way)
    return [(os.fsencode(path), access) for path, access in allowed]


def _allowed_in(path: str, kept: frozenset[str], on_the_way: set[str]) -> Iterator[tuple[str, int]]:
    if path in kept:
        return
    try:
        mode = os.lstat(path).st_mode
        entries = sorted(os.listdir(path)) if stat.S_ISDIR(mode) and path in on_the_way else []
    except OSError:
        return  # gone, or not ours to look into
    if stat.S_ISDIR(mode) and path not in on_the_way:
        yield path, _ALL_WRITES
    elif stat.S_ISREG(mode):
        yield path, _WRITE_FILE | _TRUNCATE
    for name in entries:
        yield from _allowed_in(os.path.join(path, name), kept, on_the_way)
