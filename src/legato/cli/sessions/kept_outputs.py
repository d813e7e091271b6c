"""Outputs that were too long for the model, kept for the session that they belong to.

In:  a session's id, and an output of one of its calls.
Out: a file that this session's `read` tool may open, and no other's.

They hold what tools returned, so they are as private as the session: in a folder of its own, gone when it is deleted. A
session that is not stored keeps none.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from legato.cli.private_files import write_private
from legato.cli.settings.folders import cache_folder

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def outputs_of(session_id: str) -> Path:
    """The folder in which the outputs of a session are, whether there are any or not."""
    return cache_folder() / "outputs" / _UNSAFE.sub("_", session_id)


def keep_output(session_id: str, call_id: str, text: str) -> Path:
    """Put `text` into a file; raises `OSError` if that fails."""
    path = outputs_of(session_id) / f"{_UNSAFE.sub('_', call_id)}.txt"
    write_private(path, text.encode(errors="replace"))
    return path


def forget_outputs(session_id: str) -> None:
    """Delete the outputs of a session; raises `OSError` if some stay. A link in the place of the folder is let be."""
    folder = outputs_of(session_id)
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
