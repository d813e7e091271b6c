"""The chunk of a stream that brings more of a text, of plain thinking, or of the arguments of one call."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.json import Decoder

from legato.wire.pieces import Nothing


class MoreArguments(Struct, gc=False):
    """What a function is called with."""

    arguments: str | None = None
    name: Nothing = None


class MoreOfCall(Struct, gc=False):
    """More of the call at `index`: what names it is told by then."""

    index: int
    function: MoreArguments
    id: Nothing = None
    custom: None = None
    extra_content: None = None


class GrowingMessage(Struct, gc=False):
    """More of the message."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[MoreOfCall] | None = None
    reasoning_details: None = None
    function_call: None = None
    refusal: None = None
    images: None = None
    audio: None = None


class GrowingChoice(Struct, gc=False):
    """The one answer that was asked for, and that goes on."""

    delta: GrowingMessage
    index: Literal[0] | None = None
    finish_reason: None = None
    usage: None = None
    error: None = None
    object: None = None


class StreamPiece(Struct, gc=False):
    """The chunk, which says nothing of the answer as a whole."""

    choices: tuple[GrowingChoice]
    object: Literal["chat.completion.chunk"] | Nothing = None
    finish_reason: None = None
    usage: None = None
    error: None = None
    x_groq: None = None


PIECES = Decoder(StreamPiece)
