"""What a format is: one record that says how its files are recognised, read, written and repaired.

A format is a module with a `Format`, and a line in `registry`. Everything else (detection, `read`, `write`, `mend`,
`lint`, the commands and their help) goes by the records. What is missing in a record, the format cannot do.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from legato.formats.document import Document, FileNote, Original
from legato.formats.lines import Marks
from legato.formats.patching.records import Rewritten
from legato.formats.patching.splices import Splice
from legato.model import Dialect, Target, ToolSpec
from legato.model.ingestion import encodable
from legato.transcript.conversation import Conversation

if TYPE_CHECKING:
    from legato.formats.content import Content
    from legato.formats.head import Head
    from legato.request.report import RenderReport

_ANYTHING = Marks()
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]")


class Setting(NamedTuple):
    """Where and when a session is written, for those that do not say it themselves.

    The defaults are those of no machine: the same conversation gives the same file everywhere.
    """

    cwd: str = "/"
    at: float = 946_684_800.0
    """seconds since the epoch; the default is the beginning of the year 2000"""


_NO_MACHINE = Setting()


class Outgoing:
    """What a writer is given: a conversation, with what is known of the file that it comes from.

    `model` names the model, or the whole route, that a request is for. With `compacted`, what the file's own agent had
    summarised stays out of it, and the summary is there instead. `target` is the model that messages go to at once,
    whose ids and names they then have. Without one, `keeps_ids` says that calls keep the ids and names that they have.
    """

    def __init__(
        self,
        source: Document | Conversation,
        model: str | None = None,
        *,
        setting: Setting = _NO_MACHINE,
        compacted: bool = False,
        target: Target | None = None,
        keeps_ids: bool = False,
    ) -> None:
        self.source = source
        self.model = model
        self.target = target
        self.keeps_ids = keeps_ids and target is None
        self.compacted = compacted
        self._setting = setting

    @cached_property
    def talk(self) -> Conversation:
        """The conversation."""
        if isinstance(self.source, Document):
            return self.source.conversation(compacted=self.compacted)
        return self.source

    @property
    def compactions(self) -> list[tuple[int, str]]:
        """What stands for everything up to a record of the log, where the file's agent had summarised it."""
        if self.compacted or not isinstance(self.source, Document):
            return []
        return [(self.source.first_seq + mark.last, mark.text) for mark in self.source.compactions]

    @property
    def cwd(self) -> str:
        """The folder that the session is about; a byte that is not UTF-8 is U+FFFD in it, as most agents see it."""
        return encodable(self.meta.get("cwd") or self._setting.cwd)

    @property
    def began(self) -> float:
        """When the session began."""
        return min(self._times.values(), default=self._setting.at)

    def written_at(self, seq: int) -> float | None:
        """When this record of the log was written, where the file tells."""
        return self._times.get(seq)

    @cached_property
    def _times(self) -> dict[int, float]:
        if not isinstance(self.source, Document):
            return {}
        first = self.source.first_seq
        return {first + index: time for index, time in self.source.times.items()}

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The definitions of tools that the file holds."""
        return self.source.tools if isinstance(self.source, Document) else ()

    @property
    def meta(self) -> dict[str, str]:
        """What the file says about the session: `session`, `cwd`, `branch`."""
        return self.source.meta if isinstance(self.source, Document) else {}


class WrittenSession(NamedTuple):
    """What a session file says of itself, by which its agent files it."""

    id: str
    cwd: str
    began: float
    """seconds since the epoch"""


class Placement(NamedTuple):
    """Where a session belongs, below the folder of its agent, and the command that goes on with it.

    `beside` are further files that its agent wants to find, by their paths below the same folder.
    """

    path: str
    resume: str
    beside: Mapping[str, bytes] = {}


def project_folder(cwd: str) -> str:
    """A project's folder as a name of one, as Claude Code and those after it make it."""
    return _NOT_IN_NAMES.sub("-", cwd)


def resume_in(session: WrittenSession, command: str) -> str:
    """The command that goes on with a session, in its own folder."""
    return f"cd {shlex.quote(session.cwd)} && {command} {session.id}"


@dataclass(frozen=True, slots=True)
class Written:
    """A file, what it does not hold of the conversation, and for a request body the report of its rendering."""

    data: bytes
    losses: list[FileNote] = field(default_factory=list[FileNote])
    report: RenderReport | None = None
    session: WrittenSession | None = None


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
Skim: TypeAlias = "Callable[[Content], Document | None]"
"""a document whose calls are all in order, without its entries; None where that is not certain"""
Write: TypeAlias = Callable[[Outgoing], Written]
Repair: TypeAlias = Callable[[Document, Original], Mended]
Place: TypeAlias = Callable[[WrittenSession], Placement]


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
    moves: str = ""
    """what that variable moves: the folder itself, or one that it is in"""
    source: str
    """where that is known from"""

    @property
    def path(self) -> Path:
        """The folder on this machine."""
        moved_to = os.environ.get(self.moved_by, "") if self.moved_by else ""
        if moved_to:
            return Path(moved_to, Path(self.folder).relative_to(self.moves or self.folder))
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
    known_from: str = ""
    """what was read to learn it: files of programs that were run for that, or files that others published"""
    read: Read
    skim: Skim | None = None
    """reads a file of lines only as far as it takes to know what is wrong with it"""
    detect: Detect | None = None
    """None for request bodies, which are told apart by comparing them (see `wire.shapes`)"""
    resembles: Detect | None = None
    """like `detect`, by what many programs write: it counts where no format is detected in the whole file"""
    write: Write | None = None
    repair: Repair | None = None
    """puts right what is broken in a file, and keeps the rest of it"""
    chain: Chain | None = None
    home: FileHome | None = None
    """where its agent keeps the files; None if they have no usual place, or it is not known"""
    pieces: str = ""
    """files that are read with one of its own, by their pattern below the folder of that"""
    place: Place | None = None
    """where there a session belongs; None if it cannot just be put there"""
    takes_by: str = ""
    """the command by which its agent takes a file, where none can just be put there"""
    keeps_compactions: bool = False
    """what its agent had summarised can be in its files, and out of the model's sight"""
    provider: str = ""
    """the target that its agent sends conversations to, where that is always the same"""
    marks: Marks = _ANYTHING
    """what a record looks like, to find the next one in a damaged line"""
    is_lines: bool = False
    """a file of one line is a file of lines"""
    closes_calls: bool = False
    """its agent puts in a result itself for a call that has none, before it asks the model"""
    leaves_out_calls: bool = False
    """its agent leaves out a call that has no result, before it asks the model; repair keeps such a call"""
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
