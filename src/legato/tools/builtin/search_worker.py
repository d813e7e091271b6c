"""Search files for a regular expression, in a process of its own.

In:  a search as JSON, as the only argument of the program.
Out: what was found as JSON, on standard output.

Python's expressions can take forever, and hold the interpreter while they do: inside the session, one bad expression
from a model would freeze everything, Ctrl-C included. A process can be ended. It starts in isolation with the standard
library alone, so this file must import nothing else but `globs`, which keeps to that too; `walk` is also used from the
session.

Folders and files are opened one by one from the root, and no link is followed: one that is put in the way of a search
leads nowhere.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"}
)
"""Folders that searches do not enter: large, and not what anyone means."""

MAX_VISITED = 200_000
"""files and folders that are looked at: our choice, a large repository"""

MAX_FILE = 5 * 1024 * 1024
"""bytes of a file that is searched: our choice, larger ones are data"""

MAX_LINE = 300
"""characters of a line that are shown: our choice, enough to see where it is"""


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_below(root: str, path: str, flags: int = _FOLDER) -> int:
    """A descriptor of `root`/`path`, by way of each folder on it; raises `OSError` where a link is in the way."""
    *folders, last = path.split("/") if path else ["."]
    place = os.open(root, _FOLDER)
    try:
        for name in folders:
            deeper = os.open(name, _FOLDER, dir_fd=place)
            os.close(place)
            place = deeper
        return os.open(last, flags, dir_fd=place)
    finally:
        os.close(place)


def walk(root: str, start: str = "") -> Iterator[str]:
    """The regular files below `root`/`start`, as paths relative to `root`, in order; links are not followed."""
    visited = 0
    folders = [start]
    while folders:
        folder = folders.pop()
        deeper: list[str] = []
        for name, kind in entries_of(root, folder):
            visited += 1
            if visited > MAX_VISITED:
                return
            path = f"{folder}/{name}" if folder else name
            if kind == "folder":
                if name not in SKIPPED_FOLDERS:
                    deeper.append(path)
            elif kind == "file":
                yield path
        folders.extend(reversed(deeper))


def entries_of(root: str, folder: str) -> list[tuple[str, str]]:
    """What is in a folder: names, and whether each is a file, a folder or a link; none of a folder that is closed."""
    with suppress(OSError):
        place = open_below(root, folder)
        try:
            with os.scandir(place) as found:
                return sorted((entry.name, _kind_of(entry)) for entry in found)
        finally:
            os.close(place)
    return []  # gone, or not ours to read


def _kind_of(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def read_lines(root: str, path: str) -> list[str]:
    """The lines of a text file; none of a binary, large or unreadable one, or where a link is in the path."""
    try:
        descriptor = open_below(root, path, _FILE)
        with os.fdopen(descriptor, "rb") as file:
            data = b"" if os.fstat(descriptor).st_size > MAX_FILE else file.read(MAX_FILE)
    except OSError:
        return []
    return [] if b"\0" in data[:8192] else data.decode("utf-8", "replace").splitlines()


def load_globs() -> Any:
    """The module `globs`, from the file beside the folder of this one."""
    spec = spec_from_file_location("globs", os.path.join(os.path.dirname(__file__), os.pardir, "globs.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["globs"] = module
    spec.loader.exec_module(module)
    return module


def search(job: dict[str, Any]) -> dict[str, Any]:
    """Do the search that `job` describes: root, start, pattern, include, unreadable, ignore_case, limit."""
    try:
        wanted = re.compile(job["pattern"], re.IGNORECASE if job["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        return {"error": str(error)}
    globs = load_globs()
    include: Callable[[str], bool] | None = globs.matcher(job["include"], globs.PATH) if job["include"] else None
    root, start = str(job["root"]), str(job["start"])
    paths = [start] if os.path.isfile(os.path.join(root, start)) else walk(root, start)
    matches: list[tuple[str, int, str]] = []
    for path in paths:
        if (include and not include(path)) or any(globs.covers(glob, path) for glob in job["unreadable"]):
            continue
        for number, line in enumerate(read_lines(root, path), 1):
            if wanted.search(line):
                if len(matches) >= job["limit"]:
                    return {"matches": matches, "more": True}
                matches.append((path, number, line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} [line cut]"))
    return {"matches": matches, "more": False}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(search(json.loads(sys.argv[1]))))
