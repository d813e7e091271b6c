"""What a dialect provides so that projected messages become its JSON: a table of shapes, and nothing to decide.

`human`, `answer` and `results` spell whole messages. The other functions spell what those are made of; most units
consist of nothing else, and are encoded from these directly (see `encoder`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from legato.model import JsonObject, Media, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.projection.answer import Place
from legato.wire.projection.messages import (
    AnswerMessage,
    CallPart,
    HumanMessage,
    MediaPart,
    ResultsMessage,
    TextPart,
)


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

    # What they are made of.

    def text(self, text: str, /) -> Any:
        """Text in an answer."""
        ...

    def call(self, wire_id: str, name: str, call: ToolCall, /) -> JsonObject:
        """A function call, without fields of a provider's own."""
        ...

    def result(self, wire_id: str, name: str, text: str, failed: bool, /) -> JsonObject:
        """The result of a function call: a text."""
        ...

    def human_text(self, text: str, /) -> JsonObject:
        """A whole human message that is one text."""
        ...

    def answer_of(self, texts: list[Any], calls: list[JsonObject], placeholder: bool, /) -> list[JsonObject]:
        """A whole answer: texts, then calls."""
        ...

    def results_of(self, results: list[JsonObject], /) -> list[JsonObject]:
        """Whole messages of results."""
        ...


def human_parts(
    message: HumanMessage, text: Callable[[str], JsonObject], media: Callable[[Media], JsonObject]
) -> list[JsonObject]:
    """An object for each part of a human message, for dialects that have one for each."""
    return [media(part.media) if isinstance(part, MediaPart) else text(part.text) for part in message.parts]


def answer_parts(
    message: AnswerMessage, text: Callable[[str], JsonObject], call: Callable[[CallPart], JsonObject]
) -> list[JsonObject]:
    """The objects of an answer in order, for dialects in which each part becomes its own."""
    objects: list[JsonObject] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            objects.append(text(part.text))
        elif isinstance(part, CallPart):
            objects.append(call(part) | part.extra if part.extra else call(part))
        else:
            objects += part.objects
    return objects
