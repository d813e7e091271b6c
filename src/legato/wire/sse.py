"""Server-sent events out of raw bytes, however they are split.

In:  the bytes of a response, in pieces that may break anywhere, also inside a character.
Out: the events whose blank line has arrived.

Lines end in LF, CRLF or CR; comments and unknown fields are skipped, a byte-order mark at the start too.
"""

from __future__ import annotations

from typing import NamedTuple


class ServerSentEvent(NamedTuple):
    """One event: its type (empty if it has none) and its data lines joined with newlines."""

    event: str
    data: str


class SSEParser:
    """Collects bytes and gives out whole events."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._event = ""
        self._data: list[str] = []
        self._started = False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes."""
        self._buffer += data
        if not self._started and len(self._buffer) >= 3:
            self._started = True
            if self._buffer.startswith(b"\xef\xbb\xbf"):
                del self._buffer[:3]
        events: list[ServerSentEvent] = []
        start = 0
        while (end := self._line_end(start)) is not None:
            line_end, next_start = end
            self._take(self._buffer[start:line_end].decode("utf-8", "replace"), events)
            start = next_start
        del self._buffer[:start]
        return events

    def close(self) -> list[ServerSentEvent]:
        """The event that was still open at the end of the stream, if any: some servers forget the last blank line."""
        return self.feed(b"\n\n")

    def _line_end(self, start: int) -> tuple[int, int] | None:
        feed, carriage = self._buffer.find(b"\n", start), self._buffer.find(b"\r", start)
        if carriage != -1 and (feed == -1 or carriage < feed):
            if carriage + 1 == len(self._buffer):
                return None  # a line feed may follow in the next piece
            return carriage, carriage + (2 if self._buffer[carriage + 1] == 0x0A else 1)
        return None if feed == -1 else (feed, feed + 1)

    def _take(self, line: str, events: list[ServerSentEvent]) -> None:
        if not line:
            if self._data:
                events.append(ServerSentEvent(self._event, "\n".join(self._data)))
            self._event, self._data = "", []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
