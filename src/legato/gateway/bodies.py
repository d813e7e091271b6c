"""The body of a request as JSON, taken apart into its fields and its messages.

In:  bytes; for a long body also those that the same client sent before.
Out: the fields, decoded, and each message still as JSON, since most of them are known (`tellings`).

A long body mostly begins with all that the one before did, byte for byte, up to the end of a message. Then it is split
from there: the beginning is compared, which takes a fifth of the time, and nothing else is done with it. What is behind
is read as the end of a list, so whatever is wrong with it is found; and where a name comes twice, or anything else is
not as usual, all of it is split anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import cast

import msgspec
from msgspec import Raw, Struct

from legato.errors import FormatError
from legato.model import JsonObject
from legato.request.parsing import decode_body
from legato.wire.known_tools import decode_known

_EDGES = 4
"""messages at the end of a body behind which the next may depart from it: our choice, more than clients change"""

_FINDS = 256
"""bytes of the list of messages by which its place is found"""

_SPACE = b" \t\r\n"
_SPLIT, _LIST, _JSON = msgspec.json.Decoder(dict[str, Raw]), msgspec.json.Decoder(list[Raw]), msgspec.json.Decoder()
_NAME = re.compile(rb'[ \t\r\n,]*("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*')
"""the name of a field, with all that is between the value before it and its own"""
UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""what JSON raises that has to be looked at more closely"""


class Opening(Struct):
    """A long body that was taken apart, for the next that goes on with it."""

    data: bytes
    before: list[tuple[str, bytes]]
    """the fields in front of the messages, as JSON"""
    raws: list[Raw]
    end: int
    """where the list of messages ends: the place of its bracket"""

    def edges(self) -> Iterator[tuple[int, int]]:
        """Where its last messages end, each with how many there are by then; the last one first."""
        end = self.end
        for count in range(len(self.raws), max(len(self.raws) - _EDGES, 0), -1):
            end = _back_over(self.data, end)
            start = end - _length(self.raws[count - 1])
            if Raw(memoryview(self.data)[start:end]) != self.raws[count - 1]:
                return
            yield count, end
            end = _back_over(self.data, start) - 1  # a comma is between two of them


class OpenedBody(Struct):
    """A body of which the messages are not decoded yet."""

    fields: JsonObject
    """the others; there is None where the messages belong if they are only in `raws`"""
    raws: list[Raw] | None = None
    """the messages as JSON; None if nobody has looked, or if they are no list"""
    data: bytes = b""
    """the body as it came, for when a message cannot be decoded"""
    opening: Opening | None = None
    """if it is a long one and nothing about it is unusual"""
    is_json: bool = True
    """whether it is JSON as every server reads it; else it was read leniently, and what it says may differ from what is
    written"""


def open_body(data: bytes, messages_field: str, known: Iterable[Opening] | None = None) -> OpenedBody:
    """The body that is written in `data`; a long one may go on with one of those that are `known`.

    Raises `FormatError` if it is none. Tools that came lately are not decoded again: nobody may change what is in them.
    """
    for opening in known or ():
        if (opened := _gone_on(data, messages_field, opening)) is not None:
            return opened
    try:
        split = _SPLIT.decode(data)
        messages = split.get(messages_field, Raw(b"null"))
        raws = _LIST.decode(messages) if bytes(memoryview(messages)[:1]) == b"[" else None
        left = messages_field if raws is not None else None
        fields = {name: None if name == left else _decoded(name, raw) for name, raw in split.items()}
    except UNREADABLE:
        return open_slowly(data)
    is_json = _has_each_once(data, split)
    opening = _opening(data, messages_field, messages, raws) if raws and is_json and known is not None else None
    return OpenedBody(fields, raws, data, opening, is_json)


def open_slowly(data: bytes) -> OpenedBody:
    """The same for what is nearly JSON; it is read, or it says what is wrong."""
    value = decode_body(data)
    if not isinstance(value, dict):
        raise FormatError(f"the body of a request is an object, not {type(value).__name__}")
    return OpenedBody(cast(JsonObject, value), is_json=False)


def whole_fields(opened: OpenedBody, messages_field: str) -> JsonObject:
    """All fields of a body; raises `FormatError` if a message cannot be decoded."""
    if opened.raws is None:
        return opened.fields
    try:
        return {**opened.fields, messages_field: [_JSON.decode(raw) for raw in opened.raws]}
    except UNREADABLE:
        return open_slowly(opened.data).fields


def _has_each_once(data: bytes, split: dict[str, Raw]) -> bool:
    """Whether no name comes twice in the object that `data` is; `split` has the last value of each.

    Servers differ in which of them counts. Written without space, an object has no byte for another: only where there
    are more is it walked through, from each value to the next.
    """
    if len(data) == 1 + sum(len('"":,') + len(name) + _length(raw) for name, raw in split.items()):
        return True
    seen: set[str] = set()
    end = data.index(b"{") + 1
    while (found := _NAME.match(data, end)) is not None:
        name: str = _JSON.decode(found[1])
        start, end = found.end(), found.end() + _length(split[name])
        if name in seen or Raw(memoryview(data)[start:end]) != split[name]:
            return False
        seen.add(name)
    return data[end:].strip(_SPACE) == b"}"  # else it was not the whole of a value


def _decoded(name: str, raw: Raw | bytes) -> object:
    return decode_known(bytes(raw)) if name == "tools" else _JSON.decode(raw)


# --- bodies that go on ------------------------------------------------------------------------------------------------


def _gone_on(data: bytes, field: str, opening: Opening) -> OpenedBody | None:
    """The body in `data`, if it begins with `opening` up to the end of one of its last messages."""
    for count, end in opening.edges():
        if len(data) > end and Raw(memoryview(data)[:end]) == Raw(memoryview(opening.data)[:end]):
            try:
                return _behind(data, field, opening, count, end)
            except UNREADABLE:
                return None
    return None


def _behind(data: bytes, field: str, opening: Opening, count: int, end: int) -> OpenedBody | None:
    """The body in `data`, of which the first `count` messages are known; they end at `end`."""
    head = b'{"%b":' % field.encode()
    known = head + b"[null"  # in place of all messages that are known
    rest = known + data[end:]
    messages = _SPLIT.decode(rest)[field]
    close = len(head) + _length(messages)
    if Raw(memoryview(rest)[len(head) : close]) != messages:
        return None  # the name comes a second time
    behind = b"{" + rest[close:].lstrip(_SPACE).removeprefix(b",")
    after = _SPLIT.decode(behind)
    if field in after or any(name in after for name, _ in opening.before) or not _has_each_once(behind, after):
        return None
    raws = [*opening.raws[:count], *_LIST.decode(messages)[1:]]
    fields: JsonObject = {
        **{name: _decoded(name, written) for name, written in opening.before},
        field: None,
        **{name: _decoded(name, raw) for name, raw in after.items()},
    }
    return OpenedBody(fields, raws, data, Opening(data, opening.before, raws, end + close - 1 - len(known)))


def _opening(data: bytes, field: str, messages: Raw, raws: list[Raw]) -> Opening | None:
    """What the next body may go on with; None where it is not plain where the list of messages is."""
    start = data.find(bytes(memoryview(messages)[:_FINDS]))
    end = start + _length(messages)
    if Raw(memoryview(data)[start:end]) != messages:
        return None
    try:
        before = _SPLIT.decode(data[:start] + b"null}")
        after = _SPLIT.decode(b"{" + data[end:].lstrip(_SPACE).removeprefix(b","))
    except UNREADABLE:
        return None
    if list(before)[-1:] != [field] or not before.keys().isdisjoint(after):
        return None
    del before[field]
    return Opening(data, [(name, bytes(raw)) for name, raw in before.items()], raws, end - 1)


def _back_over(data: bytes, end: int) -> int:
    """`end`, before any space that is in front of it."""
    while data[end - 1] in _SPACE:
        end -= 1
    return end


def _length(raw: Raw) -> int:
    return memoryview(raw).nbytes
