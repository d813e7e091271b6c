"""Say how a file was recognised: by which evidence, where it is, what else was weighed, and what was not understood.

In:  a file, and the format that the caller says it is in, if any.
Out: an `Explanation`, of a file that cannot be read as well.

Formats detect themselves without saying where (see `detection`). The place is found by asking again with one record, or
one item of a list, at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from legato.errors import FormatError
from legato.formats.detection import Detected, head_body, lines_of
from legato.formats.document import Document, fold_notes
from legato.formats.fields import as_list, as_object, as_objects
from legato.formats.format import Format
from legato.formats.head import LAYOUTS, MAX_RECORDS, Head, Layout
from legato.formats.lines import Marks
from legato.formats.reading import format_named, look, open_as, read_as, why_unread
from legato.formats.registry import FORMATS
from legato.formats.sources import Data, Progress, Source
from legato.formats.wire.shapes import weighed_signs
from legato.model import Json, JsonObject, ToolCall


class FormatSign(Struct, frozen=True):
    """Something in a file that speaks for a format, and where it is."""

    reason: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.place})" if self.place else self.reason


class WeighedFormat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A format that a file was not read as, what speaks for it, and why it was not."""

    format: str
    why_not: str
    evidence: tuple[FormatSign, ...] = ()
    fitting: int = 0
    """the records that have the fields of that format, of those that were looked at"""


class Misunderstood(Struct, frozen=True, kw_only=True):
    """Something in a file that was left out of the conversation, and where it is first."""

    what: str
    place: str
    is_damage: bool = False


class Explanation(Struct, frozen=True, kw_only=True):
    """How a file was read, and why so.

    `format` is what it was read as, empty if it was not; `looks_like` what it shows, whatever the caller `asked` for.
    `error` says why it could not be read.
    """

    name: str
    format: str
    asked: str
    looks_like: str
    layout: str
    looked_at: int
    """records of a file of lines that were looked at to settle this"""
    evidence: tuple[FormatSign, ...]
    weighed: tuple[WeighedFormat, ...]
    conversations: int
    entries: int
    calls: int
    not_understood: tuple[Misunderstood, ...]
    error: str = ""


def explain_format(
    data: Data,
    *,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Explanation:
    """How `data` is read, as `format` if that is named, and why.

    Raises `FormatError` only for what cannot be opened, or is neither JSON nor lines of JSON.
    """
    asked = None if format is None else format_named(format)
    source = open_as(data, asked, name=name, progress=progress)
    head, found = look(source, asked)
    seen = _LinesSeen(source, found) if head.layout is Layout.LINES else _ValueSeen(head)
    documents: list[Document] = []
    error = ""
    try:
        documents = read_as(source, head, found, asked)
        error = why_unread(documents)
    except FormatError as problem:
        error = problem.message
    chosen = asked.name if asked is not None else found.format if found is not None else ""
    calls = (block for one in documents for entry in one.entries for block in entry.blocks)
    return Explanation(
        name=source.name,
        format=chosen if documents else "",
        asked=asked.name if asked is not None else "",
        looks_like=found.format if found is not None else "",
        layout=seen.layout,
        looked_at=seen.looked_at,
        evidence=tuple(seen.evidence.get(chosen, ())),
        weighed=tuple(_weighed(seen, chosen, asked)),
        conversations=len(documents),
        entries=sum(len(one.entries) for one in documents),
        calls=sum(isinstance(block, ToolCall) for block in calls),
        not_understood=_misunderstood(documents),
        error=error,
    )


# --- what was seen ----------------------------------------------------------------------------------------------------


class _LinesSeen:
    """What the records of a file of lines show: the first ones, and all until the one that settled the format."""

    layout = "lines of JSON"

    def __init__(self, source: Source, found: Detected | None) -> None:
        self.looked_at = 0
        self.evidence: dict[str, list[FormatSign]] = {}
        self.fitting = dict.fromkeys(FORMATS, 0)
        first: JsonObject | None = None
        for line in lines_of(source):
            is_settled = found is None or found.format in self.evidence
            if self.looked_at >= MAX_RECORDS and is_settled:
                break
            self.looked_at += 1
            first = line.value if first is None else first
            place = f"{line.raw.place}, byte {line.raw.start:,}"
            self._see(Head(Layout.LINES, records=(first, line.value)), place)

    def _see(self, head: Head, place: str) -> None:
        for known in FORMATS.values():
            self.fitting[known.name] += bool(known.marks.sets) and known.marks.fit(head.records[-1])
            if known.name not in self.evidence and (reason := _reason(known, head)):
                self.evidence[known.name] = [FormatSign(reason, place)]

    def why_not(self, known: Format) -> str:
        if known.is_wire:
            return "a request is one JSON value, and these are lines"
        if count := self.fitting[known.name]:
            fields = _told(known.marks)
            return f"{count:,} of {self.looked_at:,} records have its fields ({fields}), and none what only it has"
        return f"no record has {_told(known.marks)}" if known.marks.sets else "nothing in it is of that form"


class _ValueSeen:
    """What the one value of a file shows, the tables of a database, or the names in an archive."""

    looked_at = 1

    def __init__(self, head: Head) -> None:
        self.layout = LAYOUTS[head.layout]
        self.evidence: dict[str, list[FormatSign]] = {}
        self.fitting = dict.fromkeys(FORMATS, 0)
        for known in FORMATS.values():
            if reason := _reason(known, head):
                self.evidence[known.name] = [FormatSign(reason, _place_in(head.value, known))]
        for sign in weighed_signs(head_body(head)):
            self.evidence.setdefault(sign.format, []).append(FormatSign(sign.reason, sign.place))

    def why_not(self, known: Format) -> str:
        return "nothing in it is of that form"


def _reason(known: Format, head: Head) -> str:
    asks = (ask for ask in (known.detect, known.resembles) if ask is not None)
    return next((reason for ask in asks if (reason := ask(head))), "")


def _place_in(value: Json, known: Format) -> str:
    """Where in a value the evidence for a format is; empty if it is in the fields around its lists, or everywhere."""
    return next((place for place, less in _with_less(value) if _reason(known, _head_of(less))), "")


def _with_less(value: Json) -> Iterator[tuple[str, Json]]:
    """The value without the objects in its lists, then with one of them at a time, and the place of that."""
    if isinstance(value, list):
        yield from ((f"[{index}]", [item]) for index, item in enumerate(as_list(value)))
    holder = as_object(value)
    lists = [name for name, held in holder.items() if as_objects(held)]
    around = {name: held for name, held in holder.items() if name not in lists}
    yield "", around
    for name in lists:
        for index, item in enumerate(as_list(holder[name])):
            yield f"{name}[{index}]", {**around, name: [item]}


def _head_of(value: Json) -> Head:
    return Head(Layout.WHOLE, (as_object(value),) if isinstance(value, dict) else (), value)


def _told(marks: Marks) -> str:
    return ", or ".join(" and ".join(sorted(names)) for names in marks.sets)


# --- what is said of it -----------------------------------------------------------------------------------------------


def _weighed(seen: _LinesSeen | _ValueSeen, chosen: str, asked: Format | None) -> Iterator[WeighedFormat]:
    """Every other format, those first for which anything speaks."""
    others = [known for known in FORMATS.values() if known.name != chosen]
    for known in sorted(others, key=lambda known: (known.name not in seen.evidence, -seen.fitting[known.name])):
        evidence = tuple(seen.evidence.get(known.name, ()))
        if not evidence:
            why_not = seen.why_not(known)
        elif asked is not None:
            why_not = f"the caller says that it is {asked.name}"
        else:
            why_not = f"what speaks for {chosen} counts for more"
        yield WeighedFormat(format=known.name, why_not=why_not, evidence=evidence, fitting=seen.fitting[known.name])


def _misunderstood(documents: Iterable[Document]) -> tuple[Misunderstood, ...]:
    notes = fold_notes(note for document in documents for note in document.not_carried)
    return tuple(Misunderstood(what=note.message, place=note.place, is_damage=note.is_damage) for note in notes)
