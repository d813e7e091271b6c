"""The events of a stream that bring more of an item."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.json import Decoder

from legato.wire.pieces import Index


class StreamPiece(Struct, gc=False):
    """More of the item at `output_index`."""

    type: Literal[
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.custom_tool_call_input.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
    ]
    output_index: Index
    delta: str
    content_index: Index | None = None
    summary_index: Index | None = None


PIECES = Decoder(StreamPiece)
