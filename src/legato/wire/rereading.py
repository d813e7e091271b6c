"""Read the bodies of one conversation, each from where it departs from the one before.

In:  bodies of one dialect, and how many of the messages of each are those of the body before.
Out: for each what `parse` gives, which reads all of it.

A client sends the whole conversation with every request, and mostly adds to its end. Now and then it changes what it
said last (marks for a cache move on), or goes back a little. So states of the reader are kept at some places, the more
of them the nearer to the end: going back by some messages costs reading at most twice as many, or a handful.
"""

from __future__ import annotations

from typing import Any, cast

from legato.model import Json, JsonObject
from legato.wire.contract import BodyReader, DialectParts, Parsed

_NEAR = 3
"""as a power of two: how far from the end the last state is, but for that before the last message. Reading so few
messages again costs no more than a state"""


class Rereader:
    """Reads the bodies of one conversation."""

    def __init__(self, parts: DialectParts) -> None:
        self._parts = parts
        self._reader: BodyReader | None = parts.reader() if parts.reader is not None else None
        self._states: list[tuple[int, Any]] = []
        """of the reader, each with the number of messages that it knows, the oldest first"""
        if self._reader is not None:
            self._states.append((0, self._reader.save()))

    def read(self, body: JsonObject, same: int) -> Parsed:
        """What `body` says. Its first `same` messages are those of the body that was read before; 0 if there is none.

        What is raised for a body is what `parse` raises, and nothing else may be read after that.
        """
        messages = body.get(self._parts.messages_field)
        if self._reader is None or not isinstance(messages, list):
            return self._parts.parse(body)
        items = cast("list[Json]", messages)
        # The last message is read as such, and so are those before it only if no more come: it is no part of a state.
        last = max(len(items) - 1, 0)
        count = self._go_back(min(same, last))
        for stop in _stops(count, len(items)):
            self._reader.read(items[count:stop], count, ends=False)
            self._states.append((stop, self._reader.save()))
            count = stop
        self._reader.read(items[last:], last, ends=True)
        self._thin_out(len(items))
        return self._reader.parsed(body)

    def _go_back(self, count: int) -> int:
        """Come to know no more than `count` messages; how many that is."""
        while self._states[-1][0] > count:
            self._states.pop()
        known, state = self._states[-1]
        if self._reader is not None:
            self._reader.restore(state)
        return known

    def _thin_out(self, count: int) -> None:
        """Keep one state at each distance from the end, a distance being twice the one before; and the first of all."""
        kept: dict[int, tuple[int, Any]] = {}
        for known, state in self._states:
            kept[(count - known).bit_length() if known else -1] = known, state
        self._states = list(kept.values())


def _stops(known: int, count: int) -> list[int]:
    """Where states are kept on the way from `known` messages to the last of `count`."""
    distances = [1 << power for power in range(_NEAR, count.bit_length())]
    return [count - distance for distance in (*reversed(distances), 1) if count - distance > known]
