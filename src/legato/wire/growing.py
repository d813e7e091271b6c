"""A block of a reply while it is written: what is known of it, and what was written of it so far."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from legato.model import CallKind, Code, HostedTool, JsonObject, Media, Text, Thinking, ToolCall, clean_text
from legato.model.hashing import base62
from legato.wire.arguments import read_arguments

Growing: TypeAlias = Text | Thinking | ToolCall
"""the blocks that arrive in pieces"""

Whole: TypeAlias = Code | HostedTool | Media
"""the blocks that an answer may hold beside them, which come whole"""


class Part(Struct, eq=False):
    """A text, a thought or a call while it is written."""

    begun: Growing
    """what was known of it when it began"""
    call: int = -1
    """which call of the answer it is"""
    place: int = -1
    """which block of the response it is; -1 before it is opened"""
    growth: JsonObject = {}
    """what every event says that brings more of it, in the words of its dialect"""
    is_closed: bool = False
    pieces: list[str] = field(default_factory=list[str])
    half: str = ""
    """half of a surrogate pair, whose other half may be in the next piece"""
    unclaimed: int = 0
    """how many of its characters belong to no whole block yet"""

    @property
    def text(self) -> str:
        """What was written so far."""
        return "".join(self.pieces)

    @property
    def native(self) -> JsonObject:
        """The native data that was known when it began."""
        return self.begun.native or {}

    @property
    def is_redacted(self) -> bool:
        """Whether it is a thought that came as data only its provider reads: Claude's protocols send no words of it."""
        return isinstance(self.begun, Thinking) and "data" in self.native

    @property
    def is_open(self) -> bool:
        """Whether it can grow in the stream."""
        return self.place >= 0 and not self.is_closed

    @property
    def is_free_text(self) -> bool:
        """Whether its arguments are free text."""
        return isinstance(self.begun, ToolCall) and self.begun.kind is CallKind.CUSTOM

    def readable(self, piece: str) -> str:
        """What can be sent once `piece` is there: JSON has no half characters, so one at the end is kept back."""
        piece, self.half = self.half + piece, ""
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self.half = piece[:-1], piece[-1]
        return clean_text(piece)

    def take_half(self) -> str:
        """What stands for half a character after which nothing came."""
        half, self.half = self.half, ""
        return clean_text(half)

    def add(self, piece: str) -> None:
        """`piece` was written."""
        self.pieces.append(piece)
        self.unclaimed += len(piece)

    def block(self) -> Growing:
        """The block as far as it is known."""
        match self.begun:
            case Text() | Thinking():
                return replace(self.begun, text=self.text)
            case ToolCall(kind=CallKind.CUSTOM):
                return replace(self.begun, arguments={"input": self.text})
            case ToolCall():
                value, raw, finished = read_arguments(self.text)
                return replace(self.begun, arguments=value, raw=raw, finished=finished)


def minted_id(prefix: str, response_id: str, place: int) -> str:
    """An id for the block at `place` of a response that has none of its own; the same each time."""
    return prefix + base62(response_id, place, length=24)
