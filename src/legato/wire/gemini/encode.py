"""Units as contents of `generateContent`: what its format allows, and how what was decided is encoded.

Responses are alone in their content, and the API takes two user contents in a row, so nothing is joined. It does not
take two contents of the model in a row (google-gemini/gemini-cli#11814). A signature goes back on the part it came with
and nowhere else; the first call of a content needs one where the model demands it, and a call that the model did not
make gets the documented placeholder (https://ai.google.dev/gemini-api/docs/thought-signatures).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legato.model import Code, HostedTool, JsonObject, Media, Target, Text, Thinking, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.context import EncodeContext
from legato.wire.gemini import shapes
from legato.wire.gemini.signatures import PLACEHOLDER, signature_of
from legato.wire.projection.answer import Place
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import AnswerMessage, HumanMessage, ResultPart, ResultsMessage
from legato.wire.shapes import answer_parts, human_parts


def grammar(target: Target) -> Grammar:
    """What may be where in a request to `target`."""
    capabilities = target.capabilities
    return Grammar(
        answer_first=False,
        calls_first=False,
        answers_in_a_row=False,
        continues_answers=capabilities.prefill,
        instructions=False,  # there is no role for them in the middle
        native_calls=capabilities.native_tool_history,
        max_calls=capabilities.max_calls,
        text_beside_calls=capabilities.text_beside_calls,
        call_signatures=capabilities.call_signatures,
        json_results=True,
        empty_results=capabilities.empty_text,
        result_images=capabilities.result_images,
        images=shapes.REACHABLE if capabilities.images else None,
        documents=shapes.REACHABLE if capabilities.documents else None,
        audio=shapes.REACHABLE if capabilities.audio else None,
        video=shapes.REACHABLE if capabilities.audio else None,  # a model that listens here also watches
    )


class GeminiShapes:
    """The shapes of `generateContent`; calls carry ids where the model has them."""

    text = staticmethod(shapes.text_part)
    human_text = staticmethod(shapes.user_text)

    def __init__(self, context: EncodeContext) -> None:
        has_ids = context.target.capabilities.call_ids
        self.call = shapes.function_call if has_ids else shapes.call_without_id
        self.result = shapes.function_response if has_ids else shapes.response_without_id

    def human(self, message: HumanMessage) -> JsonObject:
        return shapes.user(human_parts(message, shapes.text_part, shapes.media_part))

    def answer(self, message: AnswerMessage) -> list[JsonObject]:
        parts = answer_parts(message, self)
        if message.placeholder:
            first = next(part for part in parts if "functionCall" in part)
            first["thoughtSignature"] = PLACEHOLDER
        return [shapes.model(parts)]

    def results(self, message: ResultsMessage) -> list[JsonObject]:
        return [shapes.user([self._response(result) for result in message.results])]

    def _response(self, part: ResultPart) -> JsonObject:
        response = self.result(part.call.wire_id, part.call.name, part.value, part.failed)
        if part.media:
            response["functionResponse"]["parts"] = [shapes.media_part(media) for media in part.media]
        return response

    def own(self, block: AnswerBlock, place: Place) -> list[JsonObject] | None:
        native = block.native
        signed: JsonObject = {"thoughtSignature": signature} if (signature := signature_of(native)) else {}
        match block:
            case Thinking():
                return [shapes.thought_part(block.text) | signed] if signed and block.text else None
            case Text():
                # Empty text is refused even where it carries a signature.
                return [shapes.text_part(block.text) | signed] if signed and block.text else None
            case ToolCall():
                return [signed] if signed else None
            case HostedTool():
                # What a search found is told beside the answer; a request has no place for it.
                return None if not native else native.get("parts") or []
            case Media():
                return [shapes.media_part(block) | signed] if shapes.REACHABLE.accepts(block) else None
            case Code():
                return None

    def exchange(
        self, texts: list[Any], calls: list[JsonObject], results: list[JsonObject], placeholder: bool
    ) -> Sequence[JsonObject]:
        if placeholder:
            calls[0]["thoughtSignature"] = PLACEHOLDER
        answer = shapes.model(texts + calls if texts else calls)
        return (answer, shapes.user(results)) if results else (answer,)
