"""Server-sent events out of raw bytes, however they are split.

In:  the bytes of a response, in pieces that may break anywhere, also inside a character.
Out: the data of the events whose blank line has arrived.

This is the event stream of the HTML standard (https://html.spec.whatwg.org/multipage/server-sent-events.html), section
"Interpreting an event stream": lines end in LF, CRLF or CR, and a byte-order mark at the start is skipped. So is
everything but data, against the standard: providers repeat the type of an event in it. Each byte is looked at once,
when it arrives: what is kept of an unfinished line is known to hold no line end, and is only added to. A line, or
the data lines of an event together, longer than `longest` bytes raise `BadAnswer`.
"""

from __future__ import annotations

from legato.wire.bounds import Bounds, beyond

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SSEParser:
    """Collects bytes and gives out the data of whole events."""

    def __init__(self, longest: int = Bounds().event) -> None:
        self.longest = longest
        self._tail = bytearray()
        """the beginning of a line whose end has not arrived"""
        self._after_return = False
        """whether the last byte was a CR: an LF that follows belongs to it"""
        self._is_first_line = True
        self._data: list[bytes] = []
        """the data of the event that is being read, line by line"""
        self._counted = 0
        """how many of these lines have been counted"""
        self._size = 0
        """their bytes"""

    def feed(self, data: bytes) -> list[bytes]:
        """The data of the events that `data` completes, each with its lines joined by LF."""
        if not data:
            return []
        if self._after_return:
            data = data.removeprefix(b"\n")
        self._after_return = data.endswith(b"\r")
        may_be_long = len(self._tail) + len(data) > self.longest
        lines = data.splitlines()  # bytes, unlike text, know no other line ends than these three
        rest = lines.pop() if lines and not data.endswith((b"\n", b"\r")) else b""
        if lines and self._tail:
            self._tail += lines[0]
            lines[0] = bytes(self._tail)
            self._tail.clear()
        self._tail += rest
        if may_be_long:
            self._allow("a line", max(map(len, (self._tail, *lines))))
        return self._events(lines)

    def close(self) -> list[bytes]:
        """The event that was still open at the end of the stream, if any.

        The standard drops it. A server that forgot the last blank line has still said all of it, and one that broke off
        in the middle has sent no whole JSON, which is noticed.
        """
        return self.feed(b"\n\n")

    def _events(self, lines: list[bytes]) -> list[bytes]:
        if self._is_first_line and lines:
            self._is_first_line = False
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if line[:6] == b"data: ":
                data.append(line[6:])
            elif not line:
                if len(data) > 1:
                    self._allow("an event", _bytes_of(data))
                if data:
                    events.append(b"\n".join(data))
                    data.clear()
            elif line[:5] == b"data:" or line == b"data":  # a field without a colon has an empty value
                data.append(line[5:])
        if events:
            self._counted = self._size = 0
        if data:
            self._size += _bytes_of(data[self._counted :])
            self._counted = len(data)
            self._allow("an event", self._size)
        return events

    def _allow(self, what: str, size: int) -> None:
        if size > self.longest:
            message = f"{what} of it is longer than {self.longest:,} bytes"
            raise beyond(message, bound="event", limit=self.longest)


def _bytes_of(data: list[bytes]) -> int:
    """The bytes of the lines that brought `data`, with the name of the field."""
    return sum(map(len, data)) + len(data) * len(b"data: ")
