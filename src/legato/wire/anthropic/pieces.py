"""The event of a stream that brings more of a block."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.json import Decoder

from legato.wire.pieces import Index


class MoreText(Struct, tag_field="type", tag="text_delta", gc=False):
    """More of a text."""

    text: str


class MoreThinking(Struct, tag_field="type", tag="thinking_delta", gc=False):
    """More of a thought."""

    thinking: str


class MoreArguments(Struct, tag_field="type", tag="input_json_delta", gc=False):
    """More of what a tool is called with."""

    partial_json: str


class StreamPiece(Struct, gc=False):
    """More of the block at `index`."""

    type: Literal["content_block_delta"]
    index: Index
    delta: MoreText | MoreArguments | MoreThinking


PIECES = Decoder(StreamPiece)
