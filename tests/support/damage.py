"""Damage files that were right, one record each, and judge their repair by the file that was there before.

A case is known by the seed of its campaign and its number. It takes a recorded request body, or a session made of one in
a format that can be repaired, and drops, repeats, swaps, garbles or cuts off one of its records. What `mend` makes of it
is harmful if anything outside that record is not what it was: a value is gone or another, the file would be refused, or
bytes differ that no splice names. To withhold a repair is no harm.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import chain
from random import Random
from typing import Any, NamedTuple, TypeAlias

from legato.errors import FormatError, RepairRefused
from legato.formats import Document, lint_document, mend, read, write
from legato.formats.findings import refused
from legato.formats.patching.splices import apply_splices
from legato.formats.wire.shapes import WIRE_DIALECTS
from legato.model import Dialect
from legato.model.closures import recognise_closure
from legato.wire.dialects import dialect_parts
from legato.wire.phrases import EMPTY_RESULT
from mutation_seeds import SAMPLES, bodies

Json: TypeAlias = Any

SESSIONS = ("claude-code", "codex", "legato")
"""formats of sessions that can be repaired"""
LARGEST = 60_000
"""bytes of a file that is damaged: a larger one costs more time and shows nothing else"""
KINDS = ("drop", "repeat", "swap", "garble", "cut")
LINKS = frozenset({"parentUuid", "ordinal", "logicalParentUuid"})
"""fields that may change because a neighbour came or went"""
PART_FIELDS = ("content", "parts")


class Healthy(NamedTuple):
    """A file in which nothing is refused: what it is, its bytes, and its records."""

    format: str
    data: bytes
    records: list[Json]
    field: str
    """the field of a body that holds its messages; empty for a file of lines"""


class Repair(NamedTuple):
    """What became of a damaged file: mended, withheld, unreadable or nothing to do, and the harm, if there is any."""

    what: str
    outcome: str
    harm: str = ""


# --- what is damaged --------------------------------------------------------------------------------------------------


@cache
def healthy_files(*, recorded: bool = True) -> list[Healthy]:
    """Bodies that providers took, or that we would send, and sessions with the same conversations."""
    found = list(_recorded_sessions()) if recorded else []
    known = chain.from_iterable(bodies(dialect, recorded=recorded) for dialect in Dialect)
    for number, body in enumerate(known):
        data = json.dumps(body, ensure_ascii=bool(number % 2), indent=2 if number % 3 == 0 else None).encode()
        document = _healthy(data)
        if document is None or document.format not in WIRE_DIALECTS:
            continue
        field = dialect_parts(WIRE_DIALECTS[document.format]).messages_field
        if isinstance(body.get(field), list) and len(body[field]) > 1:
            found.append(Healthy(document.format, data, body[field], field))
            session = write(document, SESSIONS[number % len(SESSIONS)]).data
            if (again := _healthy(session)) is not None:
                found.append(Healthy(again.format, session, [json.loads(line) for line in session.splitlines()], ""))
    return found


def _healthy(data: bytes) -> Document | None:
    """The document of a file that is small and in which nothing would be refused."""
    if len(data) > LARGEST:
        return None
    try:
        document = read(data)
    except FormatError:
        return None
    return None if refused(lint_document(document)) or document.not_carried else document


def _recorded_sessions() -> Iterator[Healthy]:
    for folder in ("claude-code", "agent-sessions-multi"):
        for path in sorted((SAMPLES / folder).rglob("*.jsonl")):
            data = path.read_bytes()
            document = _healthy(data)
            if document is not None and document.format in SESSIONS:
                yield Healthy(document.format, data, [json.loads(line) for line in data.splitlines()], "")


# --- how it is damaged ------------------------------------------------------------------------------------------------


class Damaged(NamedTuple):
    """The damaged bytes, and the numbers of the records that were hit."""

    data: bytes
    hit: set[int]


def damage(chance: Random, file: Healthy, kind: str) -> Damaged:
    """`file` with one record dropped, repeated, swapped with the next, garbled, or cut off with all that follows it."""
    place = chance.randrange(len(file.records))
    if file.field:
        return _damaged_body(chance, file, kind, place)
    lines = file.data.splitlines(keepends=True)
    if kind == "drop":
        return Damaged(b"".join([*lines[:place], *lines[place + 1 :]]), {place})
    if kind == "repeat":
        return Damaged(b"".join([*lines[: place + 1], *lines[place:]]), set())
    if kind == "swap":
        place = min(place, len(lines) - 2)
        swapped = [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]]
        return Damaged(b"".join(swapped), {place, place + 1})
    if kind == "garble":
        line = lines[place]
        at = chance.randrange(len(line) - 1)
        lines[place] = line[:at] + chance.randbytes(4).replace(b"\n", b"?") + line[at + 4 :].lstrip(b"\n") + b"\n"
        return Damaged(b"".join(lines), {place})
    last = lines[-1]
    lines[-1] = last[: chance.randrange(1, len(last) - 1)]
    return Damaged(b"".join(lines), {len(lines) - 1})


def _damaged_body(chance: Random, file: Healthy, kind: str, place: int) -> Damaged:
    body = json.loads(file.data)
    messages: list[Json] = body[file.field]
    hit = {place}
    if kind == "drop":
        del messages[place]
    elif kind == "repeat":
        messages.insert(place, messages[place])
        hit = set()
    elif kind == "swap" and place + 1 < len(messages):
        messages[place : place + 2] = messages[place + 1], messages[place]
        hit = {place, place + 1}
    elif kind == "garble":
        messages[place] = chance.choice(
            [None, "lost", {}, {"role": "user"}, {"text": "lost"}, {**messages[place], "role": "narrator"}]
        )
    else:  # one part of a message, or one call
        hit = {place} if _cut_part(chance, messages[place]) else set()
    indent = 2 if b"\n" in file.data else None
    return Damaged(json.dumps(body, indent=indent).encode(), hit)


def _cut_part(chance: Random, message: Json) -> bool:
    lists = [
        value for name, value in message.items() if name in (*PART_FIELDS, "tool_calls") and isinstance(value, list)
    ]
    lists = [value for value in lists if value]
    if lists:
        parts: list[Json] = chance.choice(lists)
        del parts[chance.randrange(len(parts))]
    return bool(lists)


# --- whether its repair does harm -------------------------------------------------------------------------------------


def try_repair(seed: int, index: int, *, recorded: bool = True) -> Repair:
    """The case of that number in the campaign of that seed."""
    chance = Random(f"{seed}/{index}")
    file = chance.choice(healthy_files(recorded=recorded))
    kind = chance.choice(KINDS)
    damaged = damage(chance, file, kind)
    what = f"{file.format}, {kind}"
    try:
        mended = mend(read(damaged.data, format=file.format))
    except RepairRefused:
        return Repair(what, "withheld")
    except FormatError:
        return Repair(what, "unreadable")
    if not mended.changes:
        same = mended.data == damaged.data
        return Repair(what, "nothing to mend", "" if same else "bytes differ, and no change was told")
    return Repair(what, "mended", _harm(file, damaged, mended.data, mended.splices))


def _harm(file: Healthy, damaged: Damaged, data: bytes, splices: Any) -> str:
    if apply_splices(damaged.data, splices) != data:
        return "bytes differ outside the splices"
    if left := refused(lint_document(read(data, format=file.format))):
        return f"it is still refused: {left[0].message} at {left[0].place}"
    if file.field:
        before, after = json.loads(file.data), json.loads(data)
        fields = [
            name
            for name in {**before, **after}
            if name != file.field and before.get(name) != after.get(name) and not _has_grown(name, before, after)
        ]
        if fields:
            return f"fields around the messages differ: {fields}"
        return _lost(file, damaged.hit, after[file.field], "\n".join(_strings(after)))
    now = [json.loads(line) for line in data.splitlines() if line.strip()]
    return _lost(file, damaged.hit, now, "\n".join(_strings(now)))


def _has_grown(name: str, before: Json, after: Json) -> bool:
    """Whether this is the field for instructions, and one that has come to be the first message was moved there."""
    was, now = list(_strings(before.get(name))), list(_strings(after.get(name)))
    return name in ("system", "systemInstruction") and set(was) <= set(now)


def _lost(file: Healthy, hit: set[int], now: list[Json], words: str) -> str:
    """The first record that was not hit and is not what it was, if there is one."""
    hit_ids = {text for number in hit for text in _strings(file.records[number])}
    parts = [part for record in now for part in _parts(record)]
    for number, record in enumerate(file.records):
        if number in hit or any(_is_kept(record, one) for one in now):
            continue
        own = _parts(record)
        if own and all(part in parts for part in own):
            continue  # what it holds is there, beside other things
        # A result goes with its call: it is quoted then, unless it said that there is none. And see `_has_grown`.
        is_moved = record.get("role") == "system" or hit_ids & set(_strings(record))
        if is_moved and _is_quoted(record, words):
            continue
        return f"a record that was right is gone or changed: {json.dumps(record)[:300]}"
    return ""


def _parts(record: Json) -> list[Json]:
    """The parts of a message, wherever they are in its record."""
    if not isinstance(record, dict):
        return []
    if isinstance(message := record.get("message"), dict):
        return _parts(message)
    found = [value for name, value in record.items() if name in PART_FIELDS and isinstance(value, list)]
    return [part for value in found for part in value]


def _is_kept(was: Json, now: Json) -> bool:
    """Whether a record is what it was, apart from links."""
    if not isinstance(was, dict) or not isinstance(now, dict):
        return was == now
    return {name: was[name] for name in was.keys() - LINKS} == {name: now[name] for name in now.keys() - LINKS}


def _is_quoted(part: Json, words: str) -> bool:
    """Whether what a part says can be read somewhere else, as words or inside JSON."""
    said = [text for text in _strings(part) if " " in text or "\n" in text]
    return all(
        text in words
        or json.dumps(text, ensure_ascii=False)[1:-1] in words
        or text == EMPTY_RESULT
        or recognise_closure(text) is not None
        for text in said
    )


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
