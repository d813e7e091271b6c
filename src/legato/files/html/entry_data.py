"""One entry as the page's script reads it: what was said, what was found, and what of it is sent.

In:  an entry, where its values come from, and the messages of a request that were made of it.
Out: JSON.

What is sent is nearly the same as what was said, so it is not written twice: where a message holds a text or the
arguments of a call as they stand in the entry, there is a reference in its place, `{"$x": [block, field]}`. A value
that happens to look like one is wrapped: `{"$x": 0, "v": value}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from legato.diagnostics import Redactor
from legato.files.inspected import InspectedBlock, InspectedCall, InspectedEntry
from legato.files.inspector import SeenEntry
from legato.formats import Finding
from legato.model import Json, JsonObject, Media

_SHORT = 80
"""characters from which on a reference is shorter than the text"""

_MOST = 100_000
"""characters of one text that is in the request alone: our choice, it is there to be looked at"""


_DEEPEST = 100
"""levels of a value that are shown: our choice, far below where Python stops calling"""


def entry_value(seen: SeenEntry, sent: Sequence[JsonObject], redactor: Redactor) -> JsonObject:
    """The entry, to be encoded."""
    entry = seen.entry
    usage = entry.usage
    value: JsonObject = {
        "place": entry.place,
        "model": entry.model,
        "at": entry.at,
        "blocks": [_block(block) for block in entry.blocks],
        "decisions": list(entry.decisions),
        "findings": [_finding(finding) for finding in entry.findings],
        "usage": msgspec.to_builtins(usage) if usage is not None else None,
        "cost": entry.cost,
        "out": not entry.is_shown,
        "wire": cast(Json, [redactor.value(_sent(message, seen)) for message in sent]),
    }
    return {name: item for name, item in value.items() if item or item == 0}


def words_of(entry: InspectedEntry) -> Iterator[str]:
    """The texts of an entry, to judge how much room it takes."""
    for block in entry.blocks:
        yield block.text
        if block.call is not None:
            yield block.call.arguments
            yield block.call.result


def _block(block: InspectedBlock) -> JsonObject:
    if block.call is not None:
        return {"kind": "call", "call": _call(block.call)}
    if block.media is not None:
        return {"kind": "media", "text": block.text, "media": _media(block.media)}
    return {"kind": block.kind, "text": block.text}


def _call(call: InspectedCall) -> JsonObject:
    took = None if call.started is None or call.ended is None else max(call.ended - call.started, 0)
    value: dict[str, Any] = {
        "id": call.id,
        "name": call.name,
        "wireId": call.wire_id,
        "sentId": call.sent_id,
        "state": call.state,
        "completion": call.completion,
        "reason": call.reason,
        "result": call.result,
        "resultPlace": call.result_place,
        "decisions": call.decisions,
        "took": took,
        "media": [_media(item) for item in call.media],
    }
    parsed = _parsed(call.arguments)
    value |= {"raw": call.arguments} if parsed is None else {"arguments": parsed}
    return {name: item for name, item in value.items() if item or item == 0}


def _parsed(arguments: str) -> msgspec.Raw | None:
    """Arguments that are a whole object, as they are."""
    try:
        raw = msgspec.json.decode(arguments, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeError):
        return None
    return raw if bytes(raw).startswith(b"{") else None


def _media(media: Media) -> JsonObject:
    held = {"kind": media.kind.value, "mime": media.mime, "data": media.data, "url": media.url, "name": media.name}
    return {name: item for name, item in held.items() if item}


def _finding(finding: Finding) -> JsonObject:
    return {
        "level": finding.level.value,
        "rule": finding.rule,
        "message": finding.message,
        "repair": finding.repair,
        "place": finding.place,
        "calls": list(finding.calls),
    }


def _sent(value: Json, seen: SeenEntry, depth: int = 0) -> Json:
    """A message with references in place of what the entry shows already."""
    if depth > _DEEPEST:
        return "[nested too deeply to be shown]"
    if isinstance(value, str):
        if len(value) < _SHORT:
            return value
        known = seen.sources.get(value)
        if known is not None:
            return {"$x": list(known)}
        return value if len(value) <= _MOST else f"{value[:_MOST]}… [{len(value) - _MOST:,} more characters]"
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        known = seen.sources.get(id(members))
        if known is not None and members:
            return {"$x": list(known)}
        shown = {name: _sent(item, seen, depth + 1) for name, item in members.items()}
        return {"$x": 0, "v": shown} if "$x" in shown else shown
    if isinstance(value, list | tuple):
        return [_sent(item, seen, depth + 1) for item in cast("Sequence[Json]", value)]
    return value
