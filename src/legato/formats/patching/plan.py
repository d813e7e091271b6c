"""What has to change in a session file so that every call has one result, where the file's agent wants it.

In:  a document that knows the record of each entry.
Out: a plan over its records: kept as they are, kept with something taken out or renamed, moved, removed, and what is
     put in after which.

What the ledger says of the conversation decides: which result of a call counts, which are repetitions, which calls are
open. What its agent or provider minds decides what is wrong (`Demands`). A plan for a file that is right says nothing,
and so does the plan for a mended file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from legato.formats.document import Document, FileNote
from legato.ledger import Call, Ledger
from legato.ledger.stems import PREFIX
from legato.model import CallId, ClosureReason, Entry, Speaker, ToolCall, ToolResponse
from legato.model.records import Recorded


@dataclass(slots=True)
class Closing:
    """A call that gets a result that says there is none."""

    call: CallId
    wire_id: str
    name: str
    reason: ClosureReason
    said: str | None
    is_custom: bool


@dataclass(slots=True)
class Taking:
    """A result that was elsewhere: response number `number` of a record."""

    call: CallId
    wire_id: str
    record: int
    number: int


@dataclass(slots=True)
class Asking:
    """A call that was among the words of the user: call number `number` of a record."""

    wire_id: str
    record: int
    number: int


@dataclass(slots=True)
class MendStep:
    """One record in the new order.

    `record` is the index of a kept or moved record, or -1 for a new one: an answer made of `calls`, or else `items` are
    put into it, then `words`, results whose calls no one knows. Numbers count the calls or the responses of a record in
    their order.
    """

    record: int = -1
    is_moved: bool = False
    calls: list[Asking] = field(default_factory=list[Asking])
    items: list[Closing | Taking] = field(default_factory=list["Closing | Taking"])
    words: list[ToolResponse] = field(default_factory=list[ToolResponse])
    dropped_calls: set[int] = field(default_factory=set[int])
    dropped_results: set[int] = field(default_factory=set[int])
    quoted: dict[int, ToolResponse] = field(default_factory=dict[int, ToolResponse])
    call_ids: dict[int, str] = field(default_factory=dict[int, str])
    result_ids: dict[int, str] = field(default_factory=dict[int, str])
    results_first: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether a kept record differs from what it was."""
        return bool(
            self.dropped_calls
            or self.dropped_results
            or self.quoted
            or self.call_ids
            or self.result_ids
            or self.results_first
        )


@dataclass(slots=True)
class Plan:
    """The records of the conversation in their new order, those that go, and what was done."""

    steps: list[MendStep] = field(default_factory=list[MendStep])
    removed: set[int] = field(default_factory=set[int])
    changes: list[FileNote] = field(default_factory=list[FileNote])


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What an agent or a provider minds about calls and their results."""

    is_valid_id: Callable[[str], bool]
    fresh_id: Callable[[CallId], str]
    """the id of a call whose own is not valid, or not unique"""
    is_adjacent: bool = True
    """every result is directly behind its call; else it must only not be before it"""
    closes: bool = True
    """a call without a result gets one that says so; else the agent itself puts it in"""
    renames: bool = True
    """ids that are not valid, or not unique, are replaced"""
    has_ids: bool = True
    """every call has an id; else one without stays as it is, and its place tells which result is its own"""


@dataclass(slots=True)
class PlanRecord:
    """What one record holds, in the words of the log."""

    index: int
    place: str
    group: str | None = None
    """the answer that it is a part of"""
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    results: list[ToolResponse] = field(default_factory=list[ToolResponse])
    has_words: bool = False
    """anything that a human said"""
    has_thoughts: bool = False
    """anything in an answer that is no call"""
    words_first: bool = False


def prefixed(prefix: str) -> Callable[[CallId], str]:
    """Fresh ids that are our own under another prefix."""
    return lambda call_id: prefix + call_id.removeprefix(PREFIX)


def plan_mending(document: Document, demands: Demands) -> Plan:
    """The plan for `document`, each of whose entries is from one record."""
    talk = document.conversation()
    records: dict[int, PlanRecord] = {}
    for index, (source, place) in enumerate(zip(document.sources, document.places, strict=True)):
        logged = talk.log[document.first_seq + index]
        if source >= 0 and isinstance(logged, Recorded):
            _note(records.setdefault(source, PlanRecord(source, place)), logged.entry)
    return plan_records(list(records.values()), talk.ledger, demands)


def plan_records(records: list[PlanRecord], ledger: Ledger, demands: Demands) -> Plan:
    """The plan for these records, whose calls and results are in `ledger`."""
    planner = _Planner(records, ledger, demands)
    planner.name_calls()
    return planner.plan()


def _note(record: PlanRecord, entry: Entry) -> None:
    for block in entry.blocks:
        if isinstance(block, ToolCall):
            record.calls.append(block)
        elif isinstance(block, ToolResponse):
            record.words_first = record.words_first or record.has_words
            record.results.append(block)
        elif entry.speaker is Speaker.AI:
            record.has_thoughts = True
        else:
            record.has_words = True
    if entry.speaker is Speaker.AI:
        record.group = entry.answer or f"record {record.index}"


class _Planner:
    def __init__(self, records: list[PlanRecord], ledger: Ledger, demands: Demands) -> None:
        self.records = records
        self.ledger = ledger
        self.demands = demands
        self.is_strict = demands.is_adjacent
        self.early: set[CallId] = set()
        """calls whose results came before them"""
        self.result = Plan()
        self.pending: dict[CallId, Call] = {}
        self.words: list[ToolResponse] = []
        """what can only be told when the answer that goes on here has all its results"""
        self.ends = {record.group: number for number, record in enumerate(records) if record.group is not None}
        """the last record of each answer, by its place in the conversation"""
        self.taken: set[tuple[int, int]] = set()
        self.moved: set[int] = set()
        self.custom = {call.id for record in records for call in record.calls if call.kind == "custom"}
        self.first_of: dict[CallId, tuple[int, int]] = {}
        self.place_of: dict[CallId, str] = {}
        for record in records:
            for number, call in enumerate(record.calls):
                self.first_of.setdefault(call.id, (record.index, number))
                self.place_of.setdefault(call.id, record.place)
        self.ids: dict[CallId, str] = {}
        self.counting = {id(call.response): call for call in ledger.calls.values() if call.response is not None}
        """the calls by the response that counts: one that gave way to another names a call that is not its own"""
        self.winners: dict[CallId, tuple[PlanRecord, int]] = {}
        for record in records:
            for number, response in enumerate(record.results):
                call = self._call_of(response)
                if call is not None and call.response is response:
                    self.winners[call.id] = (record, number)

    def name_calls(self) -> None:
        """Give every call an id of its own: the one it has, wherever that is valid and free."""
        taken: set[str] = set()
        for call in self.ledger.in_order:
            if call.id not in self.first_of:
                continue  # a result without a call: it gets no id, it becomes words
            wire_id = call.wire_id
            if not self.demands.renames or (not wire_id and not self.demands.has_ids):
                self.ids[call.id] = wire_id
                continue
            if wire_id in taken or not self.demands.is_valid_id(wire_id):
                fresh = wire_id = self.demands.fresh_id(call.id)
                number = 2
                while wire_id in taken:
                    wire_id, number = f"{fresh}_{number}", number + 1
            taken.add(wire_id)
            self.ids[call.id] = wire_id

    def _call_of(self, response: ToolResponse) -> Call | None:
        named = self.ledger.adopted.get(response.call_id, response.call_id)
        return self.counting.get(id(response)) or self.ledger.calls.get(named)

    # --- the walk -----------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        group: str | None = None
        for number, record in enumerate(self.records):
            if record.index in self.moved:
                continue
            if record.group is not None and record.group != group:
                self._flush()
                group = record.group
            step = MendStep(record.index)
            is_misplaced = self.is_strict and record.group is None and bool(record.calls)
            if not is_misplaced:
                self._calls(record, step)
            goes_on = group is not None and self.ends[group] > number
            here = self._results(record, step, goes_on=goes_on)
            missing = self.pending.keys() - here
            if missing and (record.has_words or step.quoted):
                self._flush(keep=here)
            elif self.words and record.has_words and not goes_on and not self.pending:
                self._flush()
            for call_id in here:
                self.pending.pop(call_id, None)
            asked = self._misplaced_calls(record, step) if is_misplaced else []
            self._emit(record, step)
            if not self.is_strict and record.index in self.result.removed and self._parts_answers(number, group):
                # Without it two answers would become one, so the results of the first, wherever they are, come here.
                self.early |= self.pending.keys() & self.winners.keys()
            if asked:
                self._flush()
                group = None
                self.result.steps.append(MendStep(calls=asked))
                self.pending |= {call.id: self.ledger.calls[call.id] for call in record.calls}
            if not self.is_strict and not goes_on:  # a result between its parts would make two answers of one
                self._flush()
        self._flush()
        return self.result

    def _parts_answers(self, number: int, group: str | None) -> bool:
        """Whether the record at `number` stands between `group` and another answer."""
        follows = self.records[number + 1].group if number + 1 < len(self.records) else None
        return group is not None and follows is not None and follows != group

    def _emit(self, record: PlanRecord, step: MendStep) -> None:
        results = len(record.results) - len(step.dropped_results)
        calls = len(record.calls) - len(step.dropped_calls)
        if not results and not calls and not record.has_words and not record.has_thoughts:
            self.result.removed.add(record.index)
            return
        if results - len(step.quoted) > 0 and (record.words_first or step.quoted):
            step.results_first = True
            if record.words_first:
                self._change(record, "results stood behind other words; they were put first")
        self.result.steps.append(step)

    def _calls(self, record: PlanRecord, step: MendStep) -> None:
        for number, call in enumerate(record.calls):
            known = self.ledger.calls[call.id]
            if self.first_of[call.id] != (record.index, number):
                step.dropped_calls.add(number)
                self._change(record, f"the call {call.wire_id or call.name} stood here a second time; it was left out")
                continue
            self.pending[call.id] = known
            if self.ids[call.id] != call.wire_id:
                step.call_ids[number] = self.ids[call.id]
                self._change(record, f"the call {call.wire_id or call.name} was given the id {self.ids[call.id]}")

    def _misplaced_calls(self, record: PlanRecord, step: MendStep) -> list[Asking]:
        """The calls in a record of the user, which go into an answer of their own behind it."""
        asked: list[Asking] = []
        for number, call in enumerate(record.calls):
            step.dropped_calls.add(number)
            if self.first_of[call.id] == (record.index, number):
                asked.append(Asking(self.ids[call.id], record.index, number))
                self._change(record, f"the call {call.wire_id or call.name} of the model stood among words of the user")
        return asked

    def _results(self, record: PlanRecord, step: MendStep, *, goes_on: bool) -> set[CallId]:
        """The calls that are waiting and have their results in this record; the other results are seen to.

        While an answer goes on behind this record, no words may be among its results, not even quotations.
        """
        here: set[CallId] = set()
        may_stay = (record.group is None or not self.is_strict) and self._may_stay(self.pending)
        for number, response in enumerate(record.results):
            call = self._call_of(response)
            name = response.wire_id or response.tool_name or "a call"
            if (record.index, number) in self.taken:
                step.dropped_results.add(number)
            elif call is None or call.id in self.ledger.orphans:
                if goes_on if record.group is None else self.is_strict:
                    step.dropped_results.add(number)
                    self.words.append(response)
                else:
                    step.quoted[number] = response
                self._change(record, f"the result of {name}, whose call is not in the file, was turned into text")
            elif call.response is not response:
                step.dropped_results.add(number)
                self._change(record, f"a second result of {name} was left out")
            elif may_stay and call.id in self.pending and call.id not in here:
                here.add(call.id)
                self._name_result(record, step, number)
            else:  # it comes before its call, among the words of the model or apart from others: it goes to its place
                step.dropped_results.add(number)
                self.early.add(call.id)
        return here

    def _may_stay(self, calls: Iterable[CallId]) -> bool:
        """Whether the results of an answer, which has these calls, may stay in their records.

        Where calls have no ids, the order of the results tells which is whose, so those of several records are put
        together, in the order of the calls.
        """
        return self.demands.has_ids or len({self.winners[one][0].index for one in calls if one in self.winners}) <= 1

    def _name_result(self, record: PlanRecord, step: MendStep, number: int) -> None:
        """Give a result the id of its call."""
        response = record.results[number]
        call = self._call_of(response)
        if call is not None and response.wire_id != self.ids[call.id]:
            step.result_ids[number] = self.ids[call.id]
            self._change(record, f"the result of {call.name} was given the id of its call, {self.ids[call.id]}")

    def _flush(self, keep: set[CallId] | None = None) -> None:
        """Complete the answer before: move its results here, and close what has none."""
        due = {call_id for call_id in self.pending if self._is_due(call_id)} - (keep or set())
        missing = [call for call_id, call in self.pending.items() if call_id in due]
        self.pending = {call_id: call for call_id, call in self.pending.items() if call_id not in due}
        wanted = {call.id for call in missing}
        may_stay = self._may_stay(wanted)
        new = MendStep()
        for call in missing:
            found = self.winners.get(call.id)
            if found is None:
                new.items.append(self._closing(call))
                continue
            record, number = found
            if record.index in self.moved or (record.index, number) in self.taken:
                continue
            if may_stay and self._can_move(record, wanted):
                self._move(record)
            else:
                self.taken.add((record.index, number))
                new.items.append(Taking(call.id, self.ids[call.id], record.index, number))
                moved = "moved to its call" if may_stay else "put beside the others of its answer"
                self._change(record, f"the result of {call.wire_id or call.name} was {moved}")
        if keep is None:
            new.words, self.words = self.words, []
        if new.items or new.words:
            self.result.steps.append(new)

    def _is_due(self, call_id: CallId) -> bool:
        """Whether a call that waits gets its result now."""
        return self.is_strict or call_id in self.early or (self.demands.closes and call_id not in self.winners)

    def _can_move(self, record: PlanRecord, wanted: set[CallId]) -> bool:
        """Whether a record is nothing but results that are wanted now."""
        if record.has_words or record.group is not None:
            return False
        calls = [self._call_of(response) for response in record.results]
        return all(
            call is not None and call.id in wanted and call.response is response
            for call, response in zip(calls, record.results, strict=True)
        )

    def _move(self, record: PlanRecord) -> None:
        self.moved.add(record.index)
        self.result.removed.discard(record.index)
        step = MendStep(record.index, is_moved=True)
        for number in range(len(record.results)):
            self._name_result(record, step, number)
        self.result.steps.append(step)
        self._change(record, "results were moved to their calls")

    def _closing(self, call: Call) -> Closing:
        reason = self.ledger.closure_reason(call)
        place = self.place_of.get(call.id, "")
        what = f"the call {call.wire_id or '(no id)'} of {call.name} had no result; one that says so was put in"
        self.result.changes.append(FileNote(place, f"{what} ({reason})"))
        said = call.response.said if call.response is not None else None
        return Closing(call.id, self.ids[call.id], call.name, reason, said, call.id in self.custom)

    def _change(self, record: PlanRecord, what: str) -> None:
        self.result.changes.append(FileNote(record.place, what))
