"""A conversation as a person reads it: part by part, each call with its state, its ids and what was decided about it.

In:  a document, and the request that was rendered from it, if one was.
Out: a `Story`: plain data, clipped and without secrets, for the terminal and for the page alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from legato.diagnostics import Redactor
from legato.diagnostics.as_lines import decision_line
from legato.formats import Document
from legato.formats.faults import EVERYTHING, places_of
from legato.formats.findings import Finding
from legato.ledger import Call
from legato.model import (
    Action,
    Authority,
    CallId,
    Code,
    Decision,
    Fault,
    HostedTool,
    Json,
    Media,
    Text,
    Thinking,
    ToolCall,
)
from legato.request import Request
from legato.transcript.conversation import Conversation
from legato.transcript.slots import Slot, SlotKind
from legato.transcript.units import AnswerBlock, Completion, Exchange, Said, Unit, completion_text
from legato.transcript.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStory:
    """One call: who it is in the log, in the file and for the target, and how it ended."""

    id: CallId
    name: str
    arguments: str
    wire_id: str
    sent_id: str
    """the id that the target sees; empty if nothing was rendered or the call is not in the request"""
    state: str
    completion: str
    reason: str
    result: str
    result_place: str
    decisions: list[str]
    labels: list[str]
    """decisions and findings in brief, to filter by"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One block."""

    kind: str
    text: str = ""
    call: CallStory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one speaker said at one place."""

    turn: int
    speaker: str
    place: str
    model: str
    pieces: list[Piece]
    decisions: list[str]
    labels: list[str]
    is_shown: bool
    """false: it is in the file, and no request holds it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """The whole conversation."""

    name: str
    format: str
    route: str
    system: str
    tools: int
    parts: list[Part]
    notes: list[str] = field(default_factory=list[str])
    about_request: list[str] = field(default_factory=list[str])
    """decisions that concern no call: about the request as a whole"""

    @property
    def calls(self) -> list[CallStory]:
        """Every call, in order."""
        return [piece.call for part in self.parts for piece in part.pieces if piece.call is not None]

    @property
    def turns(self) -> int:
        """How often a person spoke."""
        return self.parts[-1].turn if self.parts else 0


def tell(
    document: Document,
    *,
    request: Request | None = None,
    findings: Sequence[Finding] = (),
    redactor: Redactor | None = None,
    limit: int = 20_000,
) -> Story:
    """The story of `document`, its texts clipped to `limit` characters."""
    return _Teller(document, request, findings, redactor or Redactor(), limit).tell()


class _Teller:
    def __init__(
        self,
        document: Document,
        request: Request | None,
        findings: Sequence[Finding],
        redactor: Redactor,
        limit: int,
    ) -> None:
        self.document = document
        self.talk: Conversation = document.conversation()
        self.view: View = self.talk.view(EVERYTHING)
        self.view.refresh()
        self.place = places_of(document)
        self.redactor = redactor
        self.limit = limit
        report = request.report if request is not None else None
        self.sent = {call.call_id: call.wire_id for call in report.emitted} if report else {}
        self.projected = [item for item in report.decisions if _is_of_target(item)] if report else []
        self.found_by_call: dict[str, list[str]] = {}
        self.found_by_place: dict[str, list[str]] = {}
        for finding in findings:
            for call in finding.calls:
                self.found_by_call.setdefault(call, []).append(finding.rule)
            if not finding.calls:
                self.found_by_place.setdefault(finding.place, []).append(finding.rule)

    def tell(self) -> Story:
        parts: list[Part] = []
        turn = 0
        for index, slot in enumerate(self.view.slots):
            unit = self.view.unit(index)
            if slot.kind is SlotKind.SAID and type(unit) is Said and unit.authority is Authority.PERSON:
                turn += 1
            if unit is not None or slot.blocks:
                parts.append(self._part(slot, unit, self.view.decisions(index), turn))
        document = self.document
        return Story(
            name=document.name,
            format=document.format,
            route=document.route,
            system=self._clip(document.system),
            tools=len(document.tools),
            parts=parts,
            notes=[self._clip(str(note)) for note in document.notes],
            about_request=_counted(decision_line(item) for item in self.projected if not item.calls),
        )

    def _part(self, slot: Slot, unit: Unit | None, decisions: Sequence[Decision], turn: int) -> Part:
        place = self.place(slot.first)
        pieces = list(self._pieces(slot, unit, decisions))
        shown = {piece.call.id for piece in pieces if piece.call is not None}
        general = [decision for decision in decisions if not shown.intersection(decision.calls)]
        found = [rule for item in general for call in item.calls for rule in self.found_by_call.get(call, [])]
        labels = [*map(_label, general), *found, *self.found_by_place.get(place, [])]
        return Part(
            turn=turn,
            speaker=_speaker(slot),
            place=place,
            model=(slot.origin.served or slot.origin.asked) if slot.origin else "",
            pieces=pieces,
            decisions=[self._clip(decision_line(decision)) for decision in general],
            labels=list(dict.fromkeys(labels)),
            is_shown=unit is not None,
        )

    def _pieces(self, slot: Slot, unit: Unit | None, decisions: Sequence[Decision]) -> Iterator[Piece]:
        completions = {done.call_id: done for done in unit.completions} if type(unit) is Exchange else {}
        # What a request leaves out is still worth seeing, so the slot's own blocks are shown where there is no unit.
        blocks: Iterable[AnswerBlock] = slot.blocks if type(unit) is not Said else unit.blocks
        for block in blocks:
            match block:
                case Text():
                    if block.text.strip():
                        yield Piece(kind="text", text=self._clip(block.text))
                case Thinking():
                    yield Piece(kind="thinking", text=self._clip(block.text) or "[not readable]")
                case Media():
                    yield Piece(kind="media", text=_media(block))
                case Code():
                    yield Piece(kind="code", text=self._clip(block.code))
                case HostedTool():
                    yield Piece(kind="hosted", text=f"{block.name} {self._json(block.arguments)}")
                case ToolCall():
                    call = self.talk.ledger.calls.get(block.id)
                    if call is not None:
                        yield Piece(kind="call", call=self._call(block, call, completions.get(block.id), decisions))

    def _call(self, block: ToolCall, call: Call, done: Completion | None, decisions: Sequence[Decision]) -> CallStory:
        mine = [item for item in [*decisions, *self.projected] if call.id in item.calls]
        labels = [*map(_label, mine), *self.found_by_call.get(str(call.id), [])]
        return CallStory(
            id=call.id,
            name=call.name,
            arguments=self._clip(block.raw) if block.raw else self._json(block.arguments),
            wire_id=call.wire_id,
            sent_id=self.sent.get(call.id, ""),
            state=call.state.value,
            completion=done.kind.value if done else "left out",
            reason=done.reason.value if done and done.reason else "",
            result=self._clip(completion_text(done)) if done else "",
            result_place=self.place(call.response_seq),
            decisions=[self._clip(decision_line(item)) for item in dict.fromkeys(mine)],
            labels=list(dict.fromkeys(labels)),
        )

    def _json(self, value: Json) -> str:
        return self._clip(msgspec.json.encode(self.redactor.value(value)).decode())

    def _clip(self, text: str) -> str:
        """`text` without secrets, cut to the limit; a secret that the cut would halve is hidden before it."""
        if len(text) <= self.limit:
            return self.redactor.text(text)
        kept = self.redactor.text(text[: self.limit + 1_000])[: self.limit]
        return f"{kept}… [{len(text) - self.limit:,} more characters]"


def _is_of_target(decision: Decision) -> bool:
    """Whether a decision was made for the target, and is not one that the conversation itself shows."""
    return decision.fault is Fault.PROJECTION or decision.action is Action.COMPACTED


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


def _counted(lines: Iterable[str]) -> list[str]:
    counts: dict[str, int] = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    return [line if count == 1 else f"{line} ({count} times)" for line, count in counts.items()]
