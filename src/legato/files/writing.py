"""Write files whole or not at all.

A file appears under its name only when all of it is on the disk, so a reader never sees half of one, and a failure
leaves what was there.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from legato.errors import FormatError
from legato.files.sources import PathName, Source
from legato.model.hashing import digest


def check_folder(path: PathName) -> None:
    """Raise `FormatError` for a path that cannot be written, before any work is done for it."""
    target = Path(path)
    if target.is_dir():
        raise FormatError(f"{path}: this is a directory; name a file in it")
    if not target.absolute().parent.is_dir():
        raise FormatError(f"{path}: there is no directory {target.parent} to write it into; make it first")


def check_destination(path: PathName, *, source: Source, overwrite: bool) -> None:
    """Raise `FormatError` unless `path` can be written and is neither `source` nor, without `overwrite`, a file."""
    check_folder(path)
    if isinstance(source, str | os.PathLike) and is_same_file(source, path):
        raise FormatError(f"{path}: this is the input itself; name another file")
    _check_new(path, overwrite)


def save(path: PathName, data: bytes, *, overwrite: bool) -> Path:
    """Put `data` into the file at `path`; raises `FormatError` if that fails, or without `overwrite` if it exists."""
    _check_new(path, overwrite)
    with keeping(path):
        write_whole(path, data)
    return Path(path)


def _check_new(path: PathName, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(path):
        raise FormatError(f"{path}: this file exists already; name another one, or say overwrite=True")


@contextmanager
def keeping(path: PathName) -> Generator[None]:
    """Turn an `OSError` on the way into a `FormatError` about `path`, which is still what it was."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read it has seen enough
    except OSError as error:
        said = error.strerror or str(error)
        raise FormatError(f"{path}: cannot be written: {said[:1].lower()}{said[1:]}; nothing was changed") from None


def write_whole(path: PathName, data: bytes | Iterable[bytes]) -> None:
    """Put `data`, or pieces of it, into the file at `path`, whatever was in it; a link stays a link.

    Raises `OSError`.
    """
    check_folder(path)
    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe, a device: there is nothing to put in its place
        with target.open("wb") as file:
            file.writelines(_pieces(data))
        return
    _replace(_real(target), data)


def replace_with_backup(path: PathName, data: bytes, *, read_as: str) -> Path:
    """Put `data` in place of the file, which stays beside it under a name of its own; returns that name.

    `read_as` is the digest of the file that `data` was made of. Raises `FormatError` if the file is another one by now:
    what somebody has written there since is not in `data`. Raises `OSError`. Then nothing was changed.
    """
    target = _real(Path(path))
    before = _stamp(target)
    was = target.read_bytes()
    if digest(was) != read_as:
        raise FormatError(_CHANGED.format(path))
    backup = _free_name(target)
    _replace(backup, was, like=target)
    try:
        with _prepared(target, data) as ready:
            if _stamp(target) != before:
                raise FormatError(_CHANGED.format(path))
            os.replace(ready, target)
    except (OSError, FormatError):
        backup.unlink()
        raise
    return backup


_CHANGED = (
    "{}: somebody has written to this file since it was read; nothing was changed. Try again when its agent has ended"
)


def _stamp(path: Path) -> tuple[int, int, int]:
    """What is another one after somebody has written to the file."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_same_file(source: PathName, target: PathName) -> bool:
    """Whether writing `target` would change `source`."""
    try:
        return os.path.samefile(source, target)
    except OSError:
        return False


def _real(path: Path) -> Path:
    """Where the bytes are: a link stays a link."""
    return Path(os.path.realpath(path))


def _free_name(target: Path) -> Path:
    for number in range(1, 1_000):
        candidate = target.with_name(f"{target.name}.bak" if number == 1 else f"{target.name}.bak{number}")
        if not candidate.exists():
            return candidate
    raise FormatError(f"{target}: there are too many backups beside it; move some of them away")


def _replace(target: Path, data: bytes | Iterable[bytes], *, like: Path | None = None) -> None:
    with _prepared(target, data, like=like) as ready:
        os.replace(ready, target)


@contextmanager
def _prepared(target: Path, data: bytes | Iterable[bytes], *, like: Path | None = None) -> Generator[str]:
    """A file beside `target` that holds `data` and is on the disk; it is gone afterwards, unless it was moved away."""
    model = like or target
    mode = stat.S_IMODE(model.stat().st_mode) if model.exists() else None
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(_pieces(data))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _default_mode() if mode is None else mode)
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _pieces(data: bytes | Iterable[bytes]) -> Iterable[bytes]:
    return (data,) if isinstance(data, bytes) else data


def _default_mode() -> int:
    """What a new file may be done with; asking for the mask means setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
