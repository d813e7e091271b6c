"""What mending a file gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from legato.formats.document import Note


@dataclass(frozen=True, slots=True)
class Mended:
    """A mended file and the changes in it; without changes it is the original.

    `losses` are the objections to it: what it no longer contains, and why its agent may not accept it.
    """

    data: bytes
    changes: list[Note] = field(default_factory=list[Note])
    losses: list[Note] = field(default_factory=list[Note])
