"""The sandbox with bubblewrap (`bwrap`): namespaces of its own for files, processes, network and shared memory.

In:  what may be written, and the protected places in it.
Out: the command line that starts a program there.

Everything is mounted read-only; over it go the folders that may be written, over those the protected places, read-only
again. The processes of a command are in a namespace of their own, and end with its first one. Bubblewrap gives up all
capabilities, forbids new ones and makes its own `/dev` and `/proc`; the filter for system calls is passed to it.
"""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

_USUAL = "/usr/bin/bwrap"
_TEMPORARY = "/tmp"  # the private folder that is mounted there
_ULIMIT = {
    resource.RLIMIT_CORE: ("ulimit -c {0}", 512),
    resource.RLIMIT_DATA: ("ulimit -d {0}", 1024),
    resource.RLIMIT_NPROC: ("ulimit -u {0} || ulimit -p {0}", 1),  # dash calls them -p
}
"""how a shell sets a limit, and the bytes that it counts as one"""


def find_bubblewrap(workspace: str) -> str | None:
    """The program: the system's own, else the first on the PATH, but none that lies in the working folder."""
    found = _USUAL if os.access(_USUAL, os.X_OK) else shutil.which("bwrap")
    if found is None or Path(found).resolve().is_relative_to(workspace):
        return None
    return found


def arguments(
    *,
    folder: str,
    temporary: str,
    writable: Collection[str],
    protected: Collection[str],
    network: bool,
    filter_file: int,
) -> list[str]:
    """The options, as bubblewrap's `--args` takes them; the filter for system calls is in the open `filter_file`."""
    # Who works in `/` gets all files, and no devices and settings of the kernel: those are not mounted anew below.
    is_everything = "/" in writable
    mounts = ["--bind" if is_everything else "--ro-bind", "/", "/"]
    mounts += ["--ro-bind", "/sys", "/sys"] if is_everything and os.path.isdir("/sys") else []
    mounts += ["--dev", "/dev", "--proc", "/proc", "--bind", temporary, _TEMPORARY]
    mounts += ["--remount-ro", "/proc"]  # root owns what is in /proc/sys, and needs no capability to write it
    if Path(folder).is_relative_to(_TEMPORARY):  # which the mount above hides
        mounts += ["--ro-bind", folder, folder]
    kinds = dict.fromkeys(_folders_between(protected, writable), "--bind") | dict.fromkeys(protected, "--ro-bind")
    kinds |= dict.fromkeys((place for place in writable if place != "/"), "--bind")
    for place, kind in sorted(kinds.items()):  # a folder before what is in it
        mounts += [kind, place, place]
    return [
        *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
        *(() if network else ("--unshare-net",)),
        *("--cap-drop", "ALL", "--die-with-parent"),
        *mounts,
        *("--chdir", folder, "--setenv", "TMPDIR", _TEMPORARY),
        *("--seccomp", str(filter_file)),
    ]


def _folders_between(protected: Collection[str], writable: Collection[str]) -> set[str]:
    """The folders on the way from what may be written to what is protected.

    Nothing on which something is mounted can be renamed, but a folder above it can: with a mount of its own, it cannot.
    """
    found: set[str] = set()
    for place in protected:
        for root in writable:
            if Path(place).is_relative_to(root):
                found |= {str(folder) for folder in Path(place).parents if root in map(str, folder.parents)}
    return found


def command_line(
    program: str, options_file: int, command: Sequence[str], *, limits: Mapping[int, int], sacrifice: int
) -> list[str]:
    """What starts `command`: shells set the limits; those that they cannot set are left as they are.

    Processes are counted for each user of a namespace, so that limit can only be set inside. There `/proc` is
    read-only, so what is written to it is written before.
    """
    within = {one: value for one, value in limits.items() if one == resource.RLIMIT_NPROC}
    before = {one: value for one, value in limits.items() if one not in within}
    inside = _setting(_ulimits(within), command)
    outside = [program, "--args", str(options_file), "--", *inside]
    return _setting([f"echo {sacrifice} >/proc/self/oom_score_adj", *_ulimits(before)], outside)


def _ulimits(limits: Mapping[int, int]) -> list[str]:
    return [_ULIMIT[one][0].format(value // _ULIMIT[one][1]) for one, value in limits.items()]


def _setting(settings: Sequence[str], command: Sequence[str]) -> list[str]:
    return ["/bin/sh", "-c", f'{{ {"; ".join(settings)}; }} 2>/dev/null; exec "$@"', "sh", *command]
