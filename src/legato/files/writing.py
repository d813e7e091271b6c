"""Write what a command made: whole or not at all.

A file appears under its name only when all of it is on the disk, so a reader never sees half of one, and a failure
leaves what was there. `-` is standard output.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

from legato.errors import FormatError

STDOUT = "-"


def check_output(path: str) -> None:
    """Raise for a path that cannot be written, before any work is done for it."""
    target = Path(path)
    if path == STDOUT:
        return
    if target.is_dir():
        raise FormatError(f"{path}: this is a directory; name a file in it")
    if not target.absolute().parent.is_dir():
        raise FormatError(f"{path}: there is no directory {target.parent} to write it into; make it first")


def write_output(path: str, data: bytes) -> None:
    """Put `data` into the file, or onto standard output."""
    if path == STDOUT:
        rest = memoryview(data)
        while rest:  # an unbuffered stream may take less than it is given
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
        return
    check_output(path)
    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe, a device: there is nothing to put in its place
        target.write_bytes(data)
        return
    _replace(_real(target), data)


def replace_with_backup(path: str, data: bytes) -> Path:
    """Put `data` in place of the file, which stays beside it under a name of its own; returns that name."""
    target = _real(Path(path))
    backup = _free_name(target)
    _replace(backup, target.read_bytes(), like=target)
    _replace(target, data)
    return backup


def refuse_same_file(source: str, target: str, *, advice: str) -> None:
    """Raise unless writing `target` leaves `source` as it is."""
    if source == "-" or target == STDOUT:
        return
    try:
        same = os.path.samefile(source, target)
    except OSError:
        return
    if same:
        raise FormatError(f"{target}: this is the input itself; {advice}")


def _real(path: Path) -> Path:
    """Where the bytes are: a link stays a link."""
    return Path(os.path.realpath(path))


def _free_name(target: Path) -> Path:
    for number in range(1, 1_000):
        candidate = target.with_name(f"{target.name}.bak" if number == 1 else f"{target.name}.bak{number}")
        if not candidate.exists():
            return candidate
    raise FormatError(f"{target}: there are too many backups beside it; move some of them away")


def _replace(target: Path, data: bytes, *, like: Path | None = None) -> None:
    model = like or target
    mode = stat.S_IMODE(model.stat().st_mode) if model.exists() else None
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _usual_mode() if mode is None else mode)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _usual_mode() -> int:
    """What a new file may be done with; asking for the mask means setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
