"""The files of a folder that may hold conversations."""

from __future__ import annotations

import os
from pathlib import Path

from legato.files.sources import PathName
from legato.formats.registry import FORMATS

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".eval", ".traj"})
"""what files of JSON are called, whoever writes them, archives of Inspect and runs of SWE-agent"""
_PASSED_OVER = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})
"""folders of tools, with many thousands of files that are no conversations"""


def session_files(folder: PathName) -> list[Path]:
    """All files below `folder` that may be session files or request bodies, by their names, in order.

    Links are followed to files, not to folders, and the folders of version control and of installed packages are passed
    over; so are files that are read with another one. Raises `OSError` if `folder` itself cannot be read.
    """
    os.scandir(folder).close()  # a folder further down that cannot be read is passed over
    homes = (known.home for known in FORMATS.values() if known.home is not None)
    suffixes = _SUFFIXES | {Path(home.files.rstrip("*")).suffix for home in homes}
    found: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        found += sorted(Path(root, name) for name in names if Path(name).suffix in suffixes)
    pieces = [known.pieces for known in FORMATS.values() if known.pieces]
    return [path for path in found if path.is_file() and not any(map(path.match, pieces))]
