"""Units as input items of the Responses API: what its format allows, and how what was decided is encoded.

Items are never joined with their neighbours. The history is stateless: no item refers to anything that the server
keeps, and item ids are left out, the provider's own hosted items aside, whose schema demands one. A reasoning item is
accepted only directly before the item it led to (openai/openai-node#1567); without item ids it may be left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legato.model import HostedTool, JsonObject, Target, Text, Thinking, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.context import EncodeContext
from legato.wire.openai_responses import shapes
from legato.wire.openai_responses.envelope import has_own_kinds
from legato.wire.projection.answer import Place
from legato.wire.projection.grammar import Grammar, MediaRule
from legato.wire.projection.messages import AnswerMessage, HumanMessage, ResultPart, ResultsMessage
from legato.wire.shapes import answer_parts, human_parts


def grammar(target: Target) -> Grammar:
    """What may be where in a request to `target`."""
    capabilities = target.capabilities
    return Grammar(
        continues_answers=capabilities.prefill,
        instructions=capabilities.middle_system,
        instruction_media=True,
        native_calls=capabilities.native_tool_history,
        max_calls=capabilities.max_calls,
        custom_calls=has_own_kinds(target),
        own_custom_calls=True,
        namespaces=has_own_kinds(target),
        thoughts_may_end=False,
        outcomes="_output",
        error_flag=False,
        empty_results=capabilities.empty_text,
        result_images=capabilities.result_images,
        images=MediaRule() if capabilities.images else None,
        documents=MediaRule() if capabilities.documents else None,
    )


class ResponsesShapes:
    """The shapes of the Responses API."""

    text = staticmethod(shapes.assistant)
    call = staticmethod(shapes.function_call)
    result = staticmethod(shapes.function_output)
    human_text = staticmethod(shapes.user_text)

    def __init__(self, context: EncodeContext) -> None:
        self._instruction_role = "developer" if context.target.capabilities.developer_role else "system"

    def human(self, message: HumanMessage) -> JsonObject:
        role = self._instruction_role if message.instructs else "user"
        return shapes.message_item(role, human_parts(message, shapes.text_part, shapes.media_part))

    def answer(self, message: AnswerMessage) -> list[JsonObject]:
        return answer_parts(message, self, shapes.custom_call)

    def results(self, message: ResultsMessage) -> list[JsonObject]:
        return [self._output(result) for result in message.results]

    def _output(self, part: ResultPart) -> JsonObject:
        item = shapes.function_output(part.call.wire_id, part.call.name, part.text, part.failed)
        if part.call.custom:
            item["type"] = "custom_tool_call_output"
        if part.media:
            item["output"] = [shapes.text_part(part.text), *(shapes.media_part(media) for media in part.media)]
        if part.call.extra and "caller" in part.call.extra:
            item["caller"] = part.call.extra["caller"]
        return item

    def own(self, block: AnswerBlock, place: Place) -> list[JsonObject] | None:
        native = block.native or {}
        item = native.get("item")
        match block:
            case Thinking():
                return [shapes.reasoning(item)] if item is not None and item.get("encrypted_content") else None
            case Text():
                if "phase" not in native or not block.text.strip():
                    return None
                return [shapes.assistant(block.text) | {"phase": native["phase"]}]
            case ToolCall():
                return [{"caller": native["caller"]}] if "caller" in native else None
            case HostedTool():
                return None if item is None else [item]
            case _:
                return None

    def exchange(
        self, texts: list[Any], calls: list[JsonObject], results: list[JsonObject], placeholder: bool
    ) -> Sequence[JsonObject]:
        return texts + calls + results
