"""Carry out a plan on a Claude Code session.

Beside the blocks of messages there is the chain of `parentUuid` to keep: whatever is put between two records becomes
the parent of the second, and children of what goes move to its parent. In a file whose records have no parents at all,
new ones get none either, unless the chain is to be made: Claude Code itself sees only the last message of such a file.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from legato.formats.blocks import is_call, is_result, parts_of, read_call, read_result
from legato.formats.document import Document, FileNote, Original
from legato.formats.fields import as_object, as_text
from legato.formats.format import Mended
from legato.formats.ids import is_plain_id, name_from
from legato.formats.patching.plan import Closing, Demands, MendStep, Plan, Taking, plan_mending, prefixed
from legato.formats.patching.quotation import quotation
from legato.formats.patching.records import Changed, RawFile, Rewritten
from legato.model import Json, JsonObject, closure_text
from legato.wire.arguments import wire_arguments

_LISTS = ("loglines", "messages")
"""where the records are, in a session that is one value"""
_DEMANDS = Demands(is_valid_id=is_plain_id, fresh_id=prefixed("toolu_"))
_ENVELOPE = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "agentId", "slug", "entrypoint")


def mend_session(document: Document, original: Original) -> Mended:
    """The session with every call answered where it is."""
    plan = plan_mending(document, _DEMANDS)
    file = RawFile(original, *_LISTS)
    is_damaged = any(note.is_damage for note in document.notes)
    if not plan.changes and not is_damaged:
        return Mended.of(file.unchanged())
    carrier = _Carrier(file, plan, is_damaged=is_damaged)
    written = carrier.write()
    return Mended.of(
        written, [*plan.changes, *(FileNote(_place(original, index), _ADOPTED) for index in carrier.adopted)]
    )


_ADOPTED = "the record named a parent that is not in the file; it is the child of the one before it now"


def _place(original: Original, index: int) -> str:
    return original.records[index].place if original.records else ""


def has_chain(document: Document, original: Original) -> bool:
    """Whether Claude Code finds its way through the session: a record names its parent, or there is only one."""
    return len(document.entries) < 2 or _links(RawFile(original, *_LISTS))


def relink_session(document: Document, original: Original) -> Mended | None:
    """The mended session with its records made a chain; None if they have no ids to be linked by."""
    plan = plan_mending(document, _DEMANDS)
    file = RawFile(original, *_LISTS)
    records = [file.value(step.record) for step in plan.steps if step.record >= 0]
    if not all(as_text(record.get("uuid")) for record in records):
        return None
    told = FileNote("", "no record names its parent; each was made the child of the one before it")
    return Mended.of(_Carrier(file, plan, relink=True).write(), [*plan.changes, told])


def _links(file: RawFile) -> bool:
    """Whether any record of the file names a parent that is there."""
    records = map(file.value, range(file.count))
    links = [(as_text(record.get("uuid")), as_text(record.get("parentUuid"))) for record in records]
    uuids = {own for own, _ in links if own}
    return any(parent in uuids for _, parent in links if parent)


class _Carrier:
    """Puts the records of a plan into file order again."""

    def __init__(self, file: RawFile, plan: Plan, *, relink: bool = False, is_damaged: bool = False) -> None:
        self.file = file
        self.plan = plan
        self.values: dict[int, JsonObject] = {}
        """records that are changed"""
        self.after: dict[int, list[int | JsonObject]] = {}
        """what comes behind a record that does not move"""
        self.first: list[int | JsonObject] = []
        self.rehung: set[int] = set()
        self.adopted: list[int] = []
        """records whose parents went with what was damaged"""
        self.relink = relink
        self.is_damaged = is_damaged
        self.is_tree = relink or _links(file)

    def write(self) -> Rewritten:
        moved = {step.record for step in self.plan.steps if step.is_moved}
        gone = moved | self.plan.removed
        self._lay_out()
        self._bridge(gone)
        if self.is_damaged and self.is_tree:
            self._adopt(gone)
        out: list[int | JsonObject] = [*self.first]
        for index in range(self.file.count):
            if index not in gone:
                out.append(index)
            out += self.after.get(index, [])
        return self.file.write(
            Changed(item, self.values[item]) if isinstance(item, int) and item in self.values else item for item in out
        )

    def _value(self, index: int) -> JsonObject:
        if index not in self.values:
            self.values[index] = self.file.value(index)
        return self.values[index]

    # --- order --------------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        anchor = -1
        before: JsonObject | None = None
        was_new = False
        for step in self.plan.steps:
            is_new = step.record < 0 or step.is_moved
            is_rehung = self.is_tree and before is not None and (is_new or was_new or self.relink)
            if step.record < 0:
                record = self._new_record(step, before)
            elif step.is_changed or is_rehung:
                record = self._value(step.record)
                _change_blocks(record, step)
            else:
                record = self.file.value(step.record)
            if is_rehung and before is not None:
                record["parentUuid"] = before.get("uuid")
                self.rehung.add(step.record)
            if is_new:
                self._put(anchor, step.record if step.record >= 0 else record)
            else:
                anchor = step.record
            before, was_new = record, is_new

    def _put(self, anchor: int, item: int | JsonObject) -> None:
        (self.after.setdefault(anchor, []) if anchor >= 0 else self.first).append(item)

    def _bridge(self, gone: set[int]) -> None:
        """Give the children of records that went to the parents of those."""
        parents: dict[str, Json] = {}
        for index in gone:
            record = self.file.value(index)
            if own := as_text(record.get("uuid")):
                parents[own] = record.get("parentUuid")
        if not parents:
            return
        for index in range(self.file.count):
            if index in gone or index in self.rehung:
                continue
            found: Json = (self.values.get(index) or self.file.value(index)).get("parentUuid")
            if not isinstance(found, str) or found not in parents:
                continue
            seen: set[str] = set()
            while isinstance(found, str) and found in parents and found not in seen:
                seen.add(found)
                found = parents[found]
            self._value(index)["parentUuid"] = found

    def _adopt(self, gone: set[int]) -> None:
        """Give the children of a record that was torn to the one before it, as the reader does.

        Claude Code goes up from the last record and sees nothing above a parent that is not there.
        """
        kept = [index for index in range(self.file.count) if index not in gone]
        records = {index: self.values.get(index) or self.file.value(index) for index in kept}
        known = {as_text(record.get("uuid")) for record in records.values()}
        before = ""
        for index, record in records.items():
            parent = as_text(record.get("parentUuid"))
            if not as_text(record.get("uuid")) or record.get("isSidechain") is True:
                continue
            if parent and parent not in known and before and index not in self.rehung:
                self._value(index)["parentUuid"] = before
                self.adopted.append(index)
            before = as_text(record.get("uuid"))

    def _new_record(self, step: MendStep, before: JsonObject | None) -> JsonObject:
        neighbour = self._first_record() if before is None else before
        if step.calls:
            return self._new_answer(step, neighbour)
        blocks = [self._block(item) for item in step.items]
        blocks += [{"type": "text", "text": quotation(response)} for response in step.words]
        about = self._said_about(step)
        ids = [as_text(block.get("tool_use_id")) for block in blocks]
        return _enveloped(neighbour, "user", {"role": "user", "content": blocks}, about, ("claude-code result", *ids))

    def _first_record(self) -> JsonObject:
        """The record that the conversation begins with in the file."""
        found = next((step.record for step in self.plan.steps if step.record >= 0), None)
        return {} if found is None else self.file.value(found)

    def _new_answer(self, step: MendStep, neighbour: JsonObject) -> JsonObject:
        """A record of the model, with calls that were in a message of the user."""
        uses = [
            _as_use(_blocks(self.file.value(call.record), is_call)[call.number], call.wire_id) for call in step.calls
        ]
        ids = [call.wire_id for call in step.calls]
        message: JsonObject = {"id": f"msg_{name_from(*ids).replace('-', '')[:24]}", "type": "message"}
        message |= {"role": "assistant", "content": uses, "stop_reason": "tool_use"}
        return _enveloped(neighbour, "assistant", message, {}, ("claude-code answer", *ids))

    def _said_about(self, step: MendStep) -> JsonObject:
        """What records that go say about the results that are taken out of them (`toolUseResult`)."""
        taken = {item.record for item in step.items if isinstance(item, Taking)} & self.plan.removed
        records = [self.file.value(index) for index in sorted(taken)]
        known = {"parentUuid", "uuid", "timestamp", "type", "message", *_ENVELOPE}
        return {name: value for record in records for name, value in record.items() if name not in known}

    def _block(self, item: Closing | Taking) -> JsonObject:
        if isinstance(item, Closing):
            text = closure_text(item.reason, item.said)
            return {"type": "tool_result", "tool_use_id": item.wire_id, "content": text, "is_error": True}
        return _as_result(_blocks(self.file.value(item.record), is_result)[item.number], item.wire_id)


def _blocks(record: JsonObject, is_wanted: Callable[[JsonObject], bool]) -> list[JsonObject]:
    """The blocks of a message that are calls, or results, as its reader counts them."""
    parts = parts_of(as_object(record.get("message")).get("content"))
    return [block for block in map(as_object, parts) if is_wanted(block)]


def _as_use(block: JsonObject, wire_id: str) -> JsonObject:
    """A call under this id, as Claude Code writes it."""
    if block.get("type") == "tool_use":
        return {**block, "id": wire_id}
    call = read_call(block)
    return {"type": "tool_use", "id": wire_id, "name": call.name, "input": wire_arguments(call)}


def _as_result(block: JsonObject, wire_id: str) -> JsonObject:
    """A result under the id of its call, as Claude Code writes it."""
    if block.get("type") == "tool_result":
        return {**block, "tool_use_id": wire_id}
    response = read_result(block)
    told = response.result if response.error is None else response.error
    text = told if isinstance(told, str) else msgspec.json.encode(told).decode()
    result: JsonObject = {"type": "tool_result", "tool_use_id": wire_id, "content": text}
    return result | {"is_error": True} if response.error is not None else result


def _enveloped(
    neighbour: JsonObject, kind: str, message: JsonObject, more: JsonObject, name: tuple[str, ...]
) -> JsonObject:
    """A new record behind `neighbour`, with what the records around it have; `name` makes its id."""
    record: JsonObject = {"parentUuid": None} if "parentUuid" in neighbour else {}
    record |= {name: neighbour[name] for name in _ENVELOPE if name in neighbour}
    record |= more | {"type": kind, "message": message}
    if "uuid" in neighbour:
        record["uuid"] = name_from(name[0], as_text(neighbour["uuid"]), *name[1:])
    if "timestamp" in neighbour:
        record["timestamp"] = neighbour["timestamp"]
    return record


def _change_blocks(record: JsonObject, step: MendStep) -> None:
    """Take out, rename and turn into text what the step says, in the content of a message."""
    if not step.is_changed:
        return
    calls = results = 0
    kept: list[Json] = []
    message = as_object(record["message"])
    for item in parts_of(message.get("content")):
        block = as_object(item)
        if is_call(block):
            if calls in step.call_ids:
                block = _as_use(block, step.call_ids[calls])
            if calls not in step.dropped_calls:
                kept.append(block)
            calls += 1
        elif is_result(block):
            if results in step.quoted:
                kept.append({"type": "text", "text": quotation(step.quoted[results])})
            elif results not in step.dropped_results:
                kept.append(_as_result(block, step.result_ids[results]) if results in step.result_ids else block)
            results += 1
        else:
            kept.append(item)
    if step.results_first:
        kept.sort(key=lambda item: not is_result(as_object(item)))
    message["content"] = kept
