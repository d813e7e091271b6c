"""The tool that every agent here has.

It is in a module of its own because a player imports it too: the program at the other end of the pipe is not the module
of its name.
"""

from __future__ import annotations

FILES = {"notes.txt": "The rehearsal is on Thursday.", "hall.txt": "The small hall."}
RAN: list[str] = []
"""what the tool was called with since this was last emptied"""


def read_file(path: str) -> str:
    """Read a text file."""
    RAN.append(path)
    return FILES[path]
