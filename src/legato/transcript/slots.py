"""A place in the view: what one unit is made of, before it is made.

A slot collects the blocks that belong together (a human entry, one answer of the model, a result without a call) as
the log grows, and makes its unit from them and from the ledger when someone asks. It is made again only if news
touches it: then its revision grows.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from legato.ledger import Call, Evidence, Ledger
from legato.model import (
    BROKEN_OFF,
    Action,
    Authority,
    CallId,
    Code,
    Decision,
    Ending,
    Fault,
    HostedTool,
    Media,
    Origin,
    PrefixCause,
    Text,
    Thinking,
    ToolCall,
)
from legato.model.enums import FastStrEnum
from legato.model.native import caller_of, halves, judge_native, record_call
from legato.transcript.units import (
    AnswerBlock,
    Completion,
    CompletionKind,
    Exchange,
    Said,
    SaidBlock,
    Summary,
    Unit,
    completion_text,
)


class SlotKind(FastStrEnum):
    """What a slot becomes."""

    SAID = "said"
    ANSWER = "answer"
    ORPHANS = "orphans"
    """results whose calls were never seen, all with the tool's name or all without"""
    SUMMARY = "summary"


class Slot(Struct, eq=False, gc=False):
    """One place in the view. `first` is the record that it began with; a summary stands for all up to `last`.

    `moved` are the calls whose completion was elsewhere in the log, with the reason code; `notes` is what was decided
    when the blocks were placed; `cause` says why the slot last changed after its unit was first made.
    """

    kind: SlotKind
    first: int
    last: int
    blocks: list[AnswerBlock] | tuple[AnswerBlock, ...]
    """those of its entry; a list as soon as one is added"""
    authority: Authority = Authority.PERSON
    origin: Origin | None = None
    ending: Ending | None = None
    answer: str | None = None
    moved: dict[CallId, str] | None = None
    notes: list[Decision] | None = None
    told: set[str] | None = None
    """the ids of records of the provider's own tools that can no longer go back: they are told as text"""
    unit: Unit | None = None
    decisions: tuple[Decision, ...] = ()
    is_stale: bool = True
    revision: int = 0
    cause: PrefixCause | None = None
    part: int = 0
    """which one it is of the slots that began with the same record"""

    def add(self, block: AnswerBlock) -> None:
        """One more block belongs here."""
        if not isinstance(self.blocks, list):
            self.blocks = list(self.blocks)
        self.blocks.append(block)

    def note(self, decision: Decision) -> None:
        """Something was decided about where a block is."""
        if self.notes is None:
            self.notes = []
        self.notes.append(decision)

    def move(self, call: CallId, reason: str) -> None:
        """The completion of `call` was elsewhere in the log; what was first found out about it counts."""
        if self.moved is None:
            self.moved = {}
        self.moved.setdefault(call, reason)

    def tell(self, ids: Iterable[str]) -> None:
        """Records with these ids can no longer go back."""
        self.told = (self.told or set()).union(ids)

    def touch(self, cause: PrefixCause) -> bool:
        """News concerns this slot; whether its unit had already been made."""
        was_made = not self.is_stale
        if was_made:
            self.is_stale = True
            self.revision += 1
            self.cause = cause
        return was_made

    def is_same_as(self, other: Slot) -> bool:
        """Whether both hold the same, so that their units come out the same."""
        return (
            tuple(self.blocks) == tuple(other.blocks)
            and self.moved == other.moved
            and self.ending == other.ending
            and self.told == other.told
        )

    def make(self, ledger: Ledger) -> Unit | None:
        """The unit of this slot as things are; None if there is nothing to say."""
        if self.is_stale:
            self.unit, self.decisions = _MAKERS[self.kind](self, ledger)
            self.is_stale = False
        return self.unit


def summary_slot(text: str, first: int, last: int) -> Slot:
    """The slot that stands for covered ones."""
    return Slot(SlotKind.SUMMARY, first, last, (), unit=Summary(first, text), is_stale=False)


# --- said -------------------------------------------------------------------------------------------------------------


def _make_said(slot: Slot, ledger: Ledger) -> tuple[Unit | None, tuple[Decision, ...]]:
    if len(slot.blocks) == 1 and type(text := slot.blocks[0]) is Text and not slot.notes and not _is_blank(text):
        return Said(slot.first, (text,), slot.authority, slot.part), ()
    blocks: list[SaidBlock] = []
    for block in slot.blocks:
        if type(block) is Text:
            if block.text and not block.text.isspace():
                blocks.append(block)
        elif type(block) is Media or type(block) is Code:
            blocks.append(block)
    notes = tuple(slot.notes) if slot.notes else ()
    if not blocks:
        return None, (*notes, Decision(Action.DROPPED, "blank-message", Fault.CANONICAL))
    return Said(slot.first, tuple(blocks), slot.authority, slot.part), notes


_CUT, _CANCELLED, _REFUSED = BROKEN_OFF

# --- answers ----------------------------------------------------------------------------------------------------------


def _make_exchange(slot: Slot, ledger: Ledger) -> tuple[Unit | None, tuple[Decision, ...]]:
    """The exchange of an answer. About nearly all there is nothing to decide: text, and calls that were answered."""
    if slot.notes or slot.moved or (slot.ending is not None and slot.ending in BROKEN_OFF):
        return _decide_exchange(slot, ledger)
    calls = ledger.calls
    completions: list[Completion] = []
    for block in slot.blocks:
        if type(block) is ToolCall:
            call = calls[block.id]
            completion = call.completion
            if completion is None or call.is_odd:
                return _decide_exchange(slot, ledger)
            completions.append(completion)
    unit = Exchange(slot.first, tuple(slot.blocks), tuple(completions), slot.origin, part=slot.part)
    return (unit, ()) if unit.outputs is not None else _decide_exchange(slot, ledger)


def _decide_exchange(slot: Slot, ledger: Ledger) -> tuple[Unit | None, tuple[Decision, ...]]:
    """The exchange of an answer that needs decisions: about calls without an end, or what cannot go back."""
    decisions: list[Decision] = list(slot.notes) if slot.notes else []
    blocks: list[AnswerBlock] = []
    completions: list[Completion] = []
    ending = slot.ending
    is_cut = ending is _CUT or ending is _CANCELLED
    is_refused = ending is _REFUSED
    is_visible = False
    dialect = slot.origin.dialect if slot.origin is not None else ""
    for block in slot.blocks:
        if block.native is not None:
            block = _replayable(block, dialect, slot, decisions)
        if type(block) is ToolCall:
            call = ledger.calls[block.id]
            completion = call.completion
            if completion is None and (is_refused or not block.finished):
                decisions.append(_dropped("refused-answer" if is_refused else "unfinished-call", call.id))
                continue
            if completion is None or call.is_odd or slot.moved:
                completion = _completion(call, ledger, slot, decisions)
            blocks.append(block)
            completions.append(completion)
            is_visible = True
        elif is_refused:
            continue
        elif type(block) is Thinking:
            if block.native or not is_cut:
                blocks.append(block)
        elif type(block) is not Text or block.native or not _is_blank(block):
            blocks.append(block)
            is_visible = True
    if is_cut:
        while blocks and type(blocks[-1]) is Thinking:  # reasoning without what it led to
            blocks.pop()
    if is_refused and not blocks:
        decisions.append(Decision(Action.DROPPED, "refused-answer", Fault.RENDERING))
    if not is_visible:
        if not is_refused:
            decisions.append(Decision(Action.DROPPED, "nothing-visible", Fault.CANONICAL))
        return None, tuple(decisions)
    return Exchange(slot.first, tuple(blocks), tuple(completions), slot.origin, part=slot.part), tuple(decisions)


def _replayable(block: AnswerBlock, dialect: str, slot: Slot, decisions: list[Decision]) -> AnswerBlock:
    """`block` with what its provider takes back."""
    judged, malformed = judge_native(block, dialect)
    if malformed:
        calls = (block.id,) if type(block) is ToolCall else ()
        detail = f"{', '.join(malformed)}: not of the form in which the provider gives it out"
        decisions.append(Decision(Action.DROPPED, "malformed-native", Fault.CANONICAL, detail, calls))
    if not slot.told:
        return judged
    if type(judged) is HostedTool and slot.told & {*halves(judged).waiting, record_call(judged)}:
        detail = f"{judged.name} was never done, or another call has its id"
        decisions.append(Decision(Action.DROPPED, "stale-record", Fault.RENDERING, detail))
        return replace(judged, native=None)
    if type(judged) is ToolCall and caller_of(judged) in slot.told:
        return replace(judged, native=None)  # to its provider, what called it is not there
    return judged


def _completion(call: Call, ledger: Ledger, slot: Slot, decisions: list[Decision]) -> Completion:
    """The completion of a call about which there is something to decide: it has none, or others lost against it."""
    decisions += _duplicates(call)
    completion, response = call.completion, call.response
    if completion is not None:
        if slot.moved is not None and call.id in slot.moved:
            decisions.append(Decision(Action.MOVED, slot.moved[call.id], Fault.CANONICAL, calls=(call.id,)))
        if response is not None and call.id not in ledger.orphans:
            evidence = call.evidence
            if evidence >= Evidence.RESPELLED:
                reason = "matched-by-order" if not response.wire_id else _MATCHED[evidence]
                decisions.append(Decision(Action.MATCHED, reason, Fault.CANONICAL, calls=(call.id,)))
        return completion
    reason = ledger.closure_reason(call)
    decisions.append(Decision(Action.CLOSED, reason.value, Fault.RENDERING, calls=(call.id,)))
    output = response.result if response is not None else None
    return Completion(call.id, CompletionKind.SYNTHETIC, output, reason=reason, said=call.words)


_MATCHED = {Evidence.RESPELLED: "matched-by-spelling", Evidence.PLACE: "matched-by-place"}


def _duplicates(call: Call) -> list[Decision]:
    return [
        Decision(Action.DEDUPED, "duplicate-result", Fault.CANONICAL, drop.rationale, (call.id,))
        for drop in call.dropped
    ]


# --- results without a call -------------------------------------------------------------------------------------------


def _make_orphans(slot: Slot, ledger: Ledger) -> tuple[Unit | None, tuple[Decision, ...]]:
    """A reconstructed exchange where the tool's name is known, else a quotation; nothing once the call was found."""
    decisions = list(slot.notes) if slot.notes else []
    calls: list[ToolCall] = []
    completions: list[Completion] = []
    quotes: list[SaidBlock] = []
    for block in slot.blocks:
        if type(block) is not ToolCall or (orphan := ledger.orphans.get(block.id)) is None:
            continue  # its call came after all, and has it
        if orphan.name:
            calls.append(block)
            completions.append(_completion(orphan, ledger, slot, decisions))
            decisions.append(Decision(Action.RECONSTRUCTED, "result-without-call", Fault.CANONICAL, calls=(orphan.id,)))
        else:
            decisions += _duplicates(orphan)
            completion = _completion(orphan, ledger, slot, [])
            quotes += quotation(completion)
            decisions.append(Decision(Action.QUOTED, "result-without-call", Fault.CANONICAL, calls=(orphan.id,)))
    if calls:
        return Exchange(slot.first, tuple(calls), tuple(completions), part=slot.part), tuple(decisions)
    return (Said(slot.first, tuple(quotes), part=slot.part) if quotes else None), tuple(decisions)


def quotation(completion: Completion) -> list[SaidBlock]:
    """A result whose call nobody can see, as what it is."""
    text = f"[Result of a tool call that is not in this conversation]\n{completion_text(completion)}"
    return [Text(text), *completion.media]


def orphan_call(orphan: Call) -> ToolCall:
    """The call that a result without one must have answered, as far as it can be known."""
    return ToolCall(orphan.name, {}, orphan.wire_id, id=orphan.id, ordinal=orphan.ordinal)


def _is_blank(block: Text) -> bool:
    return not block.text or block.text.isspace()


def _dropped(reason: str, call_id: CallId) -> Decision:
    return Decision(Action.DROPPED, reason, Fault.RENDERING, calls=(call_id,))


def _made_already(slot: Slot, ledger: Ledger) -> tuple[Unit | None, tuple[Decision, ...]]:
    return slot.unit, slot.decisions


_MAKERS = {
    SlotKind.SAID: _make_said,
    SlotKind.ANSWER: _make_exchange,
    SlotKind.ORPHANS: _make_orphans,
    SlotKind.SUMMARY: _made_already,
}
