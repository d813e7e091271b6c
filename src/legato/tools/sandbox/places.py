"""The protected places in a folder: those that are there before a command runs, and those that it made.

In:  a folder.
Out: the paths in it that are protected, by the table of `protected`; and afterwards what is new among them.

A sandbox can make what exists read-only, but it cannot forbid a name: neither a mount nor a Landlock rule says "no
`.envrc` may be made here". So what a command made under such a name is moved away when it has ended, into a folder that
nothing runs, and that is said. Until then it exists, for as long as the command runs.

Folders are read again only where the kernel says that they changed (their ctime, which a program cannot set), so that a
large project costs one look at each of its folders.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from legato.tools.protected import Protection, may_be_protected

WITHHELD = ".legato-withheld"
"""the folder into which is moved what a command should not have made; protected itself, by its name"""

DEPENDENCIES = frozenset({"node_modules", "site-packages", ".venv", "venv", ".tox"})
"""folders that are not looked into: who may write there changes code that the project's own programs run anyway, and
the hundreds of protected names that packages bring along would each cost a mount, some milliseconds, every time"""

MOST_ENTRIES = 200_000
"""files and folders that are looked at: our choice, a large repository; those nearest to the top come first"""

_TICK = 20_000_000
"""nanoseconds: a change so soon after a look may have the same time stamp as one before it"""

_OF_REPOSITORY = frozenset(
    {"HEAD", "config", "config.worktree", "hooks", "commondir", "info", "modules", "objects", "refs", "worktrees"}
)
"""what a git repository holds: git takes a folder with some of it for one, whatever its name, and runs what it says"""

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Look(NamedTuple):
    """What a folder held when it was read: when it had changed, when it was read, and what is in it."""

    inode: int
    changed: int
    seen: int
    entries: int
    folders: tuple[str, ...]
    protected: dict[str, str]


class TakenBack(NamedTuple):
    """What was moved away, what could not be, and whether there are folders that could be looked at before."""

    moved: list[str]
    stuck: list[str]
    has_flooded: bool


class ProtectedPlaces:
    """The protected places in `folder`, by relative path: for a link where it leads, for anything else ''."""

    def __init__(self, folder: str, protection: Protection) -> None:
        self._root = folder
        self._protection = protection
        self._looks: dict[str, _Look] = {}
        self._found: dict[str, str] = {}
        self.is_complete = True
        """whether the last look reached every folder"""

    def find(self) -> dict[str, str]:
        """What is there now."""
        found: dict[str, str] = {}
        looks: dict[str, _Look] = {}
        waiting, left = deque([""]), MOST_ENTRIES
        while waiting and left > 0:
            folder = waiting.popleft()
            look = self._look(folder)
            if look is None:
                continue
            looks[folder] = look
            left -= look.entries
            found |= look.protected
            waiting.extend(look.folders)
        if waiting:  # a flood of files takes the protection from nothing that had it
            found = {path: leads_to for path, leads_to in self._found.items() if self._is_there(path)} | found
        self._looks, self._found, self.is_complete = looks, found, not waiting
        return found

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self._root, path))

    def take_back(self, before: dict[str, str], *, spared: frozenset[str] = frozenset()) -> TakenBack:
        """Move away what is protected and new since `before`.

        `spared` are the absolute paths of files that were written on purpose meanwhile.
        """
        was_complete = self.is_complete
        now = self.find()
        new = [path for path in now if before.get(path) != now[path] and not self._is_spared(path, spared)]
        moved = [path for path in new if self._move_away(path)]
        for path, leads_to in before.items():
            if leads_to and not self._is_there(path):
                with suppress(OSError):
                    os.symlink(leads_to, os.path.join(self._root, path))  # as it was
        return TakenBack(moved, [path for path in new if path not in moved], was_complete and not self.is_complete)

    def _is_spared(self, path: str, spared: frozenset[str]) -> bool:
        place = os.path.join(self._root, path)
        return any(file == place or file.startswith(f"{place}/") for file in spared)

    # --- looking ---

    def _look(self, folder: str) -> _Look | None:
        """What is in `folder`, from memory if it has not changed since; None if it cannot be read."""
        path = os.path.join(self._root, folder)
        try:
            status = os.stat(path, follow_symlinks=False)
            known = self._looks.get(folder)
            is_same = known is not None and (known.inode, known.changed) == (status.st_ino, status.st_ctime_ns)
            if known is not None and is_same and known.seen - known.changed > _TICK:
                return known
            if not stat.S_ISDIR(status.st_mode):
                return None
            return self._read(folder, path, status)
        except OSError:
            return None  # gone, or not ours to read

    def _read(self, folder: str, path: str, status: os.stat_result) -> _Look:
        seen = time.time_ns()
        folders: list[str] = []
        protected: dict[str, str] = {}
        count, names = 0, set[str]()
        with os.scandir(path) as entries:
            for entry in entries:
                count += 1
                inside = f"{folder}/{entry.name}" if folder else entry.name
                names.add(entry.name)
                if inside == WITHHELD and entry.is_dir(follow_symlinks=False):
                    continue  # ours: nothing in it runs
                if may_be_protected(entry.name) and self._protection.of_files([inside]):
                    protected[inside] = os.readlink(entry.path) if entry.is_symlink() else ""
                elif entry.name not in DEPENDENCIES and entry.is_dir(follow_symlinks=False):
                    folders.append(inside)
        if "HEAD" in names and ("commondir" in names or names >= {"objects", "refs"}):
            protected |= {f"{folder}/{name}" if folder else name: "" for name in _OF_REPOSITORY & names}
            folders = [one for one in folders if one not in protected]
        return _Look(status.st_ino, status.st_ctime_ns, seen, count, tuple(folders), protected)

    # --- moving away ---

    def _move_away(self, path: str) -> bool:
        """Whether the entry at `path` could be moved; no link on the way is followed."""
        *folders, name = path.split("/")
        try:
            source = os.open(self._root, _OPEN_FOLDER)
            try:
                target = _shelf(source)
                for folder in folders:
                    deeper = os.open(folder, _OPEN_FOLDER, dir_fd=source)
                    os.close(source)
                    source = deeper
                os.fchmod(source, stat.S_IMODE(os.fstat(source).st_mode) | stat.S_IRWXU)  # it may have been closed
                os.rename(name, f"{time.time_ns()}-{name.lstrip('.')}", src_dir_fd=source, dst_dir_fd=target)
                os.close(target)
            finally:
                os.close(source)
        except OSError:
            return False
        return True


def _shelf(root: int) -> int:
    """The open folder for what is moved away, below the open folder `root`."""
    try:
        return os.open(WITHHELD, _OPEN_FOLDER, dir_fd=root)
    except FileNotFoundError:
        pass
    except OSError:  # a link or a file of that name: made to be in our way
        os.rename(WITHHELD, f"{WITHHELD.lstrip('.')}-{time.time_ns()}", src_dir_fd=root, dst_dir_fd=root)
    os.mkdir(WITHHELD, 0o700, dir_fd=root)
    shelf = os.open(WITHHELD, _OPEN_FOLDER, dir_fd=root)
    with suppress(FileExistsError):
        os.close(os.open(".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=shelf))
    ignore = os.open(".gitignore", os.O_WRONLY | os.O_NOFOLLOW, dir_fd=shelf)
    os.write(ignore, b"*\n")
    os.close(ignore)
    return shelf
