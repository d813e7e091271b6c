"""Look at a conversation entry by entry.

In:  a document, and the request that was rendered from it, if there is one.
Out: its entries one after the other, so that a long conversation is never held twice; then what concerns none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import msgspec

from legato.diagnostics import Redactor
from legato.diagnostics.as_lines import decision_line
from legato.errors import LegatoError
from legato.files.inspected import LIMIT, InspectedBlock, InspectedCall, InspectedEntry
from legato.formats import Document, Finding, Level, lint_document
from legato.formats.document import fold_notes
from legato.formats.faults import EVERYTHING, places_of
from legato.ledger import Call
from legato.model import (
    Action,
    Authority,
    CallId,
    Capabilities,
    Code,
    Decision,
    Fault,
    HostedTool,
    Json,
    Media,
    Origin,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from legato.request import Request, resolve
from legato.request.prices import cost
from legato.transcript.slots import Slot, SlotKind
from legato.transcript.units import AnswerBlock, Completion, Exchange, Said, Unit, completion_text

_HALVED = 1_000
"""characters beyond a cut that are looked at for secrets which it would halve: longer than any that is issued"""


UnitKey: TypeAlias = tuple[int, int]
"""the sequence number of the record that a unit began with, and which of the units that began with it this is"""


class SeenEntry(NamedTuple):
    """An entry, with the key of its unit and where each of its values comes from.

    `sources` has the texts, and the ids of the arguments, that the conversation holds; each leads to the number of a
    block and to the field of it that shows the value.
    """

    key: UnitKey
    entry: InspectedEntry
    sources: dict[str | int, tuple[int, str]]


class Inspector:
    """Looks at one document."""

    def __init__(
        self,
        document: Document,
        *,
        target: str | None = None,
        request: Request | None = None,
        redactor: Redactor | None = None,
        limit: int = LIMIT,
        keep_media: bool = False,
    ) -> None:
        self.document = document
        self._talk = document.conversation()
        self._view = self._talk.view(EVERYTHING)
        self._view.refresh()
        self._place = places_of(document)
        self._redactor = redactor or Redactor()
        self._limit = limit
        self._keep_media = keep_media
        report = request.report if request is not None else None
        self._sent = {call.call_id: call.wire_id for call in report.emitted} if report else {}
        projected = [item for item in report.decisions if _is_of_target(item)] if report else []
        self._projected: dict[str, list[Decision]] = {}
        for item in projected:
            for call in item.calls:
                self._projected.setdefault(call, []).append(item)
        self.about_request = _counted(decision_line(item) for item in projected if not item.calls)
        """decisions that concern no call"""
        begins = dict.fromkeys(self._place(slot.first) for slot in self._view.slots)
        found = self._without_secrets(lint_document(document, *([target] if target else ())))
        self._findings = _Findings(found, begins)
        self._sources: dict[str | int, tuple[int, str]] = {}
        self._prices: dict[str, Capabilities | None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the file is not carried."""
        return tuple(self.clip(str(note)) for note in fold_notes(self.document.not_carried))

    @property
    def other_findings(self) -> tuple[Finding, ...]:
        """What was found and belongs to no entry; known when all entries were seen."""
        return self._findings.left

    def entries(self) -> Iterator[SeenEntry]:
        """Every entry, in order."""
        turn = 0
        for index, slot in enumerate(self._view.slots):
            unit = self._view.unit(index)
            if slot.kind is SlotKind.SAID and type(unit) is Said and unit.authority is Authority.PERSON:
                turn += 1
            if unit is not None or slot.blocks:
                self._sources = {}
                entry = self._entry(slot, unit, self._view.decisions(index), turn)
                yield SeenEntry((slot.first, slot.part), entry, self._sources)

    def _entry(self, slot: Slot, unit: Unit | None, decisions: Sequence[Decision], turn: int) -> InspectedEntry:
        place = self._place(slot.first)
        blocks = tuple(self._blocks(slot, unit, decisions))
        calls = [block.call for block in blocks if block.call is not None]
        shown = dict.fromkeys(call.id for call in calls)
        general = [decision for decision in decisions if not shown.keys() & decision.calls]
        about = [str(call) for item in general for call in item.calls]
        mine = self._findings.of([*shown, *about], [place, *(call.result_place for call in calls)])
        own = [finding.rule for finding in mine if not shown.keys() & finding.calls]
        usage = self._usage(slot.first)
        return InspectedEntry(
            turn=turn,
            speaker=_speaker(slot),
            place=place,
            model=_model(slot.origin),
            blocks=blocks,
            decisions=tuple(self.clip(decision_line(decision)) for decision in general),
            labels=tuple(dict.fromkeys([*map(_label, general), *own])),
            is_shown=unit is not None,
            findings=mine,
            at=self._time(slot.first),
            usage=usage,
            cost=self._cost(usage, slot.origin),
        )

    def _blocks(self, slot: Slot, unit: Unit | None, decisions: Sequence[Decision]) -> Iterator[InspectedBlock]:
        completions = {done.call_id: done for done in unit.completions} if type(unit) is Exchange else {}
        decided: dict[str, list[Decision]] = {}
        for item in decisions:
            for call in item.calls:
                decided.setdefault(call, []).append(item)
        # What a request leaves out is still worth seeing, so the slot's own blocks are shown where there is no unit.
        blocks: Iterable[AnswerBlock] = slot.blocks if type(unit) is not Said else unit.blocks
        number = 0
        for block in blocks:
            shown = self._block(block, number, completions, decided)
            if shown is not None:
                number += 1
                yield shown

    def _block(
        self, block: AnswerBlock, number: int, completions: dict[CallId, Completion], decided: dict[str, list[Decision]]
    ) -> InspectedBlock | None:
        match block:
            case Text():
                self._sources[block.text] = number, "text"
                return InspectedBlock(kind="text", text=self.clip(block.text)) if block.text.strip() else None
            case Thinking():
                self._sources[block.text] = number, "text"
                return InspectedBlock(kind="thinking", text=self.clip(block.text) or "[not readable]")
            case Media():
                if block.data:
                    self._sources[block.data] = number, "data"
                return InspectedBlock(
                    kind="media", text=_media(block), media=self._shown_media(block) if self._keep_media else None
                )
            case Code():
                return InspectedBlock(kind="code", text=self.clip(block.code))
            case HostedTool():
                return InspectedBlock(kind="hosted", text=f"{block.name} {self._json(block.arguments)}")
            case ToolCall():
                call = self._talk.ledger.calls.get(block.id)
                if call is None:
                    return None
                self._sources[id(block.arguments)] = number, "arguments"
                return InspectedBlock(
                    kind="call", call=self._call(block, number, call, completions.get(block.id), decided)
                )

    def _call(
        self, block: ToolCall, number: int, call: Call, done: Completion | None, decided: dict[str, list[Decision]]
    ) -> InspectedCall:
        mine = decided.get(call.id, []) + self._projected.get(call.id, [])
        labels = [*map(_label, mine), *self._findings.rules_of(call.id)]
        result = completion_text(done) if done else ""
        self._sources[result] = number, "result"
        return InspectedCall(
            id=call.id,
            name=call.name,
            arguments=self.clip(block.raw) if block.raw else self._json(block.arguments),
            wire_id=call.wire_id,
            sent_id=self._sent.get(call.id, ""),
            state=call.state.value,
            completion=done.kind.value if done else "left out",
            reason=done.reason.value if done and done.reason else "",
            result=self.clip(result),
            result_place=self._place(call.response_seq),
            decisions=tuple(self.clip(decision_line(item)) for item in dict.fromkeys(mine)),
            labels=tuple(dict.fromkeys(labels)),
            started=self._time(call.seq),
            ended=self._time(call.response_seq),
            media=tuple(map(self._shown_media, done.media)) if done and self._keep_media else (),
        )

    # --- time and money -----------------------------------------------------------------------------------------------

    def _time(self, seq: int) -> float | None:
        records = self.document.records
        if records is not None:
            return records[seq].at if 0 <= seq < len(records) else None
        return self.document.times.get(seq - self.document.first_seq)

    def _usage(self, seq: int) -> Usage | None:
        """What an answer took. Zeros are no tokens: programs, and our own writers, put them where nothing is known."""
        if self.document.records is None:
            usage = self.document.usages.get(seq - self.document.first_seq)
        else:
            # A log's own records are numbered, and its entries are those of them that hold something said.
            entry = self._entry_of_record.get(seq + 1)
            usage = None if entry is None else self.document.usages.get(entry)
        return None if usage == Usage() else usage

    @cached_property
    def _entry_of_record(self) -> dict[int, int]:
        return {source: index for index, source in enumerate(self.document.sources)}

    def _cost(self, usage: Usage | None, origin: Origin | None) -> float | None:
        if usage is None or origin is None:
            return None
        route = f"{origin.provider}/{_model(origin)}"
        if route not in self._prices:
            try:
                self._prices[route] = resolve(route).capabilities
            except LegatoError:  # a model that the catalogue does not know has no price
                self._prices[route] = None
        prices = self._prices[route]
        return None if prices is None else cost(usage, prices)

    # --- what is safe to show -----------------------------------------------------------------------------------------

    def clip(self, text: str) -> str:
        """`text` without secrets, cut to the limit; a secret that the cut would halve is hidden before it."""
        if len(text) <= self._limit:
            return self._redactor.text(text)
        kept = self._redactor.text(text[: self._limit + _HALVED])[: self._limit]
        return f"{kept}… [{len(text) - self._limit:,} more characters]"

    def _json(self, value: Json) -> str:
        return self.clip(msgspec.json.encode(self._redactor.value(value)).decode())

    def _shown_media(self, block: Media) -> Media:
        return msgspec.structs.replace(block, url=self._redactor.text(block.url)) if block.url else block

    def _without_secrets(self, findings: Sequence[Finding]) -> list[Finding]:
        return msgspec.convert(self._redactor.value(msgspec.to_builtins(findings)), list[Finding])


class _Findings:
    """What `lint` found, by call and by place; each is given out once.

    What was found on a line of which no entry was made (a torn one) is told with the entry before it, or else with the
    first; `begins` has the places where entries begin.
    """

    def __init__(self, findings: Iterable[Finding], begins: Iterable[str]) -> None:
        starts = sorted((int(line[1]), place) for place in begins if (line := _LINE.fullmatch(place)))
        self._by_call: dict[str, list[Finding]] = {}
        self._by_place: dict[str, list[Finding]] = {}
        self._left: dict[int, Finding] = {}
        for finding in findings:
            if finding.level is Level.NOTE:
                continue  # those are the notes of the document
            self._left[id(finding)] = finding
            for call in finding.calls:
                self._by_call.setdefault(call, []).append(finding)
            if not finding.calls:
                for place in _places_around(finding.place):
                    self._by_place.setdefault(place, []).append(finding)
                if starts and (line := _LINE.fullmatch(finding.place)):
                    before = max(bisect_right(starts, int(line[1]), key=itemgetter(0)) - 1, 0)
                    self._by_place.setdefault(starts[before][1], []).append(finding)

    @property
    def left(self) -> tuple[Finding, ...]:
        """What no one has asked for."""
        return tuple(self._left.values())

    def rules_of(self, call: str) -> list[str]:
        """The rules that a call breaks."""
        return [finding.rule for finding in self._by_call.get(call, ())]

    def of(self, calls: Iterable[str], places: Iterable[str]) -> tuple[Finding, ...]:
        """What was found about these calls, and at these places unless it was told before."""
        found = {id(finding): finding for call in calls for finding in self._by_call.get(call, ())}
        for place in places:
            found |= {id(item): item for item in self._by_place.get(place, ()) if id(item) in self._left}
        for number in found:
            self._left.pop(number, None)
        return tuple(found.values())


_LINE = re.compile(r"line (\d+)")
_LAST_STEP = re.compile(r"(\.[^.\[\]]+|\[\d+\])\Z")


def _places_around(place: str) -> Iterator[str]:
    """`messages[1].content[0]`, `messages[1].content`, `messages[1]`, …: a finding may be about a part of an entry."""
    while place:
        yield place
        shorter = _LAST_STEP.sub("", place)
        if shorter == place:
            return
        place = shorter


def _is_of_target(decision: Decision) -> bool:
    """Whether a decision was made for the target, and is not one that the conversation itself shows."""
    return decision.fault is Fault.PROJECTION or decision.action is Action.COMPACTED


def _model(origin: Origin | None) -> str:
    return (origin.served or origin.asked) if origin else ""


def _speaker(slot: Slot) -> str:
    match slot.kind:
        case SlotKind.SAID:
            return "instruction" if slot.authority is Authority.INSTRUCTION else "human"
        case SlotKind.ANSWER:
            return "model"
        case SlotKind.ORPHANS:
            return "result without a call"
        case SlotKind.SUMMARY:
            return "summary"


def _media(block: Media) -> str:
    size = f", {len(block.data) * 3 // 4:,} bytes" if block.data else ""
    return f"[{block.kind.value}, {block.mime}{size}]"


def _label(decision: Decision) -> str:
    return f"{decision.action.value} {decision.reason}"


def _counted(lines: Iterable[str]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    return tuple(line if count == 1 else f"{line} ({count} times)" for line, count in counts.items())
