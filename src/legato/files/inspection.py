"""A conversation as a person reads it: entry by entry, each call with its state, its ids and what was decided about it.

In:  a file, and the target to render it for, if that is of interest too.
Out: an `Inspection`: plain data, clipped and without secrets, for the terminal and for the page alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from legato.diagnostics import Redactor
from legato.diagnostics.as_lines import decision_line
from legato.files.inspected import LIMIT, InspectedBlock, InspectedCall, InspectedEntry, Inspection
from legato.files.sources import Progress, Source, pick_document
from legato.formats import Document, Finding, lint_document, read_all, request_for
from legato.formats.document import fold_notes
from legato.formats.faults import EVERYTHING, places_of
from legato.formats.targets import find_target, own_targets
from legato.ledger import Call
from legato.model import (
    Action,
    Authority,
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


def inspect(
    source: Source,
    *,
    target: str | None = None,
    pick: int | None = None,
    limit: int = LIMIT,
    format: str | None = None,  # noqa: A002  # a format is a format
    name: str = "",
    progress: Progress | None = None,
) -> Inspection:
    """The conversation in `source`, with the findings of `lint`; secrets are hidden.

    With `target`, a provider or a route, it is rendered for that: calls have the ids that the target sees, and what was
    decided for it is told. `pick` is the number, from 1, of the conversation in a file that holds several. Texts are
    cut at `limit` characters, which is said where they are. Raises `FormatError` for what cannot be read,
    `SeveralConversations`, `UnknownTarget`.
    """
    if target is not None:
        find_target(target)  # says what is wrong with a name before a large file is read
    document = pick_document(read_all(source, format=format, name=name, progress=progress), pick)
    request = None if target is None else render_document(document, target)
    return inspect_document(document, target=target, request=request, limit=limit)


def render_document(document: Document, target: str | None) -> Request:
    """The request that is made of `document` for `target`, or for the provider that it was written for."""
    name = target or own_targets(document)[0]
    return request_for(document, find_target(name, document=document))[0]


def inspect_document(
    document: Document,
    *,
    target: str | None = None,
    request: Request | None = None,
    redactor: Redactor | None = None,
    limit: int = LIMIT,
) -> Inspection:
    """The inspection of `document`, linted for `target`, with the ids and decisions of `request`."""
    findings = lint_document(document, *([target] if target else ()))
    return _Inspector(document, request, findings, redactor or Redactor(), limit).inspect()


class _Inspector:
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

    def inspect(self) -> Inspection:
        entries: list[InspectedEntry] = []
        turn = 0
        for index, slot in enumerate(self.view.slots):
            unit = self.view.unit(index)
            if slot.kind is SlotKind.SAID and type(unit) is Said and unit.authority is Authority.PERSON:
                turn += 1
            if unit is not None or slot.blocks:
                entries.append(self._entry(slot, unit, self.view.decisions(index), turn))
        document = self.document
        return Inspection(
            name=document.name,
            format=document.format,
            route=document.route,
            system=self._clip(document.system),
            tools=len(document.tools),
            entries=tuple(entries),
            notes=tuple(self._clip(str(note)) for note in fold_notes(document.not_carried)),
            about_request=_counted(decision_line(item) for item in self.projected if not item.calls),
        )

    def _entry(self, slot: Slot, unit: Unit | None, decisions: Sequence[Decision], turn: int) -> InspectedEntry:
        place = self.place(slot.first)
        blocks = tuple(self._blocks(slot, unit, decisions))
        shown = {block.call.id for block in blocks if block.call is not None}
        general = [decision for decision in decisions if not shown.intersection(decision.calls)]
        found = [rule for item in general for call in item.calls for rule in self.found_by_call.get(call, [])]
        labels = [*map(_label, general), *found, *self.found_by_place.get(place, [])]
        return InspectedEntry(
            turn=turn,
            speaker=_speaker(slot),
            place=place,
            model=(slot.origin.served or slot.origin.asked) if slot.origin else "",
            blocks=blocks,
            decisions=tuple(self._clip(decision_line(decision)) for decision in general),
            labels=tuple(dict.fromkeys(labels)),
            is_shown=unit is not None,
        )

    def _blocks(self, slot: Slot, unit: Unit | None, decisions: Sequence[Decision]) -> Iterator[InspectedBlock]:
        completions = {done.call_id: done for done in unit.completions} if type(unit) is Exchange else {}
        # What a request leaves out is still worth seeing, so the slot's own blocks are shown where there is no unit.
        blocks: Iterable[AnswerBlock] = slot.blocks if type(unit) is not Said else unit.blocks
        for block in blocks:
            match block:
                case Text():
                    if block.text.strip():
                        yield InspectedBlock(kind="text", text=self._clip(block.text))
                case Thinking():
                    yield InspectedBlock(kind="thinking", text=self._clip(block.text) or "[not readable]")
                case Media():
                    yield InspectedBlock(kind="media", text=_media(block))
                case Code():
                    yield InspectedBlock(kind="code", text=self._clip(block.code))
                case HostedTool():
                    yield InspectedBlock(kind="hosted", text=f"{block.name} {self._json(block.arguments)}")
                case ToolCall():
                    call = self.talk.ledger.calls.get(block.id)
                    if call is not None:
                        yield InspectedBlock(
                            kind="call", call=self._call(block, call, completions.get(block.id), decisions)
                        )

    def _call(
        self, block: ToolCall, call: Call, done: Completion | None, decisions: Sequence[Decision]
    ) -> InspectedCall:
        mine = [item for item in [*decisions, *self.projected] if call.id in item.calls]
        labels = [*map(_label, mine), *self.found_by_call.get(str(call.id), [])]
        return InspectedCall(
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
            decisions=tuple(self._clip(decision_line(item)) for item in dict.fromkeys(mine)),
            labels=tuple(dict.fromkeys(labels)),
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


def _counted(lines: Iterable[str]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    return tuple(line if count == 1 else f"{line} ({count} times)" for line, count in counts.items())
