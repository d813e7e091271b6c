"""The folder that the file tools may touch, and nothing outside of it.

In:  a path as a model wrote it.
Out: an open file below the root, or `UnsafeName`.

Two steps, because one can be tricked: the path is resolved, with every symbolic link and every `..`, and must then lie
below the root; and it is opened folder by folder from the root without following links, so that a link that appears
between the two steps is refused rather than followed. Only regular files are read or written: a pipe or a device would
hang the reader.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from legato.errors import CallerError, UnsafeName
from legato.tools.protected import NESTED, fold, is_protected_name

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_LONGEST_PATH = 4_096
"""characters of a path: what Linux takes (PATH_MAX); to follow a longer one part by part takes seconds, or hours"""

MAX_FILE = 20 * 1024 * 1024
"""Larger files are neither read nor changed: no model takes them."""


class Workspace:
    """A root folder, and perhaps further folders that may be read (where long outputs are kept, for example)."""

    def __init__(self, root: str | os.PathLike[str], *, readable: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.root = Path(root).resolve(strict=True)
        self.readable = readable
        self._lock = threading.RLock()
        self.written: set[str] = set()
        """the files that were written, by their real paths"""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Further folders that may be read; they can be others for another session."""
        return self._readable

    @readable.setter
    def readable(self, folders: Iterable[str | os.PathLike[str]]) -> None:
        self._readable = tuple(Path(folder).resolve() for folder in folders)

    # --- where ---

    def resolve(self, path: str) -> Path:
        """The real path that `path` means, below the root; raises `UnsafeName` if it leads out."""
        return self._resolve(path, (self.root,))

    def resolve_for_reading(self, path: str) -> Path:
        """As `resolve`, in any of the folders that may be read."""
        return self._resolve(path, (self.root, *self._readable))

    def show(self, path: Path) -> str:
        """A resolved path as the model should see it: relative to the root where it lies there."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)

    def name_of(self, path: str) -> str:
        """`path` as rules and people see it, also when it leads nowhere."""
        try:
            return self.show(self.resolve_for_reading(path))
        except CallerError:
            return path

    def names_of(self, path: str) -> frozenset[str]:
        """Every name, absolute, of the file that writing `path` changes; raises `UnsafeName` if it leads out.

        Its real one and the one that was written. If a link with a protected name leads to it (`.vscode` to `conf`),
        that name too, where the link is in a folder on the way. And if it is a part of a git repository under another
        name (a bare one, or what a `.git` file points to), or would begin one, the name it has in a usual checkout:
        git takes any folder with a HEAD for a repository, and runs what its config says.
        """
        real = self.resolve(path)
        as_given = os.path.normpath(self.root / Path(path).expanduser())
        names = {str(real), as_given}
        for folder in (real.parent, *real.parent.parents):
            if not folder.is_relative_to(self.root):
                break
            names |= _protected_links(folder, real)
            inside = real.relative_to(folder)
            if fold(str(inside)) == "head" or _is_repository(folder):
                names.add(str(folder / ".git" / inside))
        return frozenset(names)

    def _resolve(self, path: str, roots: tuple[Path, ...]) -> Path:
        if not path or "\0" in path:
            raise UnsafeName(f"{path!r} is no path; give one below {self.root}")
        if len(path) > _LONGEST_PATH:
            raise UnsafeName(f"the path {path[:40]!r}… has {len(path):,} characters; at most {_LONGEST_PATH:,} are one")
        try:
            resolved = _followed(self.root / Path(path).expanduser())
        except (OSError, RuntimeError) as error:  # a loop of links, or no one's home
            raise UnsafeName(f"the path {path!r} cannot be followed: {error}", path=path) from error
        if not any(resolved.is_relative_to(root) for root in roots):
            raise UnsafeName(
                f"the path {path!r} leads to {resolved}, outside of the working folder {self.root}; "
                "only files below that folder can be used",
                path=path,
            )
        return resolved

    # --- reading ---

    def read_bytes(self, path: str) -> bytes:
        """The content of a file; raises `CallerError` that says why it cannot be read."""
        resolved = self.resolve_for_reading(path)
        with self._folder_of(resolved, create=False) as (folder, name):
            try:
                descriptor = os.open(name, _READ, dir_fd=folder)
            except OSError as error:
                raise self._reason(error, resolved) from error
            try:
                self._refuse_unreadable(os.fstat(descriptor), resolved)
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    return file.read(MAX_FILE)
            finally:
                os.close(descriptor)

    def _refuse_unreadable(self, status: os.stat_result, resolved: Path) -> None:
        shown = self.show(resolved)
        if stat.S_ISDIR(status.st_mode):
            raise CallerError(f"{shown} is a folder; use the list tool for it")
        if not stat.S_ISREG(status.st_mode):
            raise CallerError(f"{shown} is not a regular file and is not read")
        if status.st_size > MAX_FILE:
            raise CallerError(f"{shown} has {status.st_size:,} bytes; at most {MAX_FILE:,} are read")

    def read_text(self, path: str) -> str:
        """The content of a file as text, line ends as they are; raises `CallerError` if it is not UTF-8."""
        data = self.read_bytes(path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            shown = self.show(self.resolve_for_reading(path))
            raise CallerError(f"{shown} is not UTF-8 text (byte {error.start}) and cannot be edited as text") from None

    def exists(self, path: str) -> bool:
        """Whether something is there."""
        return self.resolve_for_reading(path).exists()

    def names_in(self, path: str) -> list[tuple[str, bool]]:
        """What is in a folder, in order, and whether each is a folder, or a link to one; raises `CallerError`."""
        resolved = self.resolve_for_reading(path)
        try:
            descriptor = os.open(resolved, _FOLDER) if self._is_root(resolved) else self._open_folder(resolved)
        except NotADirectoryError:
            raise CallerError(f"{self.show(resolved)} is a file; use the read tool for it") from None
        except OSError as error:
            raise self._reason(error, resolved) from error
        try:
            with os.scandir(descriptor) as entries:
                return sorted((entry.name, entry.is_dir()) for entry in entries)
        finally:
            os.close(descriptor)

    def _is_root(self, resolved: Path) -> bool:
        return resolved in (self.root, *self._readable)

    def _open_folder(self, resolved: Path) -> int:
        with self._folder_of(resolved, create=False) as (folder, name):
            return os.open(name, _FOLDER, dir_fd=folder)

    # --- writing ---

    def write_text(self, path: str, text: str, *, only: Collection[str] = ()) -> None:
        """Put `text` into a file, whole or not at all; folders on the way are made, an existing mode is kept.

        `only` are the names by which the file was judged, if it was: where `path` leads elsewhere by now, nothing is
        written.
        """
        resolved = self.resolve(path)
        if only and str(resolved) not in only:
            raise UnsafeName(f"{path} leads to {self.show(resolved)}, which it did not when the call was allowed")
        with self._folder_of(resolved, create=True) as (folder, name):
            mode = self._mode_of(folder, name, resolved)
            temporary = f".{name[:64]}.{os.urandom(6).hex()}.tmp"
            try:
                descriptor = os.open(temporary, _CREATE, 0o666 if mode is None else 0o600, dir_fd=folder)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(text.encode())
                    file.flush()
                    if mode is not None:
                        os.fchmod(descriptor, mode)
                    os.fsync(descriptor)
                self.written.add(str(resolved))  # before it is there: a sandbox takes back what it does not know
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                _remove(temporary, folder)
                raise self._reason(error, resolved) from error

    def change_text(self, path: str, change: Callable[[str], str], *, only: Collection[str] = ()) -> tuple[str, str]:
        """Replace a file's text by `change(text)`, with no other change in between; the text before and after."""
        with self._lock:
            before = self.read_text(path)
            after = change(before)
            self.write_text(path, after, only=only)
        return before, after

    def _mode_of(self, folder: int, name: str, resolved: Path) -> int | None:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._reason(error, resolved) from error
        if not stat.S_ISREG(status.st_mode):
            raise CallerError(f"{self.show(resolved)} is not a regular file and is not overwritten")
        return stat.S_IMODE(status.st_mode)

    # --- going there ---

    @contextmanager
    def _folder_of(self, resolved: Path, *, create: bool) -> Generator[tuple[int, str]]:
        """The open folder that holds `resolved`, and its name there; links on the way are refused."""
        root = next((one for one in (self.root, *self._readable) if resolved.is_relative_to(one)), self.root)
        parts = resolved.relative_to(root).parts
        if not parts:
            raise CallerError(f"{resolved} is a folder; use the list tool for it")
        folder = os.open(root, _FOLDER)
        try:
            for part in parts[:-1]:
                try:
                    if create:
                        _make_folder(part, folder)
                    deeper = os.open(part, _FOLDER, dir_fd=folder)
                except OSError as error:
                    raise self._reason(error, resolved) from error
                os.close(folder)
                folder = deeper
            yield folder, parts[-1]
        finally:
            os.close(folder)

    def _reason(self, error: OSError, path: Path) -> CallerError:
        shown = self.show(path)
        if error.errno == errno.ELOOP:
            return UnsafeName(f"{shown} became a symbolic link while it was opened; it is not followed")
        if isinstance(error, FileNotFoundError):
            return CallerError(f"{shown} does not exist{_nearby(path)}")
        if isinstance(error, NotADirectoryError):
            return CallerError(f"{shown} cannot exist: a part of its path is a file or a link, not a folder")
        return CallerError(f"{shown}: {error.strerror or error}")


def _followed(path: Path) -> Path:
    """`path` with every link and every `..` resolved; raises `OSError` for a loop of links.

    Up to Python 3.12 `resolve` raises for a loop itself; later it leaves the link where it is, as if it were a file.
    """
    resolved = path.resolve()
    for place in (resolved, *resolved.parents):
        if place.is_symlink():
            raise OSError(errno.ELOOP, "its links lead in a circle", str(place))
    return resolved


def _protected_links(folder: Path, real: Path) -> set[str]:
    """The names that `real` has behind links with protected names in `folder`."""
    places = [os.path.join(folder, name) for name in NESTED]
    with suppress(OSError), os.scandir(folder) as entries:
        places += [entry.path for entry in entries if entry.is_symlink() and is_protected_name(entry.name)]
    names: set[str] = set()
    for place in places:
        target = os.path.realpath(place) if os.path.lexists(place) else place
        if target != place and real.is_relative_to(target):
            names.add(os.path.normpath(os.path.join(place, real.relative_to(target))))
    return names


def _is_repository(folder: Path) -> bool:
    """Whether git would take `folder` itself for a repository: what `is_git_directory` of its setup.c looks for."""
    return os.path.lexists(folder / "HEAD") and (
        os.path.lexists(folder / "commondir")
        or (os.path.lexists(folder / "objects") and os.path.lexists(folder / "refs"))
    )


def _make_folder(name: str, folder: int) -> None:
    with suppress(FileExistsError):  # the next open says if it is no folder
        os.mkdir(name, dir_fd=folder)


def _remove(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _nearby(path: Path) -> str:
    """A hint at a file of the same name in another case, or with another ending."""
    try:
        names = sorted(os.listdir(path.parent))
    except OSError:
        return f"; neither does its folder {path.parent.name!r}"
    alike = [name for name in names if name.casefold() == path.name.casefold() or Path(name).stem == path.stem]
    return f"; there is {' and '.join(alike[:3])}" if alike else ""
