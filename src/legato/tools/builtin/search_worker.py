"""Search files for a regular expression, in a process of its own.

In:  a search as JSON, as the only argument of the program.
Out: what was found as JSON, on standard output.

Python's expressions can take forever, and hold the interpreter while they do: inside the session, one bad expression
from a model would freeze everything, Ctrl-C included. A process can be ended. It starts in isolation with the standard
library alone, so this file must import nothing else; `walk` is also used from the session.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
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


def walk(root: str, start: str = "") -> Iterator[str]:
    """The regular files below `root`/`start`, as paths relative to `root`, in order; links are not followed."""
    visited = 0
    folders = [start]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue  # gone, or not ours to read
        deeper: list[str] = []
        for entry in entries:
            visited += 1
            if visited > MAX_VISITED:
                return
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED_FOLDERS:
                    deeper.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield path
        folders.extend(reversed(deeper))


def read_lines(path: str) -> list[str]:
    """The lines of a text file; none of a binary, large or unreadable one, or where a link is in the path."""
    if os.path.realpath(path) != path:
        return []
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            data = b"" if os.fstat(descriptor).st_size > MAX_FILE else file.read(MAX_FILE)
    except OSError:
        return []
    return [] if b"\0" in data[:8192] else data.decode("utf-8", "replace").splitlines()


def search(job: dict[str, Any]) -> dict[str, Any]:
    """Do the search that `job` describes: root, start, pattern, include, ignore_case, limit."""
    try:
        wanted = re.compile(job["pattern"], re.IGNORECASE if job["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        return {"error": str(error)}
    include = re.compile(job["include"], re.DOTALL) if job["include"] else None
    root, start = str(job["root"]), str(job["start"])
    paths = [start] if os.path.isfile(os.path.join(root, start)) else walk(root, start)
    matches: list[tuple[str, int, str]] = []
    for path in paths:
        if include and not include.fullmatch(path):
            continue
        for number, line in enumerate(read_lines(os.path.join(root, path)), 1):
            if wanted.search(line):
                if len(matches) >= job["limit"]:
                    return {"matches": matches, "more": True}
                matches.append((path, number, line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} [line cut]"))
    return {"matches": matches, "more": False}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(search(json.loads(sys.argv[1]))))
