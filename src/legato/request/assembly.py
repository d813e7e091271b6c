"""Printed groups as messages, and messages as bytes.

In:  the groups of each unit, in order.
Out: the list of messages, and the JSON of each, encoded once.

Groups with a role join a neighbouring message of the same role; groups without one are messages already. The messages
only ever grow at the end or are cut back to the place of a change, so a turn costs what is new.

A request does not copy the messages: it keeps the list, how long it was, and its last message. That is enough, since a
message that a request has seen is never changed, only the last one is ever replaced, and a cut begins a new list.
"""

from __future__ import annotations

import msgspec

from legato.model import JsonObject
from legato.wire.contract import Group

encode_json = msgspec.json.Encoder().encode


class Assembly:
    """The messages of one spelling."""

    def __init__(self, blocks_field: str) -> None:
        self._field = blocks_field
        self.messages: list[JsonObject] = []
        self.version = 0
        """grows whenever the messages change"""
        self.bytes_held = 0
        self._lent = 0
        """how many messages requests may have seen"""
        self._encoded: list[bytes] = []
        self._places: list[tuple[int, int]] = []
        """where each unit begins: how many messages stand before it, and how many blocks in the last of them"""

    def append(self, groups: tuple[Group, ...]) -> None:
        """Add the next unit."""
        messages, name = self.messages, self._field
        last: JsonObject | None = messages[-1] if messages else None
        self._places.append((len(messages), len(last[name]) if name and last is not None else 0))
        if not groups:
            return
        self.version += 1
        for group in groups:
            role = group.role
            if not role:
                messages += group.blocks
                last = messages[-1] if messages else None
            elif last is None or last["role"] != role:
                last = {"role": role, name: [*group.blocks]}
                messages.append(last)
            elif len(messages) > self._lent:
                last[name].extend(group.blocks)
            else:
                last = messages[-1] = {"role": role, name: [*last[name], *group.blocks]}
                self._forget_from(len(messages) - 1)

    def cut(self, unit: int) -> None:
        """Take the unit with this number, and all after it, away again."""
        if unit >= len(self._places):
            return
        count, blocks = self._places[unit]
        del self._places[unit:]
        self.messages = self.messages[:count]
        self._lent = min(self._lent, count)
        self._forget_from(count)
        if blocks and len(self.messages[-1][self._field]) > blocks:
            last = self.messages[-1]
            self.messages[-1] = {"role": last["role"], self._field: last[self._field][:blocks]}
            self._forget_from(count - 1)
        self.version += 1

    def lend(self) -> list[JsonObject]:
        """The messages for a request to keep: what stands in the list now stays as it is, except that the last may be
        replaced by a longer one.
        """
        self._lent = len(self.messages)
        return self.messages

    def encoded(self) -> list[bytes]:
        """The JSON of each message; what was encoded before is not encoded again."""
        for message in self.messages[len(self._encoded) :]:
            data = encode_json(message)
            self.bytes_held += len(data)
            self._encoded.append(data)
        return self._encoded

    def end(self) -> tuple[int, int] | None:
        """The numbers of the last message and of the last block in it."""
        if not self.messages or not self._field:
            return None
        return len(self.messages) - 1, len(self.messages[-1][self._field]) - 1

    def _forget_from(self, message: int) -> None:
        for data in self._encoded[message:]:
            self.bytes_held -= len(data)
        del self._encoded[message:]


def with_tail(messages: list[JsonObject], groups: tuple[Group, ...], blocks_field: str) -> list[JsonObject]:
    """A copy of `messages` with `groups` at the end, for what stands in one request only."""
    assembly = Assembly(blocks_field)
    assembly.messages = list(messages)
    assembly.append(groups)
    return assembly.messages


def join_json(fields: bytes, name: str, messages: list[bytes]) -> bytes:
    """The body: the encoded object `fields`, with the encoded `messages` as its last member; one copy of each byte."""
    comma = b"," if len(fields) > 2 else b""
    head = b"".join((fields[:-1], comma, b'"', name.encode(), b'":['))
    if not messages:
        return head + b"]}"
    if len(messages) == 1:
        return b"".join((head, messages[0], b"]}"))
    return b",".join((head + messages[0], *messages[1:-1], messages[-1] + b"]}"))
