"""Carry out a plan on a Codex rollout: one item per line, in order, without links between them.

Codex completes a rollout itself before each request: it inserts the output "aborted" for a call without one, and does
not care where outputs are as long as they follow their calls (`codex-rs/core/src/context_manager/normalize.rs`). So an
interrupted rollout is left alone.

Newer rollouts are numbered: every record has an `ordinal`, one more than the record before it, or Codex refuses to open
the session (`codex-rs/thread-store`, "missing an ordinal"). Codex also keeps a database of how far into the file it has
read. A changed rollout is renumbered here, but the file does not tell whether Codex has already read the old one, so
that is an objection that only the user can overrule.
"""

from __future__ import annotations

from legato.formats.document import Document, FileNote, Original
from legato.formats.fields import as_object
from legato.formats.format import Mended
from legato.formats.ids import is_plain_id
from legato.formats.patching.layout import Laid, lay_out
from legato.formats.patching.plan import Demands, MendStep, Taking, plan_mending, prefixed
from legato.formats.patching.quotation import quotation
from legato.formats.patching.records import Changed, RawFile
from legato.model import JsonObject

_DEMANDS = Demands(is_valid_id=is_plain_id, fresh_id=prefixed("call_"), is_adjacent=False, closes=False)


def mend_session(document: Document, original: Original) -> Mended:
    """The rollout with at most one output per call, after the call."""
    plan = plan_mending(document, _DEMANDS)
    file = RawFile(original)
    is_damaged = any(note.is_damage for note in document.notes)
    if not plan.changes and not is_damaged:
        return Mended.of(file.unchanged())
    out = lay_out(
        file.count,
        plan,
        change=lambda step: _changed(file.value(step.record), step),
        make=lambda step: [_line(item, file) for item in step.items if isinstance(item, Taking)],
    )
    numbered = _numbered_anew(file, out)
    changes = plan.changes if numbered == out else [*plan.changes, _NUMBERED]
    return Mended.of(file.write(numbered), changes, [_DOUBT] if changes and _is_numbered(file) else [])


_NUMBERED = FileNote("", "the records were renumbered")
_DOUBT = FileNote(
    "", "Codex numbers the records of this rollout and remembers how far it has read; it may refuse a changed file"
)


def _is_numbered(file: RawFile) -> bool:
    return any("ordinal" in file.value(index) for index in range(file.count))


def _numbered_anew(file: RawFile, out: list[Laid]) -> list[Laid]:
    """The records with consecutive ordinals, if they have ordinals at all."""
    values = [_value(file, item) for item in out]
    first = next((value["ordinal"] for value in values if isinstance(value.get("ordinal"), int)), None)
    if first is None:
        return out
    numbered: list[Laid] = []
    for ordinal, (item, value) in enumerate(zip(out, values, strict=True), first):
        right = {**value, "ordinal": ordinal}
        if value.get("ordinal") == ordinal:
            numbered.append(item)
        elif isinstance(item, dict):
            numbered.append(right)
        else:
            numbered.append(Changed(item if isinstance(item, int) else item.record, right))
    return numbered


def _value(file: RawFile, item: Laid) -> JsonObject:
    if isinstance(item, int):
        return file.value(item)
    return item.value if isinstance(item, Changed) else item


def _changed(record: JsonObject, step: MendStep) -> JsonObject:
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


def _line(item: Taking, file: RawFile) -> JsonObject:
    """The line of a result from elsewhere in the file, with the id of its call."""
    record = file.value(item.record)
    taken = {**(as_object(record.get("payload")) or record), "call_id": item.wire_id}
    return {**record, "payload": taken} if "payload" in record else taken
