"""Units as messages of the Messages API: what its format allows, and how what was decided is encoded.

Neighbouring messages of one role are one message to the API, so they are joined. It wants the human first and no two
answers in a row; the results of calls come first in the human message right after them, and nothing of the model's
comes behind its calls (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legato.model import Code, HostedTool, JsonObject, Media, Target, Text, Thinking, ThinkingMode, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.anthropic import shapes
from legato.wire.anthropic.hosted import own_blocks
from legato.wire.context import EncodeContext, End
from legato.wire.projection.answer import Place
from legato.wire.projection.grammar import Grammar, MediaRule
from legato.wire.projection.messages import AnswerMessage, HumanMessage, ResultPart, ResultsMessage
from legato.wire.shapes import answer_parts, human_parts

_IMAGES = MediaRule(shapes.IMAGES, ("https://",))
_DOCUMENTS = MediaRule(frozenset({shapes.PDF}), ("https://",), decodes_text=True)


def grammar(target: Target) -> Grammar:
    """What may be where in a request to `target`."""
    capabilities = target.capabilities
    # A target that can think is never left with an answer at the end: while thinking is off, that answer may hold no
    # thought, and while it is on, the API continues none
    # (https://platform.claude.com/docs/en/build-with-claude/working-with-messages).
    continues = capabilities.prefill and capabilities.thinking is ThinkingMode.NEVER
    return Grammar(
        answer_first=False,
        calls_first=False,
        answers_in_a_row=False,
        joins_turns=True,
        continues_answers=continues,
        trims_answers=continues,
        # A system message in the middle must be last or come before an answer. What follows is not known when a unit
        # is encoded, so an instruction is always marked text
        # (https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages).
        instructions=False,
        native_calls=capabilities.native_tool_history,
        max_calls=capabilities.max_calls,
        text_beside_calls=capabilities.text_beside_calls,
        text_after_calls=False,
        own_thoughts=not continues,  # a model that never thinks did not think this
        demands_thoughts=capabilities.reasoning_field,
        thoughts_in_silent_loops=False,
        thoughts_lead=True,
        thoughts_may_end=False,
        empty_results=capabilities.empty_text,
        result_images=capabilities.result_images,
        images=_IMAGES if capabilities.images else None,
        documents=_DOCUMENTS if capabilities.documents else None,
    )


class AnthropicShapes:
    """The shapes of the Messages API."""

    text = staticmethod(shapes.text_block)
    call = staticmethod(shapes.tool_use)
    result = staticmethod(shapes.tool_result)
    human_text = staticmethod(shapes.user_text)

    def __init__(self, context: EncodeContext) -> None:
        # A server that demands thoughts takes its own without a signature, too (NousResearch/hermes-agent#17510).
        self._takes_unsigned = context.target.capabilities.reasoning_field

    def human(self, message: HumanMessage) -> JsonObject:
        return shapes.user(human_parts(message, shapes.text_block, shapes.media_block))

    def answer(self, message: AnswerMessage) -> list[JsonObject]:
        parts = answer_parts(message, self)
        return [shapes.assistant([shapes.no_thought(), *parts] if message.placeholder else parts)]

    def results(self, message: ResultsMessage) -> list[JsonObject]:
        return [shapes.user([self._result(result) for result in message.results])]

    def _result(self, part: ResultPart) -> JsonObject:
        result = shapes.tool_result(part.call.wire_id, part.call.name, part.text, part.failed)
        if part.media:
            inside = [shapes.media_block(media) for media in part.media]
            result["content"] = [shapes.text_block(part.text), *inside] if part.text.strip() else inside
        return result

    def own(self, block: AnswerBlock, place: Place) -> list[JsonObject] | None:
        native = block.native or {}
        match block:
            case Thinking():
                if data := native.get("data"):
                    return [shapes.redacted_thinking(data)]
                signature = native.get("signature", "")
                return [shapes.thinking(block.text, signature)] if signature or self._takes_unsigned else None
            case Text():
                citations = native.get("citations")
                return [shapes.text_block(block.text) | _cited(citations)] if citations and block.text.strip() else None
            case ToolCall():
                # The provider's own code made this call and waits for its result.
                return [{"caller": native["caller"]}] if native.get("caller") else None
            case HostedTool():
                return own_blocks(block, may_wait=place.has_results, may_end=place.before is End.RESULTS)
            case Media() | Code():
                return None

    def exchange(
        self, texts: list[Any], calls: list[JsonObject], results: list[JsonObject], placeholder: bool
    ) -> Sequence[JsonObject]:
        if placeholder:
            texts.insert(0, shapes.no_thought())
        texts += calls
        answer = {"role": "assistant", "content": texts}
        return (answer, {"role": "user", "content": results}) if results else (answer,)


def _cited(citations: list[JsonObject]) -> JsonObject:
    # `file_id` is the one field of a citation that answers have and requests may not.
    accepted = [{key: value for key, value in citation.items() if key != "file_id"} for citation in citations]
    return {"citations": accepted}
