"""Server-sent events out of raw bytes, however they are split.

In:  the bytes of a response, in pieces that may break anywhere, also inside a character.
Out: the events whose blank line has arrived.

Lines end in LF, CRLF or CR; comments and unknown fields are skipped, a byte-order mark at the start too. Each byte is
looked at once, when it arrives: what is kept of an unfinished line is known to hold no line end, and is only added to.
A line, or an event, longer than `longest` bytes raises `BadAnswer`.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.errors import BadAnswer
from legato.wire.bounds import Bounds, beyond

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    """One event: its type (empty if it has none) and its data lines joined with newlines."""

    event: str
    data: str


class SSEParser:
    """Collects bytes and gives out whole events."""

    def __init__(self, longest: int = Bounds().event) -> None:
        self.longest = longest
        self._tail = bytearray()
        """the beginning of a line whose end has not arrived"""
        self._after_return = False
        """whether the last byte was a CR: an LF that follows belongs to it"""
        self._is_first_line = True
        self._event = ""
        self._data: list[str] = []
        self._size = 0
        """bytes of the data lines of the event that is being read"""

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes."""
        if not data:
            return []
        if self._after_return:
            data = data.removeprefix(b"\n")
        self._after_return = data.endswith(b"\r")
        lines = data.splitlines()  # bytes, unlike text, know no other line ends than these three
        rest = lines.pop() if lines and not data.endswith((b"\n", b"\r")) else b""
        if lines and self._tail:
            self._tail += lines[0]
            lines[0] = bytes(self._tail)
            self._tail.clear()
        events: list[ServerSentEvent] = []
        for line in lines:
            self._take(line, events)
        self._tail += rest
        if len(self._tail) > self.longest:
            raise self._too_long("a line")
        return events

    def close(self) -> list[ServerSentEvent]:
        """The event that was still open at the end of the stream, if any: some servers forget the last blank line."""
        return self.feed(b"\n\n")

    def _take(self, line: bytes, events: list[ServerSentEvent]) -> None:
        if not line:
            if self._data:
                events.append(ServerSentEvent(self._event, "\n".join(self._data)))
                self._data, self._size = [], 0
            self._event = ""
            return
        if len(line) > self.longest:
            raise self._too_long("a line")
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line.startswith(b"data:") or line == b"data":  # a field without a colon has an empty value
            self._size += len(line)
            if self._size > self.longest:
                raise self._too_long("an event")
            self._data.append(_text(line[5:]))
        elif line.startswith(b"event:") or line == b"event":
            self._event = _text(line[6:])

    def _too_long(self, what: str) -> BadAnswer:
        return beyond(f"{what} of it is longer than {self.longest:,} bytes", bound="event", limit=self.longest)


def _text(value: bytes) -> str:
    return value.removeprefix(b" ").decode("utf-8", "replace")
