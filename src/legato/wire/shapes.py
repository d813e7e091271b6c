"""What a dialect provides so that projected messages become its JSON: a table of shapes, and nothing to decide.

`human`, `answer` and `results` encode whole messages. The other functions encode what those are made of; most units
consist of nothing else, and are encoded from these directly (see `encoder`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from legato.model import JsonObject, Media, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.projection.answer import Place
from legato.wire.projection.messages import AnswerMessage, CallPart, HumanMessage, MediaPart, ResultsMessage, TextPart


class Shapes(Protocol):
    """The shapes of one dialect, for one target."""

    def human(self, message: HumanMessage) -> JsonObject:
        """What the human side says."""
        ...

    def answer(self, message: AnswerMessage) -> list[JsonObject]:
        """What the model said."""
        ...

    def results(self, message: ResultsMessage) -> list[JsonObject]:
        """The results of calls."""
        ...

    def own(self, block: AnswerBlock, place: Place) -> list[JsonObject] | None:
        """A block as its own provider wants it back; see `projection.answer.Own`."""
        ...

    # What they are made of, and what simple units are encoded from directly. A dialect may provide plain functions.

    @property
    def text(self) -> Callable[[str], Any]:
        """Text in an answer; where messages are joined block by block, a person's text is the same block."""
        ...

    @property
    def call(self) -> Callable[[str, str, ToolCall], JsonObject]:
        """(id, name, call): a function call, without fields of a provider's own."""
        ...

    @property
    def result(self) -> Callable[[str, str, str, bool], JsonObject]:
        """(id, name, text, whether it failed): the result of a call."""
        ...

    @property
    def human_text(self) -> Callable[[str], JsonObject]:
        """A whole human message that is one text."""
        ...

    def exchange(
        self, texts: list[Any], calls: list[JsonObject], results: list[JsonObject], placeholder: bool
    ) -> Sequence[JsonObject]:
        """The messages of an answer that is texts and then calls, and of their results."""
        ...


def human_parts(
    message: HumanMessage, text: Callable[[str], JsonObject], media: Callable[[Media], JsonObject]
) -> list[JsonObject]:
    """An object for each part of a human message, for dialects that have one for each."""
    return [media(part.media) if isinstance(part, MediaPart) else text(part.text) for part in message.parts]


def answer_parts(
    message: AnswerMessage,
    shapes: Shapes,
    custom_call: Callable[[str, str, str], JsonObject] | None = None,
) -> list[JsonObject]:
    """The objects of an answer in order, for dialects in which each part becomes its own.

    `custom_call` is for those that know calls with free text: (id, name, text).
    """
    objects: list[JsonObject] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            objects.append(shapes.text(part.text))
        elif isinstance(part, CallPart):
            objects.append(spelled_call(part, shapes, custom_call))
        else:
            objects += part.objects
    return objects


def spelled_call(
    part: CallPart, shapes: Shapes, custom_call: Callable[[str, str, str], JsonObject] | None
) -> JsonObject:
    """A call with the fields that are its provider's own."""
    if part.custom and custom_call is not None:
        call = custom_call(part.wire_id, part.name, part.call.arguments["input"])
    else:
        call = shapes.call(part.wire_id, part.name, part.call)
    return call | part.extra if part.extra else call
