"""Put the calls and results of a body right, message by message, and leave every other message as it is.

In:  a body whose messages can be read, and its target.
Out: the body with one result for every call where the provider expects it, and what was changed; None if that cannot be
     done in place: what the parser reads in the messages cannot be found in them again, or a result is no words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from legato.formats.document import FileNote
from legato.formats.fields import as_list, as_object
from legato.formats.ids import is_plain_id
from legato.formats.patching.layout import Laid, lay_out
from legato.formats.patching.plan import Closing, Demands, MendStep, Plan, PlanRecord, plan_records
from legato.formats.patching.quotation import quotation
from legato.formats.wire.pair_forms import PAIR_FORMS, FreshResult, Held, PairForm
from legato.model import CallId, Dialect, Json, JsonObject, Speaker, Target, ToolCall, ToolResponse, closure_text
from legato.model.records import Imported, Recorded
from legato.transcript.conversation import Conversation
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.hosting.acceptance import ANY_ID
from legato.wire.hosts import host_of
from legato.wire.ids import IdTable
from legato.wire.names import NameTable


class Paired(NamedTuple):
    """A body in which calls and results are right, and what was changed in it."""

    body: JsonObject
    changes: list[FileNote]


class IdsKept(Enum):
    """Which ids of calls stay as they are; the fewer do, the more providers take them."""

    ALL = "all"
    UNIQUE = "unique"
    PLAIN = "unique, made of plain letters, and of the form that the host wants"


def pair_messages(body: JsonObject, target: Target, ids: IdsKept) -> Paired | None:
    """`body` with its pairs mended."""
    parts = dialect_parts(target.dialect)
    form = PAIR_FORMS[target.dialect]
    messages, righted = _righted(body.get(parts.messages_field), form, parts.messages_field)
    parsed = parts.parse({**body, parts.messages_field: messages})
    talk = Conversation()
    talk.apply([Imported(format=target.dialect, digest="", entries=len(parsed.entries))])
    talk.take(parsed.entries)
    records = _records(parsed, talk, messages, form, parts.messages_field)
    if records is None:
        return None
    table = IdTable(target.capabilities.id_scheme, NameTable(target.capabilities.name_rule))
    table.extend(talk.ledger.in_order)
    demands = Demands(
        is_valid_id=_plain_for(target) if ids is IdsKept.PLAIN else bool,
        fresh_id=table.__getitem__,
        is_adjacent=target.dialect is not Dialect.OPENAI_RESPONSES,
        renames=ids is not IdsKept.ALL,
        has_ids=target.dialect is not Dialect.GEMINI,
    )
    plan = plan_records(records, talk.ledger, demands)
    where = {call.id: (record.index, number) for record in records for number, call in enumerate(record.calls)}
    closed = [where[item.call] for step in plan.steps for item in step.items if isinstance(item, Closing)]
    if not all(form.takes_words(form.call(messages[record], number)) for record, number in closed):
        return None
    mended = _Messages(messages, plan, form, where).mended()
    bridged = mended if target.capabilities.user_after_tool else list(_bridged(mended, form))
    joined = _joined(bridged, form)
    changes = [*righted, *plan.changes]
    if len(bridged) > len(mended):
        changes.append(FileNote(parts.messages_field, "a word of the model was put between results and a person's"))
    if len(joined) < len(bridged):
        changes.append(FileNote(parts.messages_field, "messages of one side that followed each other were joined"))
    return Paired({**body, parts.messages_field: joined}, changes)


def _plain_for(target: Target) -> Callable[[str], bool]:
    """Tells of an id whether it is as the host of a chat request wants it, or plain where that is not known."""
    form = host_of(target).acceptance.id_form if target.dialect is Dialect.OPENAI_CHAT else ANY_ID
    return is_plain_id if form == ANY_ID else lambda wire_id: re.fullmatch(form, wire_id) is not None


def _righted(messages: Json, form: PairForm, field: str) -> tuple[list[JsonObject], list[FileNote]]:
    """The messages, with those that are only calls or only results on the side where these belong."""
    out: list[JsonObject] = []
    told: list[FileNote] = []
    for index, item in enumerate(as_list(messages)):
        message = as_object(item)
        role = form.role(message)
        if role and message.get("role") != role:
            message = {**message, "role": role}
            told.append(
                FileNote(f"{field}[{index}].role", f"calls and results were on the wrong side; it is {role} now")
            )
        out.append(message)
    return out, told


def _bridged(messages: Sequence[JsonObject], form: PairForm) -> Iterator[JsonObject]:
    """The messages, with an answer between results and a person's words."""
    follows_results = False
    for message in messages:
        if follows_results and form.bridge is not None and message.get("role") == "user":
            yield form.bridge
        yield message
        follows_results = bool(form.held(message).results)


def _joined(messages: Sequence[JsonObject], form: PairForm) -> list[JsonObject]:
    """The messages, with neighbours of one side as one where the provider takes them in turns only."""
    out: list[JsonObject] = []
    for message in messages:
        both = form.joined(out[-1], message) if out else None
        if both is None:
            out.append(message)
        else:
            out[-1] = both
    return out


# --- what the parser read, message by message -------------------------------------------------------------------------


def _records(
    parsed: Parsed, talk: Conversation, messages: Sequence[JsonObject], form: PairForm, field: str
) -> list[PlanRecord] | None:
    """The messages as records of a plan; None if they do not hold what was read."""
    records: dict[int, PlanRecord] = {}
    for index, read in enumerate(parsed.entries):
        logged = talk.log[1 + index]
        if not isinstance(logged, Recorded) or len(logged.entry.blocks) != len(read.blocks):
            return None
        left = [block for block in logged.entry.blocks if isinstance(block, ToolCall | ToolResponse)]
        group, waiting = f"answer {index}", False
        for number in parsed.messages_of(index):
            record = records.setdefault(number, PlanRecord(number, f"{field}[{number}]"))
            if logged.entry.speaker is Speaker.AI:
                record.group = group
            if not _fill(record, form.held(messages[number]), left):
                return None
            waiting = waiting or any(talk.ledger.calls[call.id].response is not None for call in record.calls)
            if record.calls and not waiting:
                group = f"answer {index}, behind {number}"  # it reads as one with the next because its results are gone
        if left:
            return None
    return list(records.values())


def _fill(record: PlanRecord, held: Held, left: list[ToolCall | ToolResponse]) -> bool:
    """Give a record the blocks that its message holds, out of those that are `left` of an entry; whether they fit.

    A message may be several entries: results, and what was said beside them.
    """
    while left:
        block = left[0]
        if isinstance(block, ToolCall):
            known, ids = len(record.calls), held.calls
        else:
            known, ids = len(record.results), held.results
        if known == len(ids):
            break
        if block.wire_id != ids[known]:
            return False
        if isinstance(block, ToolCall):
            record.calls.append(block)
        else:
            record.results.append(block)
        left.pop(0)
    record.has_thoughts = record.group is not None and held.has_more
    record.has_words = record.group is None and held.has_more
    record.words_first = held.more_first
    return True


# --- the messages of the plan -----------------------------------------------------------------------------------------


class _Messages:
    """Carries out a plan on messages."""

    def __init__(
        self, messages: Sequence[JsonObject], plan: Plan, form: PairForm, where: Mapping[CallId, tuple[int, int]]
    ) -> None:
        self._messages = messages
        self._plan = plan
        self._form = form
        self._where = where
        """the message of each call, and its number there"""
        self._added: dict[int, list[FreshResult]] = {}
        """results that go into a message that is there"""

    def mended(self) -> list[JsonObject]:
        """The messages in their new order."""
        steps = self._plan.steps
        for number, step in enumerate(steps):
            if step.items and (home := self._home(steps[:number][-1:], steps[number + 1 : number + 2])) is not None:
                self._added.setdefault(home, []).extend(self._fresh(step))
                step.items = []
        laid = lay_out(len(self._messages), self._plan, change=self._changed, make=self._new)
        return list(map(self._value, laid))

    def _home(self, before: Sequence[MendStep], after: Sequence[MendStep]) -> int | None:
        """The message beside new results that holds others of the same answer, or can hold them with its words."""
        for step in (*before, *after):
            if step.record < 0 or self._form.with_results(self._messages[step.record], ()) is None:
                continue
            held = self._form.held(self._messages[step.record])
            if len(held.results) > len(step.dropped_results | step.quoted.keys()) or self._form.alternates:
                return step.record
        return None

    def _value(self, item: Laid) -> JsonObject:
        if isinstance(item, dict):
            return item
        record, value = (item, self._messages[item]) if isinstance(item, int) else item
        added = self._added.get(record)
        return (self._form.with_results(value, added) if added else None) or value

    def _changed(self, step: MendStep) -> JsonObject:
        return self._form.changed(self._messages[step.record], step)

    def _new(self, step: MendStep) -> Iterator[JsonObject]:
        calls = [(self._form.call(self._messages[call.record], call.number), call.wire_id) for call in step.calls]
        if calls:
            yield self._form.answer(calls)
        if step.items:
            yield from self._form.results(self._fresh(step))
        for response in step.words:
            yield self._form.words(quotation(response))

    def _fresh(self, step: MendStep) -> list[FreshResult]:
        fresh: list[FreshResult] = []
        for item in step.items:
            if isinstance(item, Closing):
                record, number = self._where[item.call]
                call = self._form.call(self._messages[record], number)
                fresh.append(FreshResult(item.wire_id, item.name, closure_text(item.reason, item.said), call))
            else:
                taken = self._form.result(self._messages[item.record], item.number)
                fresh.append(FreshResult(item.wire_id, taken=taken))
        return fresh
