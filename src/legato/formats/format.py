"""What a format is: one record that says how its files are recognised, read, written and repaired.

A format is a module with a `Format`, and a line in `registry`. Everything else (detection, `read`, `write`, `mend`,
`lint`, the commands and their help) goes by the records. What is missing in a record, the format cannot do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from legato.formats.document import Document, FileNote, Original
from legato.formats.lines import Marks
from legato.formats.patching.records import Rewritten
from legato.formats.patching.splices import Splice
from legato.model import Dialect, ToolSpec
from legato.transcript.conversation import Conversation

if TYPE_CHECKING:
    from legato.formats.content import Content
    from legato.formats.head import Head
    from legato.request.report import RenderReport

_ANYTHING = Marks()


class Outgoing:
    """What a writer is given: a conversation, with what is known of the file that it comes from.

    `model` names the model, or the whole route, that a request is for.
    """

    def __init__(self, source: Document | Conversation, model: str | None = None) -> None:
        self.source = source
        self.model = model

    @cached_property
    def talk(self) -> Conversation:
        """The conversation."""
        return self.source.conversation() if isinstance(self.source, Document) else self.source

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The definitions of tools that the file holds."""
        return self.source.tools if isinstance(self.source, Document) else ()

    @property
    def meta(self) -> dict[str, str]:
        """What the file says about the session: `session`, `cwd`, `branch`."""
        return self.source.meta if isinstance(self.source, Document) else {}


@dataclass(frozen=True, slots=True)
class Written:
    """A file, what it does not hold of the conversation, and for a request body the report of its rendering."""

    data: bytes
    losses: list[FileNote] = field(default_factory=list[FileNote])
    report: RenderReport | None = None


@dataclass(frozen=True, slots=True)
class Mended:
    """A mended file and the changes in it; without changes it is the original.

    `splices` make it of the original: outside them both have the same bytes. `losses` are the objections to it: what it
    no longer contains, and why its agent may not accept it.
    """

    data: bytes
    changes: list[FileNote] = field(default_factory=list[FileNote])
    losses: list[FileNote] = field(default_factory=list[FileNote])
    splices: tuple[Splice, ...] = ()

    @classmethod
    def of(cls, file: Rewritten, changes: Sequence[FileNote] = (), losses: Sequence[FileNote] = ()) -> Mended:
        """A file put together from its own records."""
        return cls(file.data, list(changes), list(losses), file.splices)


Detect: TypeAlias = "Callable[[Head], str]"
"""says how a file is recognised, from its beginning; empty if it is not of this format"""
Read: TypeAlias = "Callable[[Content], list[Document]]"
Write: TypeAlias = Callable[[Outgoing], Written]
Repair: TypeAlias = Callable[[Document, Original], Mended]


@dataclass(frozen=True, slots=True)
class Chain:
    """Links between the records of a session, by which its agent finds its way.

    `is_whole` says whether it can; `relink` makes a session in which it can, or says None if that cannot be done.
    """

    is_whole: Callable[[Document, Original], bool]
    relink: Callable[[Document, Original], Mended | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHome:
    """Where a program keeps its files on its user's disk."""

    folder: str
    """as people write it, with `~`"""
    files: str
    """the pattern of the files below it"""
    moved_by: str = ""
    """the environment variable that moves it; empty if there is none"""
    source: str
    """where that is known from"""

    @property
    def path(self) -> Path:
        """The folder on this machine, unless it was moved."""
        return Path(self.folder).expanduser()

    @property
    def pattern(self) -> str:
        """The folder and the files, as a shell understands them."""
        return f"{self.folder}/{self.files}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format."""

    name: str
    """as people type it"""
    title: str
    read: Read
    detect: Detect | None = None
    """None for request bodies, which are told apart by comparing them (see `wire.shapes`)"""
    write: Write | None = None
    repair: Repair | None = None
    """puts right what is broken in a file, and keeps the rest of it"""
    chain: Chain | None = None
    home: FileHome | None = None
    """where its agent keeps the files; None if they have no usual place, or it is not known"""
    provider: str = ""
    """the target that its agent sends conversations to, where that is always the same"""
    marks: Marks = _ANYTHING
    """what a record looks like, to find the next one in a damaged line"""
    is_lines: bool = False
    """a file of one line is a file of lines"""
    plain_ids: bool = False
    """its agent sends the ids of calls as they are, so they have to be made of plain characters"""
    dialect: Dialect | None = None
    """of a request body"""

    @property
    def is_wire(self) -> bool:
        """Whether this is a request body."""
        return self.dialect is not None

    @property
    def is_written(self) -> bool:
        """Whether a conversation can be written in it."""
        return self.write is not None


def marks(*sets: str) -> Marks:
    """Marks from names of fields, with blanks between them: a record has all names of at least one set."""
    return Marks(tuple(frozenset(names.split()) for names in sets))
