"""What mending a file gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from legato.formats.document import Note


@dataclass(frozen=True, slots=True)
class Mended:
    """A mended file, and what was changed in it: nothing where the list is empty.

    `losses` says what speaks against it: what the file does not hold any more, and why its agent may not take it.
    """

    data: bytes
    changes: list[Note] = field(default_factory=list[Note])
    losses: list[Note] = field(default_factory=list[Note])
