"""Units as messages of the Converse API: what its format allows, and how what was decided is encoded.

The human side and the model take turns, the human first; neighbouring messages of one side are joined. The results of
calls come first in the human message right after them, and some families of models take nothing beside them
(https://github.com/langchain-ai/langchain-aws/issues/141). No text may be blank, and every document has a name that no
other document of the request has (https://github.com/maximhq/bifrost/issues/7003).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legato.model import Code, HostedTool, JsonObject, Media, Target, Text, Thinking, ToolCall
from legato.transcript.units import AnswerBlock
from legato.wire.bedrock.shapes import (
    DOCUMENTS,
    IMAGES,
    S3,
    VIDEOS,
    assistant,
    media_block,
    reasoning,
    redacted_reasoning,
    text_block,
    tool_result,
    tool_use,
    user,
    user_text,
)
from legato.wire.context import EncodeContext
from legato.wire.projection.answer import Place
from legato.wire.projection.grammar import Grammar, MediaRule
from legato.wire.projection.messages import AnswerMessage, HumanMessage, ResultPart, ResultsMessage
from legato.wire.shapes import answer_parts, human_parts

# Models that watch videos read everything from S3, the others (Claude) only documents: both were seen.
_IMAGES = MediaRule(frozenset(IMAGES), ())
_IMAGES_OR_S3 = MediaRule(frozenset(IMAGES), (S3,))
_DOCUMENTS = MediaRule(frozenset(DOCUMENTS), (S3,), decodes_text=True)
_VIDEOS = MediaRule(frozenset(VIDEOS), (S3,))


def grammar(target: Target) -> Grammar:
    """What may be where in a request to `target`."""
    capabilities = target.capabilities
    return Grammar(
        answer_first=False,
        calls_first=False,
        answers_in_a_row=False,
        user_after_tool=capabilities.user_after_tool,
        joins_turns=True,
        native_calls=capabilities.native_tool_history,
        max_calls=capabilities.max_calls,
        text_beside_calls=capabilities.text_beside_calls,
        text_after_calls=False,
        thoughts_in_silent_loops=False,
        thoughts_lead=True,
        thoughts_may_end=False,
        empty_results=False,
        result_images=capabilities.result_images,
        result_documents=True,
        images=(_IMAGES_OR_S3 if capabilities.video else _IMAGES) if capabilities.images else None,
        documents=_DOCUMENTS if capabilities.documents else None,
        video=_VIDEOS if capabilities.video else None,
        names_documents=True,
    )


class BedrockShapes:
    """The shapes of the Converse API."""

    text = staticmethod(text_block)
    call = staticmethod(tool_use)
    result = staticmethod(tool_result)
    human_text = staticmethod(user_text)

    def __init__(self, context: EncodeContext) -> None:
        pass

    def human(self, message: HumanMessage) -> JsonObject:
        return user(human_parts(message, text_block, media_block))

    def answer(self, message: AnswerMessage) -> list[JsonObject]:
        return [assistant(answer_parts(message, self))]

    def results(self, message: ResultsMessage) -> list[JsonObject]:
        return [user([self._result(result) for result in message.results])]

    def _result(self, part: ResultPart) -> JsonObject:
        result = tool_result(part.call.wire_id, part.call.name, part.text, part.failed)
        if part.media:
            inside = [media_block(media) for media in part.media]
            result["toolResult"]["content"] = [text_block(part.text), *inside] if part.text.strip() else inside
        return result

    def own(self, block: AnswerBlock, place: Place) -> list[JsonObject] | None:
        native = block.native or {}
        match block:
            case Thinking():
                if data := native.get("data"):
                    return [redacted_reasoning(data)]
                return [reasoning(block.text, native["signature"])] if native.get("signature") else None
            case HostedTool():
                return native.get("blocks")
            case Text() | ToolCall() | Media() | Code():
                return None

    def exchange(
        self, texts: list[Any], calls: list[JsonObject], results: list[JsonObject], placeholder: bool
    ) -> Sequence[JsonObject]:
        texts += calls
        answer = assistant(texts)
        return (answer, user(results)) if results else (answer,)
