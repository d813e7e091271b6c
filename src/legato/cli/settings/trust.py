"""What a person has agreed to, once, for one project: remembered by digest, so that a change asks again.

A project's settings and its MCP servers can run things on this machine. The answer is kept with the folder and a
digest of exactly what was shown; another folder, or another content, is another question. Nothing here reads a
project's file: who asks brings the digest of the bytes that were shown, and who uses some, that of the bytes it uses.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from legato.cli.settings.folders import state_folder


class Trust:
    """The agreements of this user, in one small file that only they can read."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or state_folder() / "trusted.json"

    def knows(self, place: Path, what: str) -> bool:
        """Whether `what` (a digest) was agreed to in the folder `place`."""
        return what in self._read().get(_name(place), [])

    def remember(self, place: Path, what: str) -> None:
        """Keep the agreement to `what` in the folder `place`."""
        known = self._read()
        agreed = known.setdefault(_name(place), [])
        if what in agreed:
            return
        agreed.append(what)
        from legato.cli.settings.writing import write_file  # only here: agreements are read often, and rarely written

        write_file(self.path, msgspec.json.format(msgspec.json.encode(known), indent=2).decode())

    def _read(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, list[str]])
        except (OSError, msgspec.DecodeError):
            return {}  # nothing was agreed to, as far as anyone knows


def _name(place: Path) -> str:
    """A folder as what its agreements are kept by: its path, or, of one that is not UTF-8, the address of that.

    No two folders share one: an address escapes each byte, and no path of a folder begins as an address does.
    """
    path = place.resolve()
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.as_uri()
    return str(path)
