"""The pieces in which an answer arrives, and the pieces that a whole answer falls into.

Text, thinking and calls are what there is to show. To write the answer for another client while it arrives, more has to
be said in time: that a block begins, with what is known of it by then (the id and the kind of a call), and that it is
whole, with what is known only then (a signature). Decoders tell both; `deltas_of` does for an answer that is already
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from legato.model import Answer, Block, Text, Thinking, ToolCall
from legato.model.hashing import base62
from legato.wire.arguments import written_arguments


class TextDelta(Struct, frozen=True, gc=False):
    """More visible text."""

    text: str


class ThinkingDelta(Struct, frozen=True, gc=False):
    """More visible thinking."""

    text: str


class CallDelta(Struct, frozen=True, gc=False):
    """More of a call: `index` counts the calls of this answer; the name is in the first delta of each."""

    index: int
    name: str = ""
    arguments: str = ""


class BlockStart(Struct, frozen=True):
    """A text, a thought or a call begins. `block` holds what is known of it, without text or arguments.

    `call` is the index of a call, as in `CallDelta`.
    """

    block: Text | Thinking | ToolCall
    call: int = -1


class BlockDone(Struct, frozen=True):
    """A block is whole. One that never grows (an image, what a hosted tool did) is told in this way alone."""

    block: Block
    call: int = -1


Shown: TypeAlias = TextDelta | ThinkingDelta | CallDelta
"""what there is to show"""

Delta: TypeAlias = Shown | BlockStart | BlockDone

_PIECE = 24
"""characters in one delta"""


def deltas_of(answer: Answer, piece: int = _PIECE) -> Iterator[Delta]:
    """The deltas that `answer` could have arrived in, its texts in pieces of `piece` characters."""
    calls = 0
    for block in answer.entry.blocks:
        match block:
            case Text() | Thinking():
                yield BlockStart(replace(block, text=""))
                yield from map(TextDelta if isinstance(block, Text) else ThinkingDelta, _pieces(block.text, piece))
                yield BlockDone(block)
            case ToolCall():
                yield from deltas_of_call(block, calls, piece)
                calls += 1
            case _:
                yield BlockDone(block)


def deltas_of_call(call: ToolCall, number: int, piece: int = _PIECE) -> Iterator[Delta]:
    """The deltas that `call`, the one of that number, could have arrived in."""
    yield BlockStart(replace(call, arguments={}, raw=None, finished=True), number)
    yield CallDelta(number, call.name)
    for text in _pieces(written_arguments(call), piece):
        yield CallDelta(number, arguments=text)
    yield BlockDone(call, number)


def answer_id(answer: Answer) -> str:
    """The id of the response that gave `answer`, or one made from what it holds: a response always has one."""
    return answer.response_id or base62(msgspec.json.encode(answer.entry.blocks).decode(), length=32)


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]
