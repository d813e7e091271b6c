"""What arrives in pieces, kept so that no piece is read twice.

`GrowingArguments` tells at any time whether the arguments of a call are whole. `ReasoningDetails` joins the details of
a thought. Both only collect while the stream runs: a server that repeats a name, or an index, in each of a million
pieces costs no more than one that does not.
"""

from __future__ import annotations

import re

import msgspec

from legato.model import Json, JsonObject, clean_text, ingest

_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')


class GrowingArguments:
    """The arguments of one call, as text.

    Whether they are whole is asked rarely, and of few servers; then brackets are counted from where the count stopped,
    and only where the outermost one closes is the text parsed.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._size = 0
        self._counted = 0
        """how many of the pieces have been looked at"""
        self._depth = 0
        self._in_string = False
        self._skip = 0
        """characters that a backslash at the end of a piece hides in the next one"""
        self._is_closed = False
        self._whole: bool | None = None
        """whether it is one JSON object; None as long as that is open"""

    def add(self, piece: str) -> None:
        """More of it."""
        if piece:
            self.pieces.append(piece)
            self._size += len(piece)

    def is_whole(self) -> bool:
        """Whether the text so far is a complete JSON object."""
        while self._counted < len(self.pieces) and self._whole is not False:
            self._count(self.pieces[self._counted])
            self._counted += 1
        if self._is_closed and self._whole is None:
            self._whole = _is_object("".join(self.pieces))
        return self._whole is True

    def equals(self, text: str) -> bool:
        """Whether `text` is all of it."""
        return len(text) == self._size and text == "".join(self.pieces)

    def _count(self, piece: str) -> None:
        if self._is_closed or not self._depth:
            piece = piece.lstrip(" \t\r\n")
            if not piece:
                return
            if self._is_closed or piece[0] != "{":
                self._whole = False  # something behind the end, or no object from the start
                return
        at, self._skip = self._skip, 0
        while match := (_INSIDE if self._in_string else _OUTSIDE).search(piece, at):
            at = match.end()
            mark = match[0]
            if mark == '"':
                self._in_string = not self._in_string
            elif mark == "\\":
                at += 1
            elif mark in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if not self._depth:
                    self._is_closed = True
                    self._whole = None if not piece[at:].strip(" \t\r\n") else False
                    return
        self._skip = max(0, at - len(piece))


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


class ReasoningDetails:
    """The `reasoning_details` of one answer: those of one index and type in a row are one detail."""

    def __init__(self) -> None:
        self._details: list[JsonObject] = []
        self._grown: list[dict[str, list[str]]] = []
        """for each of them, the pieces of the texts in it"""

    def add(self, item: JsonObject) -> None:
        """Take a detail, or a piece of one: its texts are joined, everything else is set once it is known."""
        is_new = not self._goes_on(item)
        if is_new:
            self._details.append({})
            self._grown.append({})
        detail, grown = self._details[-1], self._grown[-1]
        for name, value in item.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                grown.setdefault(name, []).append(value)
                detail.setdefault(name)  # its place among the fields
            elif value is not None or is_new:
                grown.pop(name, None)
                detail[clean_text(name)] = ingest(value)

    def _goes_on(self, item: JsonObject) -> bool:
        last = self._details[-1] if self._details else {}
        index = item.get("index")
        return index is not None and index == last.get("index") and item.get("type") == last.get("type")

    def value(self) -> Json:
        """All details, whole."""
        return [
            {**detail, **{name: ingest("".join(pieces)) for name, pieces in grown.items()}}
            for detail, grown in zip(self._details, self._grown, strict=True)
        ]
