"""Server-sent events out of raw bytes, however they are split.

In:  the bytes of a response, in pieces that may break anywhere, also inside a character.
Out: the data of the events whose blank line has arrived.

This is the event stream of the HTML standard (https://html.spec.whatwg.org/multipage/server-sent-events.html), section
"Interpreting an event stream": lines end in LF, CRLF or CR, and a byte-order mark at the start is skipped. So is
everything but data, against the standard: providers repeat the type of an event in it. Each byte is looked at once,
when it arrives: what is kept of an unfinished line is known to hold no line end, and is only added to. A line, or an
event, longer than `longest` bytes raises `BadAnswer`.
"""

from __future__ import annotations

from legato.errors import BadAnswer
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
        """the data lines of the event that is being read"""
        self._size = 0
        """their bytes"""

    def feed(self, data: bytes) -> list[bytes]:
        """The data of the events that `data` completes, each with its lines joined by LF."""
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
        self._tail += rest
        if max(map(len, lines), default=0) > self.longest or len(self._tail) > self.longest:
            raise self._too_long("a line")
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
        data, size = self._data, self._size
        for line in lines:
            if not line:
                if data:
                    events.append(b"\n".join(data))
                    data.clear()
                    size = 0
            elif line[:5] == b"data:" or line == b"data":  # a field without a colon has an empty value
                size += len(line)
                if size > self.longest:
                    raise self._too_long("an event")
                data.append(line[5:].removeprefix(b" "))
        self._size = size
        return events

    def _too_long(self, what: str) -> BadAnswer:
        return beyond(f"{what} of it is longer than {self.longest:,} bytes", bound="event", limit=self.longest)
