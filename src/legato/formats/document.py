"""A conversation as a file holds it, and what is known about the file.

A reader fills a draft (see `draft`) and finishes it as a `Document`: entries in order, for each one where it came from,
and a note for everything that was not understood. A document of a format that can be written keeps the file's own
records, so that a writer of the same format changes only what must change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from legato.model import (
    Dialect,
    Entry,
    Json,
    JsonObject,
    Options,
    Record,
    ToolSpec,
    Usage,
)
from legato.model.records import Compacted, CompactionKind, Imported
from legato.transcript.conversation import Conversation

_ANY_WINDOW = 2**62
"""larger than any model's, so that nothing is left out"""


_INDEX = re.compile(r"\[\d+\]|(?<=part )\d+")


class FileNote(Struct, frozen=True, omit_defaults=True):
    """Something in a file that was not understood, or that a writer could not carry.

    `is_damage` marks physical damage: bytes that are no record any more. `is_carried` marks what is in the wrong place
    or form, and was understood all the same: nothing of it is lost. `is_unknown` marks what is not known here and may
    have been said; what is known to be no part of the conversation, or was left behind by its own program, is no such
    thing.
    """

    place: str
    message: str
    is_damage: bool = False
    is_carried: bool = False
    is_unknown: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


def fold_notes(notes: Iterable[FileNote]) -> list[FileNote]:
    """`notes` for a person: those that say the same, but for an index, are one that says how often."""
    alike: dict[tuple[str, bool], list[FileNote]] = {}
    for note in notes:
        alike.setdefault((without_indexes(note.message), note.is_damage), []).append(note)
    return [replace(group[0], message=told_once(group[0].message, len(group))) for group in alike.values()]


def without_indexes(message: str) -> str:
    """What a message says, wherever in a list it is about."""
    return _INDEX.sub("[]", message)


def told_once(message: str, count: int) -> str:
    """The message about something that is in a file so often."""
    return message if count == 1 else f"{message} ({count:,} times, here first)"


class CompactionMark(Struct, frozen=True):
    """The entries from `first` to `last` that the file's own agent replaced by `text` when its window was full."""

    first: int
    last: int
    text: str
    place: str


class RawRecord(Struct, frozen=True):
    """One record of a file, byte for byte as it was there.

    `before` and `after` are what was around it on its line and, before it, on blank lines: nothing and a newline
    nearly always. All three together are the bytes of the file from `start` to `end`, unless the record had to be
    recovered from damaged ones, and `is_intact` is not true.
    """

    place: str
    data: bytes
    before: bytes = b""
    after: bytes = b"\n"
    start: int = 0
    end: int = 0
    is_intact: bool = False

    @property
    def line(self) -> bytes:
        """The record with what was around it."""
        return self.before + self.data + self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What a file held, in order to write it again: its records, or the one value that it was.

    `data` is the whole file where that was one JSON value, `value` that value parsed. Of a file of lines, `tail` is
    the blank end, `size` the number of its bytes, and `left_out` holds lines that are sound JSON and yet no records, or
    are too long to be read (then without their bytes).
    """

    records: Sequence[RawRecord] = ()
    data: bytes = b""
    value: Json = None
    tail: bytes = b""
    size: int = 0
    left_out: Sequence[RawRecord] = ()


class Body(Struct, frozen=True):
    """A request body as it was in a file, to be judged by the provider's rules.

    `prefix` comes before every place in it. A bare one is a list of messages with nothing around it that could be
    right or wrong. An example is one to learn from: its last message is what the model should say, so it ends on an
    answer, or on calls, and means to.
    """

    value: JsonObject
    dialect: Dialect
    prefix: str = ""
    is_bare: bool = False
    is_example: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One conversation out of a file.

    `places` and `sources` are parallel to `entries`: where each one was ("line 12", "messages[3]"), and the index of
    its record in `original.records` (-1 where that is not kept). `compactions` name what the file's agent had put out
    of sight; the entries hold it all the same. `times` says when entries were written, in seconds since the epoch, and
    `usages` what answers took, each under the index of its entry (of an answer, its first); files that do not tell have
    none. `records` is the log itself, where the file is one of Legato's, and `body` the request, where it was one. A
    document `is_skimmed` if it was only read as far as it takes to know that nothing is wrong with its calls: then it
    holds no entries, and yet is not empty.
    """

    format: str
    name: str = ""
    entries: list[Entry]
    places: list[str]
    sources: list[int] = field(default_factory=list[int])
    system: str = ""
    tools: list[ToolSpec] = field(default_factory=list[ToolSpec])
    options: Options = Options()
    model: str = ""
    route: str = ""
    notes: list[FileNote] = field(default_factory=list[FileNote])
    compactions: list[CompactionMark] = field(default_factory=list[CompactionMark])
    times: dict[int, float] = field(default_factory=dict[int, float])
    usages: dict[int, Usage] = field(default_factory=dict[int, Usage])
    meta: dict[str, str] = field(default_factory=dict[str, str])
    digest: str = ""
    records: Sequence[Record] | None = None
    body: Body | None = None
    original: Original | None = None
    is_skimmed: bool = False

    @property
    def not_carried(self) -> list[FileNote]:
        """The notes on what is missing in the conversation."""
        return [note for note in self.notes if not note.is_carried]

    @property
    def is_empty(self) -> bool:
        """Whether there is no conversation in it."""
        return not self.entries and not self.records and not self.is_skimmed

    @property
    def first_seq(self) -> int:
        """The sequence number of the first entry in the log of `conversation()`."""
        return 2 if self.system.strip() else 1

    def conversation(self, *, compacted: bool = False) -> Conversation:
        """The conversation, ready to be rendered.

        With `compacted`, what the file's own agent had summarised is out of sight in views; the log holds it anyway.
        """
        if self.records is not None:
            return Conversation(self.records)
        talk = Conversation()
        if self.system.strip():
            talk.instruct(self.system)
        talk.apply([Imported(format=self.format, digest=self.digest, entries=len(self.entries))])
        talk.take(self.entries)
        if compacted:
            first = self.first_seq
            talk.apply(
                talk.prepare(
                    Compacted(
                        kind=CompactionKind.COVER,
                        text=item.text,
                        window=_ANY_WINDOW,
                        first=first + item.first,
                        last=first + item.last,
                    )
                    for item in self.compactions
                )
            )
        return talk
