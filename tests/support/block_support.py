"""For the tests of the Anthropic and Gemini dialects: targets, contexts, whole bodies, and the vendors' types as judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec
from anthropic.types import ContentBlockParam, MessageParam, ThinkingConfigParam, ToolChoiceParam, ToolUnionParam
from google.genai import types as genai
from msgspec.structs import replace
from pydantic import TypeAdapter

from dialect_support import make_context, make_target
from legato.model import Decision, Dialect, Foreign, IdScheme, JsonObject, NameRule, Options, Target, ToolSpec
from legato.transcript.units import Exchange, Unit
from legato.wire.context import EncodeContext, End
from legato.wire.contract import DialectParts
from legato.wire.encoder import EncodedUnit
from legato.wire.options import Envelope


def claude(**capabilities: Any) -> Target:
    """A target with what Claude takes."""
    defaults: dict[str, Any] = {
        "id_scheme": IdScheme.TOOLU,
        "name_rule": NameRule.ANTHROPIC,
        "documents": True,
        "result_images": True,
        "demands_tools": True,
        "empty_text": False,
    }
    return make_target(Dialect.ANTHROPIC, **(defaults | capabilities))


def gemini(**capabilities: Any) -> Target:
    """A target with what Gemini takes."""
    defaults: dict[str, Any] = {
        "name_rule": NameRule.GEMINI,
        "documents": True,
        "audio": True,
        "call_signatures": True,
        "empty_text": False,
    }
    return make_target(Dialect.GEMINI, **(defaults | capabilities))


def context_for(target: Target, *, thinking_on: bool = False, foreign: Foreign = Foreign.DROP) -> EncodeContext:
    context = make_context(target, foreign=foreign, rule=target.capabilities.name_rule)
    return replace(context, thinking_on=thinking_on)


def assemble(
    dialect: DialectParts,
    units: Sequence[Unit],
    context: EncodeContext,
    *,
    tools: Sequence[ToolSpec] = (),
    options: Options | None = None,
    system: str = "",
) -> tuple[JsonObject, list[Decision]]:
    """A whole body from units, as a request holds it, and every decision on the way."""
    encoder = dialect.encoder(context)
    messages: list[JsonObject] = []
    decisions: list[Decision] = []
    end = End.START
    called: list[str] = []
    for unit in units:
        encoded = encoder.encode(unit, end)
        _join(messages, encoded, dialect.blocks_field)
        end = encoded.end
        decisions += encoded.decisions
        if isinstance(unit, Exchange):
            called += [call.name for call in unit.calls]
    last = encoder.tail(end)
    _join(messages, last, dialect.blocks_field)
    head = dialect.head(Envelope(system, tools, options or Options(), [(name, "") for name in called]), context)
    return {**head.fields, dialect.messages_field: messages}, [*decisions, *last.decisions, *head.decisions]


def _join(messages: list[JsonObject], encoded: EncodedUnit, field: str) -> None:
    for message in encoded.messages:
        if field and messages and messages[-1]["role"] == message["role"]:
            messages[-1][field] += message[field]
        else:
            messages.append(message)


_BLOCK = TypeAdapter[Any](ContentBlockParam)
_MESSAGE = TypeAdapter[Any](MessageParam)
_TOOL = TypeAdapter[Any](ToolUnionParam)
_CHOICE = TypeAdapter[Any](ToolChoiceParam)
_THINKING = TypeAdapter[Any](ThinkingConfigParam)


def accepted_by_anthropic(body: JsonObject) -> None:
    """Raise unless the official client's types hold every part of `body`."""
    for message in body["messages"]:
        _MESSAGE.validate_python(message)
        for block in message["content"]:
            _BLOCK.validate_python(block)
    for tool in body.get("tools", []):
        _TOOL.validate_python(tool)
    if "tool_choice" in body:
        _CHOICE.validate_python(body["tool_choice"])
    if "thinking" in body:
        _THINKING.validate_python(body["thinking"])


def accepted_by_gemini(body: JsonObject) -> None:
    """Raise unless the official client's types, which refuse unknown fields, hold every part of `body`."""
    for content in [*body["contents"], *([body["systemInstruction"]] if "systemInstruction" in body else [])]:
        genai.Content.model_validate_json(msgspec.json.encode(content))
    for tool in body.get("tools", []):
        genai.Tool.model_validate_json(msgspec.json.encode(tool))
    if "toolConfig" in body:
        genai.ToolConfig.model_validate_json(msgspec.json.encode(body["toolConfig"]))
    if "generationConfig" in body:
        genai.GenerationConfig.model_validate_json(msgspec.json.encode(body["generationConfig"]))


def shown(value: object) -> JsonObject:
    """A value of a struct as plain data, for comparison."""
    return cast(JsonObject, msgspec.to_builtins(value))
