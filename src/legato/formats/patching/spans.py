"""Where the values of a JSON text are, in bytes.

In:  the bytes of a JSON value.
Out: the ranges of its members and elements, found without decoding them; and the range of what a place such as
     `messages[3].content[0]` names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

_BLANK = re.compile(rb"[\s\0]*")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)
_SCALAR = re.compile(rb"[^\s\0,\]}]+")
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")


class UnclearText(Exception):
    """The bytes are not the JSON that they were taken for, as far as can be seen."""


class Span(NamedTuple):
    """The bytes of a value: from `start` up to `end`."""

    start: int
    end: int


class JsonPart(NamedTuple):
    """A member of an object or an element of a list: where it begins, where its value does, and where both end.

    `key_end` is where the name of a member ends; an element has none.
    """

    start: int
    value: int
    end: int
    name: str = ""
    key_end: int = 0


class Places:
    """Finds places in one text; each object and list on the way is gone through once, however many places are in it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._root: Span | None = None
        self._parts: dict[int, dict[str | int, Span]] = {}

    def span(self, place: str) -> Span | None:
        """The value that `place` names, or the innermost that would hold it; None where the text is no JSON value."""
        try:
            found = self._whole()
            for step in _STEP.finditer(place):
                inside = self._inside(found).get(step[2] if step[1] is None else int(step[1]))
                if inside is None:
                    break
                found = inside
        except UnclearText:
            return None
        return found

    def _whole(self) -> Span:
        if self._root is None:
            start = first_value(self._data)
            self._root = Span(start, end_of(self._data, start))
        return self._root

    def _inside(self, outer: Span) -> dict[str | int, Span]:
        if outer.start not in self._parts:
            parts = json_parts(self._data, *outer) if self._data[outer.start : outer.start + 1] in (b"{", b"[") else ()
            self._parts[outer.start] = {
                part.name if part.key_end else index: Span(part.value, part.end) for index, part in enumerate(parts)
            }
        return self._parts[outer.start]


def first_value(data: bytes) -> int:
    """Where the value of a text begins."""
    return _blank(data, 3 if data.startswith(b"\xef\xbb\xbf") else 0)


def end_of(data: bytes, start: int) -> int:
    """Where the value at `start` ends; raises `UnclearText` if it does not."""
    first = data[start : start + 1]
    if first not in (b"{", b"["):
        found = (_STRING if first == b'"' else _SCALAR).match(data, start)
        if found is None:
            raise UnclearText
        return found.end()
    depth = 0
    for found in _BRACKET.finditer(data, start):
        token = found.group()
        depth += (token in b"{[") - (token in b"}]")
        if not depth:
            return found.end()
    raise UnclearText


def json_parts(data: bytes, start: int, end: int) -> Iterator[JsonPart]:
    """The members of the object, or the elements of the list, from `start` to `end`."""
    is_object = data[start : start + 1] == b"{"
    position = _blank(data, start + 1)
    while position < end - 1:
        first, name, key_end = position, "", 0
        if is_object:
            key = _STRING.match(data, position)
            colon = _blank(data, key.end()) if key else end
            if key is None or data[colon : colon + 1] != b":":
                raise UnclearText
            name, key_end = _text_of(key.group()), key.end()
            position = _blank(data, colon + 1)
        ends = end_of(data, position)
        yield JsonPart(first, position, ends, name, key_end)
        position = _blank(data, ends)
        if data[position : position + 1] == b",":
            position = _blank(data, position + 1)


def _blank(data: bytes, position: int) -> int:
    found = _BLANK.match(data, position)
    return found.end() if found else position


def _text_of(key: bytes) -> str:
    try:
        return msgspec.json.decode(key, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise UnclearText from None
