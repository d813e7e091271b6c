"""A project's own files: found in a folder or above it, and read only if they are the user's or the system's.

In:  names, and the folder that the program works in.
Out: the nearest file of such a name, read once, and what was passed over on the way, in words for a person.

The search goes up to the root, through folders where others may write: `/tmp/AGENTS.md` would speak to everyone who
works below `/tmp`. So a file counts only if it belongs to the user who runs the program or to root, as git demands of
a repository (under sudo, the user who called it counts too). That of a link counts as well as that of the file. Who may
write a file says less than who owns it: some file systems (WSL's, network shares) report one mode for all.

A link may lead out of its folder only to a file of the same name. Projects link AGENTS.md to another text of theirs or
to the one of the repository above; one that links it to `~/.ssh/id_ed25519` wants that key to be sent to a model.

What is looked at is the open file, and its bytes are read once: what is judged (by a digest) and what is used
have the same ones.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from legato.errors import ConfigError

MCP_FILE = ".mcp.json"
"""the file of a project that names MCP servers"""

LARGEST = 1024 * 1024
"""bytes that are read of a file"""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ProjectFile(NamedTuple):
    """A file and what it held when it was read: all of it, unless `size` is larger."""

    path: Path
    data: bytes
    size: int


class Found(NamedTuple):
    """The nearest file that counts, and why nearer ones do not."""

    file: ProjectFile | None
    passed_over: tuple[str, ...] = ()


class _PassedOver(Exception):
    """There is a file, and it is not read; says why."""


def find_file(
    names: tuple[str, ...], folder: Path, *, largest: int = LARGEST, owners: frozenset[int] | None = None
) -> Found:
    """The first of `names` in `folder` or the nearest folder above it; raises `ConfigError` if it cannot be read.

    `owners` are the users whose files count, by number.
    """
    here = folder.resolve()
    accepted = _accepted_owners() if owners is None else owners
    passed_over: list[str] = []
    for place in (here, *here.parents):
        for name in names:
            try:
                file = _read(place / name, names, largest, accepted)
            except _PassedOver as reason:
                passed_over.append(f"{place / name} is not read: {reason}")
            else:
                if file is not None:
                    return Found(file, tuple(passed_over))
    return Found(None, tuple(passed_over))


def _read(path: Path, names: tuple[str, ...], largest: int, owners: frozenset[int]) -> ProjectFile | None:
    """The file at `path`; None if there is none, or something that is no file."""
    try:
        link = path.lstat()
        real = path.resolve(strict=True) if stat.S_ISLNK(link.st_mode) else path
        if not stat.S_ISREG(real.stat().st_mode):
            return None
    except (OSError, RuntimeError):  # nothing there, a link to nowhere or to itself, a folder that is closed to us
        return None
    if real.name not in names and not real.is_relative_to(path.parent):
        raise _PassedOver(f"it is a link out of its folder, to {real}; copy the text if it belongs here")
    _check_owner(link, owners)
    try:
        descriptor = os.open(real, _FLAGS)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            _check_owner(status, owners)
            return ProjectFile(path, file.read(largest), status.st_size)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}; correct or remove it") from None


def _check_owner(status: os.stat_result, owners: frozenset[int]) -> None:
    if hasattr(os, "geteuid") and status.st_uid not in owners:
        raise _PassedOver(f"it belongs to {_name_of(status.st_uid)} and not to you; copy it or take it over with chown")


def _accepted_owners() -> frozenset[int]:
    """This user and root; for a root that came by sudo also whoever called it."""
    if not hasattr(os, "geteuid"):
        return frozenset()
    caller = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return frozenset({os.geteuid(), 0, *([int(caller)] if caller.isdecimal() else [])})


def _name_of(user: int) -> str:
    import pwd  # only here: it exists on POSIX systems only

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
