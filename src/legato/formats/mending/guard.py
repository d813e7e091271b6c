"""Check that a repaired file is at least as good as the original.

In:  a document, the file it was read from, and the repaired file.
Out: a list of objections with places: what is missing, where it now reads as a different conversation, and what would
     still be refused.

What is missing is determined from the bare JSON of both files, so that it is noticed even if the file was misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from legato.errors import FormatError
from legato.formats.document import Document, FileNote, Original
from legato.formats.faults import EVERYTHING, places_of
from legato.formats.findings import Finding, lint_document, refused
from legato.formats.mending.bare_json import UnreadableJson, parse_raw
from legato.formats.mending.comparing import Purposes, find_contradicted, find_missing
from legato.formats.mending.inventory import InventoryItem, ItemKind, take_inventory
from legato.formats.mending.retelling import first_difference
from legato.formats.reading import read_all
from legato.ledger import Call
from legato.model import Json, ToolCall

_SHOWN = 60
"""how many characters of a text are shown"""
_FIELD = re.compile(r"[.\[ ]")
_ABOUT_IDS = re.compile(r"(?:^|-)(?:id|ids)(?:-|$)|unknown-result|orphan")
"""rules about the ids of calls"""


def find_losses(document: Document, original: Original, data: bytes, found: Sequence[Finding]) -> list[FileNote]:
    """The objections to `data` as a replacement for the file of `document`, in which lint found `found`."""
    losses = [*_undecided(document), *_lacking(original, data, found)]
    try:
        again = read_all(data, format=document.format, name=document.name)[0]
    except FormatError as error:
        return [*losses, FileNote("", f"the repaired file could not be read again ({error.message})")]
    if not losses and (difference := first_difference(document, again)):
        losses.append(difference)
    return losses + still_refused(lint_document(again))


def still_refused(found: Sequence[Finding]) -> list[FileNote]:
    """The findings that repair leaves."""
    return [FileNote(item.place, f"would still be refused: {item.message} [{item.rule}]") for item in refused(found)]


def _undecided(document: Document) -> Iterator[FileNote]:
    """Calls of one answer under one id, of which only some have a result: whose it is, nothing tells."""
    talk = document.conversation()
    view = talk.view(EVERYTHING)
    view.refresh()
    place = places_of(document)
    for slot in view.slots:
        alike: dict[str, list[Call]] = {}
        for block in slot.blocks:
            if isinstance(block, ToolCall) and (call := talk.ledger.calls.get(block.id)) is not None and call.wire_id:
                alike.setdefault(call.wire_id, []).append(call)
        for own, calls in alike.items():
            if {call.response is None for call in calls} == {True, False}:
                told = f"{len(calls)} calls share the id {own}, and nothing says which of them a result belongs to"
                yield FileNote(place(calls[-1].seq), told)


def _lacking(original: Original, data: bytes, found: Sequence[Finding]) -> Iterator[FileNote]:
    for line in original.left_out:
        if not line.data:
            yield FileNote(line.place, "it is too long to be read, and would be lost")
    try:
        before = take_inventory(_records(original))
        after = take_inventory(_records_of(data, is_lines=not original.data))
    except (UnreadableJson, RecursionError):
        yield FileNote("", "the two files cannot be compared: something in them is nested too deeply")
        return
    missing = find_missing(before, after, _purposes(found))
    there = {(item.kind, item.key) for item in after}
    for item in missing:
        yield FileNote(item.place, _told(item, is_there=(item.kind, item.key) in there))
    for item in find_contradicted(before, after):
        yield FileNote(item.place, f"the call {item.id} would be said to have no result, and here is one")


def _purposes(found: Sequence[Finding]) -> Purposes:
    """What a repair of a file with these findings is for."""
    rules = {rule for finding in found for rule in (finding.rule, *finding.broken.values())}
    fields = frozenset(_FIELD.split(finding.place)[0] for finding in refused(found))
    return Purposes(fields, any(_ABOUT_IDS.search(rule.partition("/")[2]) for rule in rules))


def _records(original: Original) -> Iterator[tuple[str, Json]]:
    if original.data:
        yield "", parse_raw(original.data)
        return
    for record in (*original.records, *original.left_out):
        if record.data:
            yield record.place, parse_raw(record.data)


def _records_of(data: bytes, *, is_lines: bool) -> Iterator[tuple[str, Json]]:
    if not is_lines:
        yield "", parse_raw(data)
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield f"line {number}", parse_raw(line)


def _told(item: InventoryItem, *, is_there: bool) -> str:
    if item.kind is ItemKind.CALL and is_there:
        return f"the id {item.id} of the call of {item.name} would be changed"
    match item.kind:
        case ItemKind.TEXT | ItemKind.INSTRUCTION:
            what = f"the {item.kind} {_short(item.key)}"
        case ItemKind.CALL:
            what = f"the call {item.id or '(no id)'}: {_short(item.key)}"
        case ItemKind.RESULT:
            what = f"the result of {item.id or item.name or 'a call'}: {_short(item.key)}"
        case ItemKind.TOOL:
            what = f"the tool {item.name} as it is defined"
        case ItemKind.CALLED | ItemKind.MEDIA | ItemKind.MARK | ItemKind.SETTING | ItemKind.ENVELOPE:
            what = f"the {item.kind} {_short(item.key)}"
    return f"{what} would be lost"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"
