"""Carry out a plan on a Codex rollout: one item a line, in order, without any links between them."""

from __future__ import annotations

from legato.formats.claude_code_mend import quotation
from legato.formats.document import Document, Original
from legato.formats.fields import as_object, as_text
from legato.formats.ids import is_plain_id
from legato.formats.mend_plan import Closing, Step, Taking, plan_mending
from legato.formats.mending import Mended
from legato.formats.raw_files import RawFile
from legato.model import JsonObject, closure_text


def mend_session(document: Document, original: Original) -> Mended:
    """The rollout with every call answered where it stands."""
    plan = plan_mending(document, is_valid_id=is_plain_id, prefix="call_")
    file = RawFile(original)
    if not plan.changes:
        return Mended(file.write(range(file.count)))
    moved = {step.record for step in plan.steps if step.is_moved}
    gone = moved | plan.removed
    after: dict[int, list[int | JsonObject]] = {}
    values: dict[int, JsonObject] = {}
    anchor = -1
    for step in plan.steps:
        if step.record >= 0 and step.is_changed:
            values[step.record] = _changed(file.value(step.record), step)
        if step.record >= 0 and not step.is_moved:
            anchor = step.record
            continue
        if step.record >= 0:
            after.setdefault(anchor, []).append(values.get(step.record, step.record))
            continue
        neighbour = file.value(anchor) if anchor >= 0 else {}
        for item in step.items:
            after.setdefault(anchor, []).append(_line(item, file, neighbour))
    out: list[int | JsonObject] = [*after.get(-1, [])]
    for index in range(file.count):
        if index not in gone:
            out.append(values.get(index, index))
        out += after.get(index, [])
    return Mended(file.write(out), plan.changes)


def _changed(record: JsonObject, step: Step) -> JsonObject:
    """The line with another id, or as words. A line holds one item, so what is dropped is the line itself."""
    payload = as_object(record.get("payload")) or record
    new_id = step.call_ids.get(0) or step.result_ids.get(0)
    if 0 in step.quoted:
        text = quotation(step.quoted[0])
        changed: JsonObject = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    elif new_id:
        changed = {**payload, "call_id": new_id}
    else:
        changed = payload
    return {**record, "payload": changed} if "payload" in record else changed


def _line(item: Closing | Taking, file: RawFile, neighbour: JsonObject) -> JsonObject:
    if isinstance(item, Taking):
        record = file.value(item.record)
        taken = {**(as_object(record.get("payload")) or record), "call_id": item.wire_id}
        return {**record, "payload": taken} if "payload" in record else taken
    kind = "custom_tool_call_output" if item.is_custom else "function_call_output"
    payload: JsonObject = {"type": kind, "call_id": item.wire_id, "output": closure_text(item.reason, item.said)}
    if "payload" not in neighbour:
        return payload
    stamp = as_text(neighbour.get("timestamp"))
    return {"timestamp": stamp, "type": "response_item", "payload": payload}
