"""A conversation as a file holds it, and what is known about the file.

A reader fills a `DocumentDraft` and finishes it as a `Document`: entries in order, for each one where it came
from, and a note for everything that was not understood. A document of a format that can be written keeps the file's own
records, so that a writer of the same format changes only what must change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from legato.model import (
    Authority,
    Block,
    Dialect,
    Ending,
    Entry,
    Json,
    JsonObject,
    Options,
    Origin,
    Record,
    Speaker,
    ToolCall,
    ToolResponse,
    ToolSpec,
    Usage,
)
from legato.model.records import Compacted, CompactionKind, Imported
from legato.transcript.conversation import Conversation

MAX_NOTES = 1_000
"""more notes than this are counted, not kept"""

_ANY_WINDOW = 2**62
"""larger than any model's, so that nothing is left out"""


_UNKNOWN = re.compile(r"\b(?:is|was) not understood\b")
_INDEX = re.compile(r"\[\d+\]|(?<=part )\d+")


class FileNote(Struct, frozen=True, omit_defaults=True):
    """Something in a file that was not understood, or that a writer could not carry.

    `is_damage` marks physical damage: bytes that are no record any more. `is_carried` marks what is in the wrong place
    or form, and was understood all the same: nothing of it is lost.
    """

    place: str
    message: str
    is_damage: bool = False
    is_carried: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether it is about something that is not known here and may have been said: all who read tell it alike.

        What is known to be no part of the conversation, or was left behind by its own program, is no such thing.
        """
        return _UNKNOWN.search(self.message) is not None

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
    `usages` what answers took, each under the index of its entry (of an answer, its first); files that do not tell
    have none. `records` is the log itself, where the file is one of ours, and `body` the request, where it was one.
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

    @property
    def not_carried(self) -> list[FileNote]:
        """The notes on what is missing in the conversation."""
        return [note for note in self.notes if not note.is_carried]

    @property
    def is_empty(self) -> bool:
        """Whether there is no conversation in it."""
        return not self.entries and not self.records

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


class DocumentDraft:
    """A document in the making."""

    def __init__(self, format: str, name: str = "") -> None:  # noqa: A002  # a format is a format
        self.format = format
        self.name = name
        self.entries: list[Entry] = []
        self.places: list[str] = []
        self.sources: list[int] = []
        self.system: list[str] = []
        self.tools: list[ToolSpec] = []
        self.options = Options()
        self.model = ""
        self.route = ""
        self.notes: list[FileNote] = []
        self.compactions: list[CompactionMark] = []
        self.at: float | None = None
        """when what is said next was written, if the file tells"""
        self.times: dict[int, float] = {}
        self.usages: dict[int, Usage] = {}
        self.meta: dict[str, str] = {}
        self.body: Body | None = None
        self._skipped: dict[str, tuple[str, int]] = {}
        self._called: dict[str, str] = {}
        """the tool that each call id stands for, so far"""
        self._reused: set[str] = set()
        """ids that several calls have"""
        self._answers: dict[str, int] = {}
        """the first entry of each answer"""
        self._nameless: set[int] = set()
        """entries with results that do not say which tool they are of, and whose calls have not come yet"""

    def say(
        self,
        speaker: Speaker,
        blocks: Iterable[Block],
        place: str,
        *,
        source: int = -1,
        origin: Origin | None = None,
        answer: str | None = None,
        ending: Ending | None = None,
        authority: Authority = Authority.PERSON,
    ) -> bool:
        """Add an entry; whether there was anything in it.

        Blocks may be on the wrong side, a result among the words of the model or a call among those of a person: the
        conversation puts them where they belong, and lint tells of it. A result takes the name of its tool from its
        call.
        """
        kept = tuple(map(self._named, blocks))
        if not kept:
            return False
        self.add(Entry(speaker, kept, origin, answer, ending, authority), place, source)
        return True

    def add(self, entry: Entry, place: str, source: int) -> None:
        """Add an entry that is as it should be."""
        if self.at is not None:
            self.times[len(self.entries)] = self.at
        if entry.answer is not None:
            self._answers.setdefault(entry.answer, len(self.entries))
        self.entries.append(entry)
        self.places.append(place)
        self.sources.append(source)

    def say_more(self, speaker: Speaker, blocks: Iterable[Block]) -> bool:
        """Add to the last entry what belongs to it; false, with nothing done, if somebody else is speaking there."""
        if not self.entries or self.entries[-1].speaker is not speaker:
            return False
        last = self.entries[-1]
        self.entries[-1] = replace(last, blocks=(*last.blocks, *blocks))
        return True

    def _named(self, block: Block) -> Block:
        """A result with the name of its tool, if its call has come."""
        if isinstance(block, ToolCall):
            if block.wire_id in self._called:
                self._reused.add(block.wire_id)
            self._called[block.wire_id] = block.name
        elif isinstance(block, ToolResponse) and not block.tool_name and block.wire_id:
            if block.wire_id in self._called:
                return replace(block, tool_name=self._called[block.wire_id])
            self._nameless.add(len(self.entries))
        return block

    def _named_at_last(self, block: Block) -> Block:
        """A result with the name of its tool, if there is one call with its id and that is further down."""
        if not isinstance(block, ToolResponse) or block.tool_name or block.wire_id in self._reused:
            return block
        return replace(block, tool_name=self._called.get(block.wire_id, ""))

    def human(
        self, blocks: Iterable[Block], place: str, *, source: int = -1, authority: Authority = Authority.PERSON
    ) -> bool:
        """Add what the human side of a message holds: results, then what a person said beside them.

        A call in it is the model's. What comes before it stays before it.
        """
        added = False
        for are_calls, run in groupby(blocks, key=lambda block: isinstance(block, ToolCall)):
            held = list(run)
            results = [block for block in held if isinstance(block, ToolResponse)]
            said = [block for block in held if not isinstance(block, ToolResponse)]
            added |= self.results(results, place, source=source)
            rank = Authority.PERSON if are_calls else authority
            added |= self.say(Speaker.HUMAN, said, place, source=source, authority=rank)
        return added

    def results(self, blocks: Iterable[ToolResponse], place: str, *, source: int = -1) -> bool:
        """Add what tools returned."""
        return self.say(Speaker.TOOL, blocks, place, source=source)

    def note(self, place: str, message: str, *, is_carried: bool = False) -> None:
        """Report something that was not understood, or that was only understood by a reader who wants to."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(FileNote(place, message, is_carried=is_carried))
        else:
            self.skip(place, "more was not understood")

    def note_unknown(self, parts: Iterable[tuple[int, JsonObject]], place: str) -> None:
        """Report parts of a content that were not understood, each with its index."""
        for index, part in parts:
            self.note(place, f"content[{index}] of type {part.get('type', '')!r} is not understood and was left out")

    def skip(self, place: str, what: str) -> None:
        """Report something that was passed over and that may be in a file thousands of times: it is counted."""
        first, count = self._skipped.get(what, (place, 0))
        self._skipped[what] = (first, count + 1)

    def take_back(self, first: int) -> None:
        """Forget the entries from `first` on, which the agent itself has taken back."""
        del self.entries[first:], self.places[first:], self.sources[first:]
        self.times = {index: at for index, at in self.times.items() if index < first}
        self.usages = {index: usage for index, usage in self.usages.items() if index < first}
        self.compactions = [mark for mark in self.compactions if mark.last < first]
        self._nameless = {index for index in self._nameless if index < first}

    def end_answer(self, ending: Ending) -> None:
        """The answer that was added last ended in this way."""
        if self.entries and self.entries[-1].speaker is Speaker.AI:
            self.entries[-1] = replace(self.entries[-1], ending=ending)

    def count(self, usage: Usage) -> None:
        """The answer that was added last took these tokens. Told again of the same answer, the last count holds."""
        last = len(self.entries) - 1
        while last >= 0 and self.entries[last].speaker is not Speaker.AI:
            last -= 1  # a count may come after the results of the calls in the answer
        if last >= 0:
            answer = self.entries[last].answer
            self.usages[last if answer is None else self._answers[answer]] = usage

    def finish(
        self,
        *,
        digest: str,
        damage: Iterable[FileNote] = (),
        original: Original | None = None,
        records: Sequence[Record] | None = None,
    ) -> Document:
        """The document. `damage` is what was physically wrong with the file."""
        for index in self._nameless:
            entry = self.entries[index]
            self.entries[index] = replace(entry, blocks=tuple(map(self._named_at_last, entry.blocks)))
        counted = [FileNote(place, told_once(what, count)) for what, (place, count) in self._skipped.items()]
        return Document(
            format=self.format,
            name=self.name,
            entries=self.entries,
            places=self.places,
            sources=self.sources,
            system="\n\n".join(text for text in self.system if text.strip()),
            tools=self.tools,
            options=self.options,
            model=self.model,
            route=self.route,
            notes=[*damage, *self.notes, *counted],
            compactions=self.compactions,
            times=self.times,
            usages=self.usages,
            meta={key: value for key, value in self.meta.items() if value},
            digest=digest,
            records=records,
            body=self.body,
            original=original,
        )


def keep_known(meta: dict[str, str], record: JsonObject, names: dict[str, str]) -> None:
    """Copy text fields of `record` that are named on the left of `names` into `meta`, under the names on the right."""
    for theirs, ours in names.items():
        value = record.get(theirs)
        if isinstance(value, str) and value:
            meta[ours] = value
