"""One conversation: its log, its ledger and what follows from them.

Writing has three moves. `prepare` turns news into records: it validates, mints ids and changes nothing that can be
seen. Whoever stores the log appends them there. `apply` takes them into memory and cannot fail, so memory is never
ahead of the disk. A conversation that lives in memory alone skips the middle move: `record`, `human` and `result` do
the other two at once, and `take` and `take_over` do them for a whole transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar, cast

from msgspec.structs import replace

from legato.errors import UnknownCall
from legato.ledger import Call, Identity, Ledger
from legato.model import (
    Answer,
    Authority,
    Block,
    CallId,
    Entry,
    Media,
    Speaker,
    Text,
    ToolCall,
    ToolResponse,
    clean_text,
    ingest,
    safe,
)
from legato.model.entries import meaningful
from legato.model.records import Record, Recorded, Rewound
from legato.transcript.compose import Composer
from legato.transcript.standing import standing
from legato.transcript.view import View

T = TypeVar("T")

_PORTION = 128
"""entries of a transcript that are named before the first of them is entered and placed: both use tables of their own,
which do not drive each other out of the processor's cache so often then"""


class Conversation:
    """A conversation, whoever answers it. Everything recorded stays; views and requests are made from it."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._log: list[Record] = []
        self._identity = Identity()
        self._minted: list[Record] | None = None
        """records whose names are already in `_identity` though they are not applied yet"""
        self.ledger = Ledger()
        self.composer = Composer(self.ledger)
        self._cached: dict[type, object] = {}
        self.apply(records)

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def log(self) -> Sequence[Record]:
        """The records, oldest first. A record's sequence number is its index."""
        return self._log

    @property
    def entries(self) -> list[Entry]:
        """Everything that was said and done and not undone."""
        return [entry for _, entry in self.standing_entries()]

    def standing_entries(self) -> Iterator[tuple[int, Entry]]:
        """The same with their sequence numbers."""
        for seq, record in standing(self._log):
            if isinstance(record, Recorded):
                yield seq, record.entry

    @property
    def instructions(self) -> str:
        """The system messages that the conversation began with."""
        return "\n\n".join(text for text in self.composer.instructions if text.strip())

    def view(self, window: int = 0) -> View:
        """The units as a target with `window` sees them; 0 applies every compaction in force."""
        return View(self.composer, window)

    def __len__(self) -> int:
        return len(self._log)

    def cached(self, kind: type[T], make: Callable[[], T]) -> T:
        """The one value of `kind` that is kept with this conversation; made on first use.

        For what other layers derive from the log and want to derive once, such as encoded messages. It lives as long as
        the conversation, a copy begins without it, and nothing that is said depends on it.
        """
        found = self._cached.get(kind)
        if not isinstance(found, kind):
            found = self._cached[kind] = make()
        return found

    # --- writing ------------------------------------------------------------------------------------------------------

    def prepare(self, news: Iterable[Entry | Answer | Record]) -> list[Record]:
        """Records for `news`, validated and named. Nothing is recorded until `apply` gets them."""
        self._forget_unapplied()
        checked = [_checked_news(item) for item in news]  # all are good, or none is named
        mint = self._identity.mint
        records: list[Record] = []
        for item in checked:
            if type(item) is Entry:
                records.append(Recorded(entry=mint(item)))
            elif type(item) is Recorded:
                records.append(replace(item, entry=mint(item.entry)))
            else:
                records.append(cast(Record, item))
                if type(item) is Rewound:
                    self._undo(records)
                    mint = self._identity.mint
        self._minted = records
        return records

    def _forget_unapplied(self) -> None:
        """Names that were minted for records that were never applied are free again."""
        if self._minted is None:
            return
        self._identity = Identity()
        for number, record in enumerate(self._log):
            if type(record) is Recorded:
                self._identity.note(record.entry)
            elif type(record) is Rewound:
                self._undo((), upto=number + 1)
        self._minted = None

    def _undo(self, minted: Sequence[Record], upto: int | None = None) -> None:
        """Nothing that the newest undo took back is open any more, in the log up to there and what was `minted`."""
        left = standing([*self._log[:upto], *minted])
        self._identity = self._identity.after_undo(record.entry for _, record in left if type(record) is Recorded)

    def apply(self, records: Iterable[Record]) -> None:
        """Take records that were prepared, or read from a store."""
        is_minted = records is self._minted
        self._minted = None if is_minted else self._minted
        log, ledger, composer = self._log, self.ledger, self.composer
        enter, place = ledger.enter, composer.place
        for seq, record in enumerate(records, len(log)):
            log.append(record)
            if type(record) is Recorded:
                entry = record.entry
                if not is_minted:
                    self._identity.note(entry)
                enter(seq, entry)
                place(seq, entry)
            else:
                ledger.apply(seq, record)
                composer.apply(seq, record, log)
                if type(record) is Rewound and not is_minted:
                    self._undo(())

    def take(self, entries: Iterable[Entry]) -> None:
        """Record entries that our own parsers or readers made: their values are safe, and no one changes them."""
        self._take(entries, in_place=False)

    def take_over(self, entries: Iterable[Entry]) -> None:
        """The same with entries that the caller gives away: names are written into them, where `take` makes copies.

        The copies would cost less in work than in memory that has to be fetched and let go.
        """
        self._take(entries, in_place=True)

    def _take(self, entries: Iterable[Entry], *, in_place: bool) -> None:
        self._forget_unapplied()
        log, mint, enter, place = self._log, self._identity.mint, self.ledger.enter, self.composer.place
        count, rest = len(log), iter(entries)
        try:
            while named := [mint(entry, in_place) for entry in islice(rest, _PORTION)]:
                for seq, entry in enumerate(named, len(log)):
                    log.append(Recorded(entry=entry))
                    enter(seq, entry)
                    place(seq, entry)
        except BaseException:
            del log[count:]  # one of them says nothing, so none is recorded
            self.__init__(log)
            raise

    def record(self, news: Entry | Answer) -> Entry:
        """Record an entry or a decoded answer; returns it with its calls named."""
        records = self.prepare([news])
        self.apply(records)
        return cast(Recorded, records[0]).entry

    def human(self, *parts: str | Block) -> Entry:
        """Record what a person said: text, or blocks such as `Media`."""
        return self.record(Entry(Speaker.HUMAN, _blocks(parts)))

    def instruct(self, text: str) -> Entry:
        """Record an instruction: part of the system prompt at the beginning, and later on sent at its own place."""
        return self.record(Entry(Speaker.HUMAN, (Text(text),), authority=Authority.INSTRUCTION))

    def result(
        self,
        call: ToolCall | CallId | str,
        value: object = None,
        *,
        error: str | None = None,
        media: Sequence[Media] = (),
    ) -> Entry:
        """Record what a tool returned for `call`: the call itself, our id of it, or the provider's.

        An exception as `value` is recorded as an error. Raises `UnknownCall` if no such call was recorded.
        """
        if isinstance(value, BaseException):
            error, value = error or f"{type(value).__name__}: {value}", None
        known = self._known(call)
        response = ToolResponse(
            call_id=known.id,
            wire_id=known.id if self._identity.is_copied(known.id) else known.wire_id,  # a copy may have the same
            tool_name=known.name,
            result=ingest(value) if value is not None or error is not None else "",
            error=None if error is None else clean_text(error),
            is_complete=True,
            media=tuple(media),
        )
        return self.record(Entry(Speaker.TOOL, (response,)))

    def copy(self) -> Conversation:
        """A conversation with the same log that goes its own way from here."""
        return Conversation(self._log)

    def _known(self, call: ToolCall | CallId | str) -> Call:
        is_unnamed = isinstance(call, ToolCall) and not call.id
        name = (call.id or call.wire_id) if isinstance(call, ToolCall) else call
        # The id of a call as the model made it is the provider's, even if it looks like ours.
        found = None if is_unnamed else self.ledger.calls.get(CallId(name))
        if found is None and name:
            call_id = self._identity.called(name)
            found = self.ledger.calls.get(call_id) if call_id is not None else None
        if found is None:
            raise UnknownCall(
                f"no call {name!r} was recorded in this conversation; record the model's answer before its results",
                call=str(name),
            )
        return found


def _blocks(parts: tuple[str | Block, ...]) -> tuple[Block, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


def _checked_news(news: Entry | Answer | Record) -> Entry | Record:
    """An entry, or that of an answer, or a record: checked, with safe values."""
    if type(news) is Answer:
        news = news.entry
    if type(news) is Entry:
        return safe(meaningful(news))
    if type(news) is Recorded:
        return safe(replace(news, entry=meaningful(news.entry)))
    return safe(cast(Record, news))
