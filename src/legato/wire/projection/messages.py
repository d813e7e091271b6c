"""What a unit becomes: messages made of parts, in no dialect's words yet.

Everything that had to be decided is decided here: names and ids are the target's, marks are in the texts, media that
cannot be sent have been named instead. What is left to a dialect is the JSON.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from legato.model import Decision, Json, JsonObject, Media, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.context import End


class TextPart(Struct, frozen=True, gc=False):
    """Visible text. With `apart` it is no continuation of the text before it: what a person wrote, code, our notes."""

    text: str
    apart: bool = False


class MediaPart(Struct, frozen=True, gc=False):
    """An attachment that the target accepts."""

    media: Media


class OwnPart(Struct, frozen=True, gc=False):
    """A block of the model's own, in its provider's own form."""

    block: AnswerBlock
    objects: list[JsonObject]


class CallPart(Struct, frozen=True, gc=False):
    """A call under the target's id and name.

    `extra` are the provider's own fields, which it wants back with the call. A `custom` call has free text for its
    arguments, in `call.arguments["input"]`.
    """

    wire_id: str
    name: str
    call: ToolCall
    extra: JsonObject | None = None
    custom: bool = False


class ResultPart(Struct, frozen=True, gc=False):
    """What came back for a call. `value` is `text`, or the JSON value that the tool gave."""

    call: CallPart
    text: str
    value: Json
    failed: bool = False
    media: tuple[Media, ...] = ()


HumanPart: TypeAlias = TextPart | MediaPart
AnswerPart: TypeAlias = TextPart | OwnPart | CallPart


class HumanMessage(Struct, frozen=True, gc=False):
    """What the human side says; with `instructs` as an instruction, under the role for that."""

    parts: list[HumanPart]
    instructs: bool = False


class AnswerMessage(Struct, frozen=True, gc=False):
    """What the model said. With `placeholder` it lacks a thought, or a signature on its first call, that the target
    demands; its dialect puts what the provider documents in its place.
    """

    parts: list[AnswerPart]
    placeholder: bool = False


class ResultsMessage(Struct, frozen=True, gc=False):
    """The results of the calls in the answer before, in call order."""

    results: list[ResultPart]


Message: TypeAlias = HumanMessage | AnswerMessage | ResultsMessage


class Projection(Struct, frozen=True, gc=False):
    """One unit for one target. No messages: nothing of it is sent, and `end` is what it was before."""

    messages: list[Message]
    end: End
    decisions: tuple[Decision, ...] = ()
