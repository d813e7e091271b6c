"""The messages of units, one after the other, and their bytes.

In:  the messages of each unit, in order.
Out: the list of messages, where each unit begins in it, and the JSON of each message, encoded once.

Where a dialect wants it, neighbouring messages of one role are joined into one: their blocks are in one list, or, for
human messages that are plain text, a function makes one of two. The messages only ever grow at the end or are cut back
to the place of a change, so a turn costs what is new.

A request does not copy the messages: it keeps the list, how long it was, and its last message. That is enough, since a
message that a request has seen is never changed, only the last one is ever replaced, and a cut begins a new list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import msgspec

from legato.model import JsonObject
from legato.wire.context import End

encode_json = msgspec.json.Encoder().encode


class Assembly:
    """The messages of one encoded conversation.

    `messages`, `counts`, `fills` and `ends` belong together: code that adds a unit to one of them adds it to all. The
    loop over simple units does so itself, because a call for each unit would cost as much as encoding it.
    """

    def __init__(self, blocks_field: str, join: Callable[[JsonObject, JsonObject], JsonObject] | None = None) -> None:
        """`blocks_field` is what grows when messages of one role are joined; `join` makes one of two human ones."""
        self.blocks_field = self._field = blocks_field
        self._join = join
        self._pieces: dict[int, list[JsonObject]] = {}
        """what a message was joined from, by its number"""
        self.messages: list[JsonObject] = []
        self.counts: list[int] = []
        """how many messages there were before each unit"""
        self.fills: list[int] = []
        """how many blocks or pieces the last of them held; empty where messages are never joined"""
        self.ends: list[End] = []
        """how each unit ended"""
        self._open: JsonObject | None = None
        """the last message, if no one else has seen it: any other is replaced by a copy before it grows"""
        self.bytes_held = 0
        self.when_cut: Callable[[int], None] | None = None
        """told from which message on they are gone, or others now"""
        self._encoded: list[bytes] = []

    @property
    def end(self) -> End:
        """How the last unit ended."""
        return self.ends[-1] if self.ends else End.START

    def append(self, added: Sequence[JsonObject], end: End) -> None:
        """Add the messages of the next unit. They are ours from now on: where messages are joined, one may grow."""
        messages, name, join = self.messages, self._field, self._join
        if not name and join is None:
            self.extend(added, end)
            return
        last = messages[-1] if messages else None
        self._begin_unit(end)
        for message in added:
            if last is None or last["role"] != message["role"] or (join is not None and last["role"] != "user"):
                messages.append(message)
                last = self._open = message
            elif join is None:
                if last is not self._open:
                    last = self._reopen_last()
                last[name] += message[name]
            else:
                number = len(messages) - 1
                self._forget_from(number)
                self._pieces[number] = [*self._pieces_of(number), message]
                last = self._open = messages[number] = join(last, message)

    def extend(self, added: Sequence[JsonObject], end: End) -> None:
        """Add the messages of a unit of which none joins another."""
        self._begin_unit(end)
        if added:
            self.messages += added
            self._open = self.messages[-1]

    def own_last(self) -> None:
        """The last message is new, so it may grow."""
        self._open = self.messages[-1]

    def _begin_unit(self, end: End) -> None:
        count, fill = self._position()
        self.counts.append(count)
        if self._field or self._join is not None:
            self.fills.append(fill)
        self.ends.append(end)

    @property
    def joins_pieces(self) -> bool:
        """Whether human messages are joined by a function, and not block by block."""
        return self._join is not None

    @property
    def last_size(self) -> int:
        """How many blocks or pieces the last message holds."""
        return self._position()[1]

    def _start(self, unit: int) -> tuple[int, int]:
        """Where the unit with this number begins, which may be the next one: messages before it, and how full the last
        of them was.
        """
        if unit == len(self.counts):
            return self._position()
        return self.counts[unit], self.fills[unit] if self.fills else 0

    def append_copies(self, added: Sequence[JsonObject], end: End) -> None:
        """Add messages of a unit that someone else holds."""
        name = self._field
        self.append([{**message, name: [*message[name]]} for message in added] if name else added, end)

    def _reopen_last(self) -> JsonObject:
        """A copy of the last message, which others have seen, in its place."""
        self._forget_from(len(self.messages) - 1)
        last = self.messages[-1]
        self._open = self.messages[-1] = {**last, self._field: [*last[self._field]]}
        return self._open

    def cut(self, unit: int) -> list[tuple[JsonObject, ...]]:
        """Take the unit with this number, and all after it, away again; the messages of each of them."""
        gone = [self.messages_of(number) for number in range(unit, len(self.counts))]
        if not gone:
            return gone
        count, blocks = self._start(unit)
        self.counts, self.fills, self.ends = self.counts[:unit], self.fills[:unit], self.ends[:unit]
        self.messages = self.messages[:count]
        self._forget_from(count)
        for number in [number for number in self._pieces if number >= count]:
            del self._pieces[number]
        if blocks and self._position()[1] > blocks:
            self._shorten_last(blocks)
        self._open = None
        return gone

    def _shorten_last(self, size: int) -> None:
        """Leave only the first `size` blocks or pieces of the last message."""
        number, last = len(self.messages) - 1, self.messages[-1]
        if self._join is None:
            self.messages[-1] = {**last, self._field: last[self._field][:size]}
        else:
            pieces = self._pieces.pop(number)[:size]
            self.messages[-1] = reduce(self._join, pieces)
            if size > 1:
                self._pieces[number] = pieces
        self._forget_from(number)

    def messages_of(self, unit: int) -> tuple[JsonObject, ...]:
        """The messages of the unit with this number; of joined ones the part that is its own."""
        first, skipped = self._start(unit)
        stop, taken = self._start(unit + 1)
        name = self._field
        if not name and not self._pieces:
            return tuple(self.messages[first:stop])
        own: list[JsonObject] = []
        for number in range(max(first - 1, 0), stop):
            message = self.messages[number]
            begin, end = skipped if number < first else 0, taken if number == stop - 1 else None
            if not name:
                own += self._pieces_of(number)[begin:end]
            elif blocks := message[name][begin:end]:
                own.append({**message, name: blocks})
        return tuple(own)

    def lend(self) -> list[JsonObject]:
        """The messages for a request to keep: what is in the list now stays as it is, except that the last may be
        replaced by a longer one.
        """
        self._open = None
        return self.messages

    def encoded(self) -> list[bytes]:
        """The JSON of each message; what was encoded before is not encoded again, and not changed."""
        self.lend()
        for message in self.messages[len(self._encoded) :]:
            data = encode_json(message)
            self.bytes_held += len(data)
            self._encoded.append(data)
        return self._encoded

    def shares(self, unit: int) -> list[bytes]:
        """The JSON of what was printed for the unit with this number; of a message that it shares, only its own part.

        What was encoded is not encoded again, as long as no other unit comes before it in its message.
        """
        first, skipped = self._start(unit)
        stop, taken = self._start(unit + 1)
        encoded, name = self.encoded(), self._field
        if not name and self._pieces:
            return [*map(encode_json, self.messages_of(unit))]
        if not name:
            return encoded[first:stop]
        shares: list[bytes] = []
        for number in range(max(first - 1, 0), stop):
            message = self.messages[number]
            blocks = message[name]
            begin = skipped if number < first else 0
            end = taken if number == stop - 1 else len(blocks)
            if begin == 0 and end:
                shares.append(_beginning(encoded[number], blocks[end:]))
            elif begin < end:
                shares.append(encode_json({**message, name: blocks[begin:end]}))
        return shares

    def last_block(self) -> tuple[int, int] | None:
        """The numbers of the last message and of the last block in it."""
        if not self.messages or not self._field:
            return None
        return len(self.messages) - 1, len(self.messages[-1][self._field]) - 1

    def _position(self) -> tuple[int, int]:
        """Where the next unit begins."""
        messages = self.messages
        if not messages or not (self._field or self._join):
            return len(messages), 0
        last = messages[-1][self._field] if self._field else self._pieces_of(len(messages) - 1)
        return len(messages), len(last)

    def _pieces_of(self, number: int) -> Sequence[JsonObject]:
        """What the message with this number was joined from: itself, if it was not."""
        return self._pieces.get(number) or (self.messages[number],)

    def _forget_from(self, message: int) -> None:
        for data in self._encoded[message:]:
            self.bytes_held -= len(data)
        del self._encoded[message:]
        if self.when_cut is not None:
            self.when_cut(message)


def _beginning(message: bytes, others: list[JsonObject]) -> bytes:
    """An encoded message, whose blocks are its last field, without the last of them, which are `others`."""
    return message[: -len(encode_json(others)) - 1] + b"]}" if others else message


def with_tail(messages: list[JsonObject], tail: Sequence[JsonObject], blocks_field: str) -> list[JsonObject]:
    """A copy of `messages` with `tail` at the end, for what is in one request only."""
    assembly = Assembly(blocks_field)
    assembly.messages = list(messages)
    assembly.lend()
    assembly.append(tail, End.HUMAN)
    return assembly.messages


def open_json(fields: bytes, name: str, first: Sequence[JsonObject]) -> bytes:
    """The beginning of a body: the encoded object `fields` up to where the messages are, and the `first` of them."""
    comma = b"," if len(fields) > 2 else b""
    return b"".join(
        (memoryview(fields)[:-1], comma, b'"', name.encode(), b'":[', *(encode_json(item) + b"," for item in first))
    )


def join_json(opening: bytes, messages: list[bytes]) -> bytes:
    """The body: its beginning and the encoded `messages`, a list that may be changed; one copy of each byte.

    The beginning is as long as all tools, so it is put in at a comma of its own, whichever that is: it comes back.
    """
    if not messages:
        return opening.removesuffix(b",") + CLOSING
    cut = opening.rfind(b",")
    messages[0] = opening[cut + 1 :] + messages[0]
    messages[-1] += CLOSING
    return b",".join(messages) if cut < 0 else b",".join([memoryview(opening)[:cut], *messages])


CLOSING = b"]}"
