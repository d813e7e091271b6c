"""What is wrong with the tool calls of a conversation as its file holds it, whoever reads it next.

In:  a document.
Out: faults, each of a kind from a closed set, with its place, the calls it concerns and what repair would do.

The decisions that a render would make say where the file is not as it should be; nothing is rendered here. Which
provider refuses which kind of fault is a table of rule ids: whether that is an error or a risk, and what the provider
says, is with the rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from legato.formats.document import Document
from legato.formats.ids import is_plain_id
from legato.formats.registry import FORMATS
from legato.ledger import Call, CallNews
from legato.model import Action, CallId, Decision, ToolCall
from legato.transcript.conversation import Conversation
from legato.transcript.slots import Slot

EVERYTHING = 2**63
"""a window so large that no compaction holds for it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault. `rules` names the rule that it breaks, by profile or, for all others, by dialect.

    A kind that agents leave out themselves before they send is a risk at most.
    """

    name: str
    repair: str
    rules: dict[str, str]
    is_risk: bool = False


class FileFault(NamedTuple):
    """One fault; `seq` orders faults by where they are."""

    kind: Kind
    seq: int
    place: str
    message: str
    calls: tuple[CallId, ...] = ()
    repair: str = ""


def _rules(chat: str, responses: str, anthropic: str, gemini: str, vercel: str, **profiles: str) -> dict[str, str]:
    # Bedrock's rules are named as those of Claude, whose turns it has.
    converse = {"empty-message": "content-form"}.get(anthropic, anthropic)
    families = {
        "openai_chat": ("openai-chat", chat),
        "openai_responses": ("openai-responses", responses),
        "anthropic": ("anthropic", anthropic),
        "gemini": ("gemini", gemini),
        "vercel": ("vercel", vercel),
        "bedrock": ("bedrock", converse),
    }
    named = {dialect: f"{prefix}/{rule}" for dialect, (prefix, rule) in families.items() if rule}
    return named | {profile: f"{profile}/{rule}" for profile, rule in profiles.items()}


OPEN_CALL = Kind(
    name="open-call",
    repair="puts in a result that says there is none",
    rules=_rules("unanswered-call", "unanswered-call", "unanswered-call", "unanswered-call", "unanswered-call"),
)
LATE_RESULT = Kind(
    name="late-result",
    repair="moves the result to its call",
    rules=_rules("result-too-late", "", "result-too-late", "unanswered-call", "result-too-late"),
)
RESULT_BEFORE_CALL = Kind(
    name="result-before-call",
    repair="moves the result to its call",
    rules=_rules("orphan-result", "orphan-output", "orphan-result", "orphan-response", "orphan-result"),
)
ORPHAN_RESULT = Kind(
    name="orphan-result",
    repair="keeps it, with its call reconstructed or as quoted text",
    rules=_rules("orphan-result", "orphan-output", "orphan-result", "orphan-response", "orphan-result"),
)
UNKNOWN_ID = Kind(
    name="unknown-id",
    repair="gives the result the id of the call that it must belong to",
    rules=_rules("unknown-result", "orphan-output", "unknown-result", "response-id", "unknown-result"),
)
DUPLICATE_RESULT = Kind(
    name="duplicate-result",
    repair="keeps the result that counts and leaves the others out",
    rules=_rules("duplicate-result", "duplicate-output", "duplicate-result", "response-count", "duplicate-result"),
)
DUPLICATE_CALL = Kind(
    name="duplicate-call",
    repair="keeps the call once",
    rules=_rules("duplicate-call-id", "duplicate-call-id", "duplicate-call-id", "unanswered-call", "duplicate-call-id"),
)
SHARED_ID = Kind(
    name="shared-id",
    repair="gives the later call an id of its own",
    rules=_rules("duplicate-call-id", "duplicate-call-id", "duplicate-call-id", "", "duplicate-call-id"),
)
REPEATED_ID = Kind(
    name="repeated-id",
    repair="gives the later call an id of its own",
    rules=_rules("repeated-id", "duplicate-call-id", "repeated-id", "", "repeated-id"),
)
ID_FORM = Kind(
    name="id-form",
    repair="gives the call an id of plain characters",
    rules=_rules("id-form", "call-id-form", "id-form", "", ""),
)
WRONG_SPEAKER = Kind(
    name="wrong-speaker",
    repair="puts it under the speaker that it belongs to",
    rules=_rules("message-form", "", "block-place", "part-place", "part-type"),
)
BLANK_MESSAGE = Kind(
    name="blank-message",
    repair="leaves it out",
    rules=_rules("empty-content", "", "blank-text", "empty-text", "empty-text", kimi="empty-message"),
    is_risk=True,
)
EMPTY_ANSWER = Kind(
    name="empty-answer",
    repair="leaves it out",
    rules=_rules(
        "null-content", "", "empty-message", "no-parts", "", mistral="empty-answer", deepseek="empty-answer",
        kimi="empty-message",
    ),
    is_risk=True,
)  # fmt: skip
UNFINISHED_CALL = Kind(
    name="unfinished-call",
    repair="leaves it out: its arguments break off",
    rules=_rules("arguments", "arguments", "input-form", "args-form", "call-form"),
    is_risk=True,
)

KINDS = (
    OPEN_CALL, LATE_RESULT, RESULT_BEFORE_CALL, ORPHAN_RESULT, UNKNOWN_ID, DUPLICATE_RESULT, DUPLICATE_CALL,
    SHARED_ID, REPEATED_ID, ID_FORM, WRONG_SPEAKER, BLANK_MESSAGE, EMPTY_ANSWER, UNFINISHED_CALL,
)  # fmt: skip

_OF_DECISIONS: dict[tuple[Action, str], Kind] = {
    (Action.MOVED, "late-result"): LATE_RESULT,
    (Action.MOVED, "result-before-call"): RESULT_BEFORE_CALL,
    (Action.RECONSTRUCTED, "result-without-call"): ORPHAN_RESULT,
    (Action.QUOTED, "result-without-call"): ORPHAN_RESULT,
    (Action.MATCHED, "matched-by-place"): UNKNOWN_ID,
    (Action.MATCHED, "matched-by-spelling"): UNKNOWN_ID,
    (Action.DEDUPED, "duplicate-result"): DUPLICATE_RESULT,
    (Action.DEDUPED, "replayed-call"): DUPLICATE_CALL,
    (Action.DROPPED, "blank-message"): BLANK_MESSAGE,
    (Action.DROPPED, "nothing-visible"): EMPTY_ANSWER,
    (Action.DROPPED, "unfinished-call"): UNFINISHED_CALL,
}


def find_faults(document: Document) -> list[FileFault]:
    """Every fault in the calls of `document`, in the order of their places."""
    if document.is_skimmed:
        return []
    talk = document.conversation()
    finder = _Finder(document, talk)
    return sorted(finder.find(), key=lambda fault: fault.seq)


def places_of(document: Document) -> Callable[[int], str]:
    """From the sequence number of a record in the document's conversation to its place in the file."""
    if document.records is not None:
        known = {source - 1: place for source, place in zip(document.sources, document.places, strict=True)}
    else:
        known = dict(enumerate(document.places, document.first_seq))
    return lambda seq: known.get(seq, "")


class _Finder:
    def __init__(self, document: Document, talk: Conversation) -> None:
        self.document = document
        self.ledger = talk.ledger
        self.place = places_of(document)
        self.told: set[CallId] = set()
        self.view = talk.view(EVERYTHING)
        self.view.refresh()
        self.answer_of = {
            block.id: index
            for index, slot in enumerate(self.view.slots)
            for block in slot.blocks
            if isinstance(block, ToolCall)
        }
        """the answer that each call is in"""

    def find(self) -> Iterator[FileFault]:
        for index, slot in enumerate(self.view.slots):
            self.view.unit(index)
            for decision in dict.fromkeys(self.view.decisions(index)):
                yield from self._of_decision(slot, decision)
        yield from self._of_ids()

    def _of_decision(self, slot: Slot, decision: Decision) -> Iterator[FileFault]:
        call = self.ledger.calls.get(decision.calls[0]) if decision.calls else None
        if decision.action is Action.CLOSED and call is not None:
            if call.news is not CallNews.CLOSED:  # else the file holds a result that says there is none
                yield self._fault(OPEN_CALL, call.seq, f"the call {_named(call)} has no result", call, decision.reason)
            return
        if decision.action is Action.REATTRIBUTED:
            if call is not None:
                what, _, who = decision.reason.partition("-under-")
                seq = call.seq if what == "call" else call.response_seq
                message = f"the {what} {_named(call)} stands under the speaker {who!r}"
                yield self._fault(WRONG_SPEAKER, seq, message, call)
            return
        kind = _OF_DECISIONS.get((decision.action, decision.reason))
        if kind is DUPLICATE_RESULT and call is not None:
            yield from self._of_duplicates(call)
        elif kind is not None and call is not None:
            seq = call.response_seq if kind in _ABOUT_RESULTS and call.response_seq >= 0 else call.seq
            yield self._fault(kind, seq, _MESSAGES[kind.name].format(call=_named(call)), call)
        elif kind is not None:
            yield self._fault(kind, slot.first, _MESSAGES[kind.name], None)

    def _of_duplicates(self, call: Call) -> Iterator[FileFault]:
        """All further results of a call, told once although each is a decision."""
        if call.id in self.told:
            return
        self.told.add(call.id)
        for drop in call.dropped:
            message = f"the call {_named(call)} has another result ({drop.rationale})"
            yield self._fault(DUPLICATE_RESULT, drop.seq, message, call)

    def _of_ids(self) -> Iterator[FileFault]:
        """Ids that a provider may stumble over, though we never do."""
        known = FORMATS.get(self.document.format)
        is_mended = known is not None and known.plain_ids
        seen: dict[str, int | None] = {}
        for call in self.ledger.in_order:
            if call.id in self.ledger.orphans:
                continue
            answer = self.answer_of.get(call.id)
            if call.wire_id in seen and answer is not None and seen[call.wire_id] == answer:
                message = f"the id of the call {_named(call)} is that of another call of the same answer"
                yield self._fault(SHARED_ID, call.seq, message, call)
            elif call.wire_id in seen:
                message = f"the id of the call {_named(call)} was used by an earlier call"
                yield self._fault(REPEATED_ID, call.seq, message, call)
            elif is_mended and not is_plain_id(call.wire_id):
                is_missing = not call.wire_id
                problem = "has no id" if is_missing else "has an id that is not made of plain characters"
                message = f"the call {call.name if is_missing else _named(call)} {problem}"
                yield self._fault(ID_FORM, call.seq, message, call)
            if call.wire_id:
                seen[call.wire_id] = answer
            if is_mended and call.wire_id and call.response is not None and not call.response.wire_id:
                message = f"a result without an id can only belong to the call {_named(call)}"
                yield self._fault(UNKNOWN_ID, call.response_seq, message, call)

    def _fault(self, kind: Kind, seq: int, message: str, call: Call | None, reason: str = "") -> FileFault:
        repair = f"{kind.repair} ({reason})" if reason else kind.repair
        return FileFault(kind, seq, self.place(seq), message, (call.id,) if call is not None else (), repair)


_ABOUT_RESULTS = (LATE_RESULT, RESULT_BEFORE_CALL, ORPHAN_RESULT, UNKNOWN_ID)

_MESSAGES = {
    "late-result": "the result of the call {call} does not follow it directly",
    "result-before-call": "the result of the call {call} stands before it",
    "orphan-result": "the result {call} has no call",
    "unknown-id": "a result with an unknown id can only belong to the call {call}",
    "duplicate-call": "the call {call} stands here twice",
    "blank-message": "a message without any visible text",
    "empty-answer": "an answer without any visible text or call",
    "unfinished-call": "the arguments of the call {call} break off",
}


def _named(call: Call) -> str:
    name = call.wire_id or "without an id"
    return f"{name} of {call.name}" if call.name else name
