"""Units as ModelMessages of the AI SDK: what they allow, and how what was decided is encoded.

Messages are not joined with their neighbours: the SDK does what its provider needs, and an answer stays recognisable as
one (https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message). `native` data goes back as `providerOptions`, under
which the SDK hands it to the provider that it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legato.model import Code, HostedTool, JsonObject, Media, Target, Text, Thinking, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.context import EncodeContext
from legato.wire.projection.answer import Place
from legato.wire.projection.grammar import Grammar, MediaRule
from legato.wire.projection.messages import AnswerMessage, HumanMessage, ResultPart, ResultsMessage, TextPart
from legato.wire.shapes import answer_parts, human_parts
from legato.wire.vercel import shapes


def grammar(target: Target) -> Grammar:
    """What may be where in a request to `target`."""
    capabilities = target.capabilities
    return Grammar(
        continues_answers=capabilities.prefill,
        instructions=capabilities.middle_system,
        native_calls=capabilities.native_tool_history,
        max_calls=capabilities.max_calls,
        text_beside_calls=capabilities.text_beside_calls,
        own_custom_calls=True,
        json_results=True,
        empty_results=capabilities.empty_text,
        result_images=capabilities.result_images,
        images_in_errors=False,
        images=MediaRule() if capabilities.images else None,
        documents=MediaRule() if capabilities.documents else None,
        audio=MediaRule() if capabilities.audio else None,
    )


class VercelShapes:
    """The shapes of ModelMessages."""

    text = staticmethod(shapes.text_part)
    call = staticmethod(shapes.tool_call)
    result = staticmethod(shapes.tool_result)
    human_text = staticmethod(shapes.user_text)

    def __init__(self, context: EncodeContext) -> None:
        pass

    def human(self, message: HumanMessage) -> JsonObject:
        if message.instructs:  # its content is a string
            texts = [part.text for part in message.parts if type(part) is TextPart]
            return {"role": "system", "content": "\n\n".join(texts)}
        return shapes.user(human_parts(message, shapes.text_part, shapes.media_part))

    def answer(self, message: AnswerMessage) -> list[JsonObject]:
        return [shapes.assistant(answer_parts(message, self, shapes.custom_call))]

    def results(self, message: ResultsMessage) -> list[JsonObject]:
        return [shapes.tool([self._result(result) for result in message.results])]

    def _result(self, part: ResultPart) -> JsonObject:
        wire_id, name = part.call.wire_id, part.call.name
        if part.media:
            inside = [shapes.image_in_result(media) for media in part.media]
            return shapes.tool_output(
                wire_id, name, "content", [shapes.text_part(part.text), *inside] if part.text else inside
            )
        if part.value is not part.text:
            return shapes.tool_output(wire_id, name, "json", part.value)
        return shapes.tool_result(wire_id, name, part.text, part.failed)

    def own(self, block: AnswerBlock, place: Place) -> list[JsonObject] | None:
        native = block.native or {}
        options: JsonObject = {name: native[name] for name in ("providerOptions",) if name in native}
        match block:
            case Thinking():
                return [shapes.reasoning_part(block.text) | options] if block.text or block.native is not None else []
            case Text():
                return [shapes.text_part(block.text) | options]
            case ToolCall():
                return [options] if options else None
            case HostedTool():
                return native.get("parts")
            case Media():
                return [shapes.file_part(block) | options] if shapes.source_of(block) is not None else None
            case Code():
                return None

    def exchange(
        self, texts: list[Any], calls: list[JsonObject], results: list[JsonObject], placeholder: bool
    ) -> Sequence[JsonObject]:
        answer = shapes.assistant(texts + calls if texts else calls)
        return (answer, shapes.tool(results)) if results else (answer,)
