"""Units as chat messages: what the format of each server allows, and how what was decided is encoded.

A message holds one string of text and then its calls, so text between calls moves before them; a tool message carries
text only, and nothing marks a failure but the text. A message without media is a plain string, which every server of
the family takes; with media it is a list of parts.

Thinking has a place only at some hosts, and only the model's own goes there. Where it is `reasoning_content`, it is
demanded while the model thinks, on answers with calls or on all of them, so an answer that has none of its own gets a
single space: those servers accept it, and not always an empty string.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from legato.errors import UnknownTarget
from legato.model import JsonObject, Target, Thinking, ToolCall
from legato.model.json_access import as_objects
from legato.transcript.units import AnswerBlock
from legato.wire.context import EncodeContext
from legato.wire.hosting import RequestStyle
from legato.wire.hosts import STRICT, host_names, host_of
from legato.wire.openai_chat import shapes
from legato.wire.projection.answer import Place
from legato.wire.projection.grammar import Grammar, MediaRule
from legato.wire.projection.messages import (
    AnswerMessage,
    CallPart,
    HumanMessage,
    MediaPart,
    OwnPart,
    ResultsMessage,
    TextPart,
)
from legato.wire.shapes import spelled_call

NO_THOUGHT = " "
"""is in `reasoning_content` where there is no thinking, or none that may be sent"""

_SOUNDS = MediaRule(frozenset(shapes.AUDIO_FORMATS), addresses=())


def style_of(target: Target) -> RequestStyle:
    """How requests to `target` are written; raises `UnknownTarget` for a profile that does not exist."""
    host = host_of(target)
    if host is STRICT and target.profile != STRICT.profile:
        raise UnknownTarget(
            f"the target {target.route} names the chat profile {target.profile!r}, which does not exist; "
            f"choose one of {', '.join(host_names())} (strict serves every compatible server)",
            layer="projection",
            profile=target.profile,
        )
    return host.style


def grammar(target: Target) -> Grammar:
    """What may be where in a request to `target`."""
    capabilities, style = target.capabilities, style_of(target)
    has_field = style.reasoning_content and capabilities.reasoning_field
    documents = MediaRule() if style.document_urls else MediaRule(addresses=())
    takes_turns = capabilities.alternates
    return Grammar(
        answer_first=not takes_turns,
        calls_first=style.calls_first and not takes_turns,
        answers_in_a_row=not takes_turns,
        joins_turns=takes_turns,
        user_after_tool=capabilities.user_after_tool and not takes_turns,
        continues_answers=capabilities.prefill and style.bare_prefill,
        instructions=capabilities.middle_system and not takes_turns,
        instructions_after_answers=style.system_after_answer,
        native_calls=capabilities.native_tool_history,
        max_calls=capabilities.max_calls,
        text_beside_calls=capabilities.text_beside_calls,
        text_after_calls=False,
        custom_calls=style.custom_tools,
        thoughts_while_thinking=has_field,
        demands_thoughts=has_field and style.reasoning_demanded,
        demands_every_thought=has_field and style.reasoning_on_every_answer,
        thoughts_beside_calls=not style.thinking_chunks,  # which are content, as text is
        error_flag=False,
        empty_results=capabilities.empty_text,
        images=MediaRule() if capabilities.images else None,
        documents=documents if capabilities.documents else None,
        audio=_SOUNDS if capabilities.audio else None,
    )


def instruction_role(target: Target) -> str:
    """The role of a message that instructs the model."""
    return "developer" if target.capabilities.developer_role and style_of(target).developer else "system"


class ChatShapes:
    """The shapes of Chat Completions, as one server wants them."""

    text = staticmethod(str)
    call = staticmethod(shapes.function_call)
    human_text = staticmethod(shapes.user)

    def __init__(self, context: EncodeContext) -> None:
        target = context.target
        self._style = style_of(target)
        self._instruction_role = instruction_role(target)
        is_named = self._style.named_results or target.capabilities.named_results
        self.result = shapes.named_tool if is_named else shapes.tool
        self._has_reasoning_field = self._style.reasoning_content and target.capabilities.reasoning_field
        self._bare = None if self._style.null_beside_calls or not target.capabilities.empty_text else ""
        """the content of an answer that has none beside its calls"""

    def human(self, message: HumanMessage) -> JsonObject:
        prose, style = shapes.Prose(), self._style
        parts: list[JsonObject] = []
        for part in message.parts:
            match part:
                case TextPart():
                    prose.add(part.text, apart=part.apart)
                case MediaPart():
                    if text := prose.take():
                        parts.append(shapes.text_part(text))
                    forms = {"document_urls": style.document_urls, "plain_audio": style.plain_audio}
                    parts.append(shapes.media_part(part.media, **forms))
        text = prose.take()
        content = [*parts, shapes.text_part(text)] if parts and text else parts or text
        return {"role": self._instruction_role, "content": content} if message.instructs else shapes.user(content)

    def answer(self, message: AnswerMessage) -> list[JsonObject]:
        prose = shapes.Prose()
        calls: list[JsonObject] = []
        own: list[JsonObject] = []
        for part in message.parts:
            match part:
                case TextPart():
                    prose.add(part.text, apart=part.apart)
                case CallPart():
                    calls.append(spelled_call(part, self, shapes.custom_call))
                case OwnPart():
                    own += part.objects
        text, fields = prose.take(), shapes.joined_fields(own)
        answer = self._answer(text or (self._bare if calls else text), calls, message.placeholder)
        if "content" in fields and text:
            fields["content"].append(shapes.text_part(text))
        return [answer | fields]

    def results(self, message: ResultsMessage) -> list[JsonObject]:
        return [self.result(part.call.wire_id, part.call.name, part.text, part.failed) for part in message.results]

    def own(self, block: AnswerBlock, place: Place) -> list[JsonObject] | None:
        native, style = block.native or {}, self._style
        match block:
            case Thinking():
                if self._has_reasoning_field:
                    return [{"reasoning_content": block.text}] if block.text and not block.text.isspace() else []
                if style.thinking_chunks and native.get("chunk"):
                    return [{"content": [shapes.thinking_chunk(block)]}]
                if style.reasoning_details and native.get("reasoning_details"):
                    return [{"reasoning_details": as_objects(native["reasoning_details"])}]
                return None
            case ToolCall():
                # Gemini behind a chat endpoint: the signature that it wants back with the call.
                goes_back = style.undocumented_fields and "extra_content" in native
                return [{"extra_content": native["extra_content"]}] if goes_back else None
            case _:
                return None

    def exchange(
        self, texts: list[Any], calls: list[JsonObject], results: list[JsonObject], placeholder: bool
    ) -> Sequence[JsonObject]:
        text = (texts[0] if len(texts) == 1 else "".join(texts)) if texts else self._bare
        results.insert(0, self._answer(text, calls, placeholder))
        return results

    def _answer(self, content: str | None, calls: list[JsonObject], placeholder: bool) -> JsonObject:
        answer: JsonObject = {"role": "assistant", "content": content}
        if placeholder:
            answer["reasoning_content"] = NO_THOUGHT
        if calls:
            answer["tool_calls"] = calls
        return answer
