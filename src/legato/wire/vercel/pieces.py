"""The parts of a stream that bring more of a text, a thought or a call."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field
from msgspec.json import Decoder


class StreamPiece(Struct, gc=False):
    """More of what has that id."""

    type: Literal["text-delta", "reasoning-delta", "tool-input-delta"]
    delta: str
    id: str | None = None
    call: str | None = field(name="toolCallId", default=None)
    metadata: None = field(name="providerMetadata", default=None)
    options: None = field(name="providerOptions", default=None)


PIECES = Decoder(StreamPiece)
