"""The event of a stream that brings more of a block."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.json import Decoder

from legato.wire.pieces import Index


class MoreArguments(Struct, gc=False):
    """More of what a tool is called with."""

    input: str


class MoreReasoning(Struct, gc=False):
    """More of a thought."""

    text: str


class GrowingBlock(Struct, gc=False):
    """One of these."""

    text: str | UnsetType = UNSET
    call: MoreArguments | UnsetType = field(name="toolUse", default=UNSET)
    reasoning: MoreReasoning | UnsetType = field(name="reasoningContent", default=UNSET)


class GrownBlock(Struct, gc=False):
    """More of the block at an index."""

    index: Index = field(name="contentBlockIndex")
    delta: GrowingBlock


class StreamPiece(Struct, forbid_unknown_fields=True, gc=False):
    """The event, whose one member is named after its kind."""

    grown: GrownBlock = field(name="contentBlockDelta")


PIECES = Decoder(StreamPiece)
