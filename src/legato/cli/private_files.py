"""Write files that only their owner can read: settings, agreements, exports, long outputs.

A file has its mode from the moment it appears, and appears whole: nothing is opened to others for an instant, and no
mode of something that was there before is changed. What is no file (a device, a pipe, a folder) is never replaced by
one, however it came to be named: a `/dev/null` that has become a text file breaks the whole machine.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

_MODE, _FOLDER_MODE = 0o600, 0o700


def write_private(path: Path, data: bytes) -> None:
    """Put `data` into the file at `path`, whole or not at all; a link stays a link. Raises `OSError`."""
    place = path.resolve() if path.is_symlink() else path
    place.parent.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    _refuse_other_kinds(place)
    descriptor, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, place)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_new(path: Path, data: bytes) -> None:
    """Put `data` into a new file at `path`; raises `FileExistsError` if anything is there, else `OSError`."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE), "wb") as file:
        try:
            file.write(data)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)  # half a file looks like one
            raise


def _refuse_other_kinds(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file, and is not replaced by one", str(path))
