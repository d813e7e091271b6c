"""What is true of each call: a fold over the log.

The ledger is keyed by our own call ids. For each call it holds the arguments, what was said about running it, and the
one completion that counts; responses that lost against a better one are kept with the rationale. It holds nothing that
the log does not: `Ledger.replay(log)` rebuilds it exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from msgspec import Struct
from msgspec.structs import replace

from legato.ledger.completions import Completion, CompletionKind
from legato.ledger.evidence import Evidence, evidence_of, says_the_same
from legato.ledger.states import RANK, CallNews, CallState, infer, next_state
from legato.model import CallId, ClosureReason, Ending, Entry, JsonObject, Origin, ToolCall, ToolResponse
from legato.model.records import (
    Answered,
    Asked,
    ContentRefused,
    Imported,
    Opened,
    ReasoningRefused,
    Record,
    Recorded,
    Started,
    StepBegan,
    Verdict,
)

_FINISHED, _FAILED = CallNews.FINISHED, CallNews.FAILED
_SUCCESS, _ERROR = CompletionKind.SUCCESS, CompletionKind.ERROR
_PENDING, _COMPLETE = CallState.PENDING, CallState.COMPLETE
_NAMED = Evidence.NAMED


class Dropped(NamedTuple):
    """A response that does not count, the record that holds it, and why."""

    seq: int
    response: ToolResponse
    rationale: str


class Call(Struct, gc=False):
    """What is true of one call. Read it; only the ledger writes it.

    `seq` is the record that holds the call, or, for a call that was never seen, its result. `incarnation` is the one of
    the session in which it was recorded (0 where no session keeps the log), `started` the one in which the tool was
    started. `response` is the response that counts, `completion` its outcome (None while the call is pending),
    and `is_odd` says that there is something to tell about how it was found. `frozen` is the reason that was sent to a
    provider while there was no completion.
    """

    id: CallId
    ordinal: int
    wire_id: str
    name: str
    arguments: JsonObject
    seq: int
    ending: Ending | None
    incarnation: int
    imported: bool
    namespace: str = ""
    state: CallState = CallState.PENDING
    response: ToolResponse | None = None
    response_seq: int = -1
    completion: Completion | None = None
    dropped: Sequence[Dropped] = ()
    is_odd: bool = False
    asked: str | None = None
    answered: Answered | None = None
    started: int | None = None
    frozen: ClosureReason | None = None

    @property
    def news(self) -> CallNews | None:
        """What the response that counts tells; None if there is none."""
        return infer(self.response) if self.response is not None else None

    @property
    def evidence(self) -> Evidence:
        """How the response that counts is known to belong here."""
        return _NAMED if self.response is None else evidence_of(self.response, self.id, self.wire_id)

    def drop(self, seq: int, response: ToolResponse, rationale: str) -> None:
        """A response of this call does not count."""
        if not isinstance(self.dropped, list):
            self.dropped = list(self.dropped)
        self.dropped.append(Dropped(seq, response, rationale))
        self.is_odd = True

    @property
    def is_settled(self) -> bool:
        """Whether the call has a completion of its own: real or cancelled."""
        return self.state is not CallState.PENDING

    @property
    def words(self) -> str | None:
        """The user's own words about a call that did not run."""
        answered, response = self.answered, self.response
        if answered is not None and answered.verdict is Verdict.DENIED and answered.reason:
            return answered.reason
        return response.said if response is not None else None

    def __repr__(self) -> str:
        return f"Call({self.id}, {self.name!r}, {self.state.value})"


class Ledger:
    """Every call of one log, by id and in the order of their ordinals."""

    def __init__(self) -> None:
        self.calls: dict[CallId, Call] = {}
        self.in_order: list[Call] = []
        """by ordinal: what id projection is computed from"""
        self.pending: dict[CallId, Call] = {}
        """those without a completion of their own; no one has to look through all calls to find them"""
        self.orphans: dict[CallId, Call] = {}
        """results that came without a call, under the name that was minted for them"""
        self.adopted: dict[CallId, CallId] = {}
        """orphans whose call came after all, with the id of that call"""
        self.lent: dict[CallId, Call] = {}
        """the same orphans as they were before that, for the case that the call gets a result that names it"""
        self.incarnation = 0
        self.refused_origins: tuple[Origin, ...] = ()
        self.refused_content: dict[str, frozenset[CallId]] = {}
        """by provider, the calls whose media it refused"""
        self.importing = 0
        """how many of the next entries come from a file"""

    @classmethod
    def replay(cls, log: Iterable[Record]) -> Ledger:
        """The ledger of `log`."""
        ledger = cls()
        for seq, record in enumerate(log):
            ledger.apply(seq, record)
        return ledger

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def apply(self, seq: int, record: Record) -> None:
        """Take the record with sequence number `seq`; cannot fail for a record that was prepared."""
        match record:
            case Recorded():
                self.enter(seq, record.entry)
            case Started():
                if call := self.calls.get(record.call):
                    call.started = self.incarnation
            case Asked():
                if call := self.calls.get(record.call):
                    call.asked = record.digest
            case Answered():
                call = self.calls.get(record.call)
                # A bare "no" after a reasoned one must not lose the reason.
                if call and not (call.answered and call.answered.reason and _is_bare_denial(record)):
                    call.answered = record
            case StepBegan():
                for call_id, reason in record.closures.items():
                    if call := self.calls.get(call_id):
                        call.frozen = call.frozen or reason
            case Opened():
                self.incarnation = record.incarnation
                self.importing = 0
            case Imported():
                self.importing = record.entries
            case ReasoningRefused() | ContentRefused():
                self._note_refusal(record)
            case _:
                pass  # turns, routes and compactions say nothing about a call

    def _note_refusal(self, record: ReasoningRefused | ContentRefused) -> None:
        if isinstance(record, ContentRefused):
            known = self.refused_content.get(record.provider, frozenset())
            self.refused_content[record.provider] = known | frozenset(record.calls)
        elif record.origin not in self.refused_origins:
            self.refused_origins = (*self.refused_origins, record.origin)

    def enter(self, seq: int, entry: Entry) -> None:
        """Take an entry: most records are one."""
        imported = self.importing > 0
        if imported:
            self.importing -= 1
        calls, pending = self.calls, self.pending
        for block in entry.blocks:
            if type(block) is ToolResponse:
                result = block.result
                if result is None or block.error is not None or block.reason is not None or block.guessed:
                    self._respond(seq, block, imported)
                    continue
                call_id = block.call_id
                call = pending.pop(call_id, None)  # it has a result now, and is pending no longer
                if call is None or call.response is not None or call.answered is not None or self.adopted:
                    self._respond(seq, block, imported)
                    continue
                # The first result, and nothing else to know about it, as nearly always: `_respond` would do the same.
                call.state, call.response, call.response_seq = _COMPLETE, block, seq
                call.completion = Completion(call_id, _SUCCESS, result, None, block.media)
            elif type(block) is ToolCall:
                call_id = block.id
                if call_id in calls:
                    continue  # a replay within its answer
                call = calls[call_id] = pending[call_id] = Call(
                    call_id,
                    block.ordinal,
                    block.wire_id,
                    block.name,
                    block.arguments,
                    seq,
                    entry.ending,
                    self.incarnation,
                    imported,
                    block.namespace,
                )
                self.in_order.append(call)
                if block.adopts is not None:
                    self._take_over(call, block.adopts)

    def _take_over(self, call: Call, name: CallId) -> None:
        """The call of a result that was recorded before it has come: the result is at `name` so far."""
        orphan, other = self.orphans.pop(name, None), self.calls.get(name)
        if orphan is not None:
            self._adopt(call, orphan)
        elif other is not None and other.response is not None and other.evidence is not _NAMED:
            self._hand_over(other, call)

    def _adopt(self, call: Call, orphan: Call) -> None:
        """What is known of a result that came alone is true of its call."""
        del self.calls[orphan.id]
        self.pending.pop(orphan.id, None)
        self.adopted[orphan.id] = call.id
        self.lent[orphan.id] = orphan
        call.state, call.response, call.response_seq = orphan.state, orphan.response, orphan.response_seq
        call.dropped = tuple(orphan.dropped)
        call.completion = orphan.completion and replace(orphan.completion, call_id=call.id)
        call.is_odd = orphan.is_odd
        if call.is_settled:
            del self.pending[call.id]

    def _respond(self, seq: int, response: ToolResponse, imported: bool) -> None:
        call_id = self.adopted.get(response.call_id, response.call_id)
        call = self.calls.get(call_id)
        if call is None:
            call = self._new_orphan(seq, call_id, response, imported)
        if response.displaces is not None and call.response is not None:
            self._displace(call, response.displaces, response.ordinal)
        self._take(call, seq, response)

    def _take(self, call: Call, seq: int, response: ToolResponse) -> None:
        """Let `response` count for `call`, unless another one counts before it."""
        news = infer(response)
        if news is None:
            return
        if call.response is not None and not _is_better(seq, call, response, news):
            return
        call.state = next_state(call.state, news)
        call.response, call.response_seq = response, seq
        call.completion = _completion(call, response, news)
        if call.dropped or call.evidence is not _NAMED:
            call.is_odd = True
        if call.state is not _PENDING:
            self.pending.pop(call.id, None)

    def _displace(self, call: Call, to: CallId, ordinal: int) -> None:
        """Take from `call` the result that was guessed or adopted: it goes to another call or to a name of its own."""
        guess, seq = cast(ToolResponse, call.response), call.response_seq
        if call.evidence is _NAMED or to == call.id:
            return  # another one counts by now
        other = self.calls.get(to)
        if self.adopted.get(to) == call.id:
            other = self.lent[to]
            if other.response is not guess:
                return
            del self.adopted[to], self.lent[to]
            self.calls[to] = self.orphans[to] = other
            call.dropped = call.dropped[len(other.dropped) :]
        elif other is None:
            other = Call(to, ordinal, guess.wire_id, guess.tool_name, {}, seq, None, call.incarnation, call.imported)
            self.calls[to] = self.orphans[to] = other
            self.in_order.append(other)
        self._hand_over(call, other)

    def _hand_over(self, call: Call, to: Call) -> None:
        """The guess that counted for `call` goes to another one, with its repetitions; `call` is open again."""
        guess, seq = cast(ToolResponse, call.response), call.response_seq
        repeated: list[Dropped] = []
        others: list[Dropped] = []
        for drop in call.dropped:
            is_named = evidence_of(drop.response, call.id, call.wire_id) is _NAMED
            (others if is_named or not says_the_same(drop.response, guess) else repeated).append(drop)
        call.dropped = others or ()
        call.state, call.response, call.response_seq, call.completion = _PENDING, None, -1, None
        call.is_odd = bool(call.dropped)
        self.pending[call.id] = call
        if to.response is not guess:
            self._take(to, seq, guess)
        for drop in repeated:
            to.drop(*drop)

    def _new_orphan(self, seq: int, call_id: CallId, response: ToolResponse, imported: bool) -> Call:
        names = call_id, response.ordinal, response.wire_id, response.tool_name
        call = Call(*names, {}, seq, None, self.incarnation, imported)
        self.calls[call_id] = self.orphans[call_id] = self.pending[call_id] = call
        self.in_order.append(call)
        return call

    def closure_reason(self, call: Call) -> ClosureReason:
        """Why `call` has no completion: a function of records alone.

        What was once sent stays what is sent. After that the strongest fact counts: a verdict, a start, what an
        imported transcript says, and only then that nothing is known.
        """
        if call.frozen is not None:
            return call.frozen
        if call.answered is not None and (reason := _OF_VERDICT.get(call.answered.verdict)):
            return reason
        if call.started is not None:
            is_running = call.started == self.incarnation
            return ClosureReason.IN_FLIGHT if is_running else ClosureReason.INTERRUPTED
        if call.response is not None and call.response.reason is not None:
            return call.response.reason
        if call.ending in (Ending.CUT, Ending.CANCELLED):
            return ClosureReason.NOT_STARTED
        if call.imported:
            return ClosureReason.MISSING_IN_IMPORT
        # Where a session keeps the log, every start is in it; in someone's own loop no one noted one.
        return ClosureReason.NOT_STARTED if call.incarnation else ClosureReason.NO_RESULT


def _is_better(seq: int, call: Call, response: ToolResponse, news: CallNews) -> bool:
    """Whether `response` counts before the one that counted so far; the other one is dropped, with the reason."""
    holder, before = cast(ToolResponse, call.response), cast(CallNews, call.news)
    is_guess, was_guess = (evidence_of(one, call.id, call.wire_id) >= Evidence.RESPELLED for one in (response, holder))
    if (RANK[news], is_guess) < (RANK[before], was_guess):
        why = f"{news.value} stands before {before.value}" if news is not before else "it was a guess"
        call.drop(call.response_seq, holder, why)
        return True
    if news is not before:
        why = f"{before.value} stands before {news.value}"
    else:
        why = "repeated" if says_the_same(holder, response) else "another result of the call came first"
    call.drop(seq, response, why)
    return False


def _completion(call: Call, response: ToolResponse, news: CallNews) -> Completion | None:
    """The completion that `response` gives. A closure that was written down gives none: the call is pending."""
    if news is _FINISHED or news is _FAILED:
        kind = _SUCCESS if news is _FINISHED else _ERROR
        if call.answered is None:
            return Completion(call.id, kind, response.result, response.error, response.media)
        edited = call.answered.arguments if call.answered.verdict is Verdict.ALLOWED else None
        return Completion(call.id, kind, response.result, response.error, response.media, ran_with=edited)
    if news is CallNews.CANCELLED:
        reason, words = response.reason, call.words
        return Completion(call.id, CompletionKind.CANCELLED, response.result, reason=reason, said=words)
    return None


_OF_VERDICT = {
    Verdict.DENIED: ClosureReason.DENIED,
    Verdict.UNAVAILABLE: ClosureReason.APPROVAL_UNAVAILABLE,
    Verdict.TIMED_OUT: ClosureReason.APPROVAL_UNAVAILABLE,
}


def _is_bare_denial(record: Answered) -> bool:
    return record.verdict is Verdict.DENIED and not record.reason
