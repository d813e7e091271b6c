"""What a person has agreed to, once, for one project: remembered by digest, so that a change asks again.

A project's settings and its MCP servers can run things on this machine. The answer is kept with the folder and a
digest of exactly what was shown; another folder, or another content, is another question.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from legato.model.hashing import digest


class Trust:
    """The agreements of this user, in one small file that only they can read."""

    def __init__(self, path: Path | None = None) -> None:
        from legato.cli.settings_files import state_folder

        self.path = path or state_folder() / "trusted.json"

    def knows(self, place: Path, what: str) -> bool:
        """Whether `what` (a digest) was agreed to in the folder `place`."""
        return what in self._read().get(str(place.resolve()), [])

    def knows_file(self, path: Path) -> bool:
        """Whether the file at `path`, as it is now, was agreed to."""
        return self.knows(path.parent, digest_of_file(path))

    def remember(self, place: Path, what: str) -> None:
        """Keep the agreement to `what` in the folder `place`."""
        known = self._read()
        agreed = known.setdefault(str(place.resolve()), [])
        if what in agreed:
            return
        agreed.append(what)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        import tempfile  # only here: agreements are read at every start, and rarely written

        descriptor, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".trusted-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(known), indent=2))
        os.replace(temporary, self.path)

    def remember_file(self, path: Path) -> None:
        """Keep the agreement to the file at `path`, as it is now."""
        self.remember(path.parent, digest_of_file(path))

    def _read(self) -> dict[str, list[str]]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, list[str]])
        except (OSError, msgspec.DecodeError):
            return {}  # nothing was agreed to, as far as anybody knows


def digest_of_file(path: Path) -> str:
    """A name for the content of a file."""
    return digest(path.read_bytes())
