"""A document in the making: what a reader fills, entry by entry, while it goes through a file.

In:  who says what, and where in the file that is; what is not understood, and what is passed over.
Out: a `Document`.

A result takes the name of its tool from its call, which may come before it or behind it. What may be in a file
thousands of times is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from legato.formats.document import Body, CompactionMark, Document, FileNote, Original, told_once
from legato.model import (
    Authority,
    Block,
    Ending,
    Entry,
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

MAX_NOTES = 1_000
"""more notes than this are counted, not kept"""
_MORE = "more was not understood"


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
        self.is_skimmed = False
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

    def note(self, place: str, message: str, *, is_carried: bool = False, is_unknown: bool = False) -> None:
        """Report something that is not carried, or that was only understood by a reader who wants to."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(FileNote(place, message, is_carried=is_carried, is_unknown=is_unknown))
        else:
            self.skip(place, _MORE)

    def unknown(self, place: str, what: str) -> None:
        """Report something that is not understood, by its name."""
        self.note(place, f"{what} is not understood and was left out", is_unknown=True)

    def note_unknown(self, parts: Iterable[tuple[int, JsonObject]], place: str) -> None:
        """Report parts of a content that were not understood, each with its index."""
        for index, part in parts:
            self.unknown(place, f"content[{index}] of type {part.get('type', '')!r}")

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
        counted = [
            FileNote(place, told_once(what, count), is_unknown=what == _MORE)
            for what, (place, count) in self._skipped.items()
        ]
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
            is_skimmed=self.is_skimmed,
        )


def keep_known(meta: dict[str, str], record: JsonObject, names: dict[str, str]) -> None:
    """Copy text fields of `record` that are named on the left of `names` into `meta`, under the names on the right."""
    for theirs, ours in names.items():
        value = record.get(theirs)
        if isinstance(value, str) and value:
            meta[ours] = value
