"""What surrounds the messages: instructions, tools and options, as fields of a chat request.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields beside `messages` in the words of the target's host, and the instructions as the first message.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Json, JsonObject, SpecKind, Target, ThinkingSwitch, ToolSpec
from legato.model.json_access import present
from legato.model.lasting import written_as
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.openai_chat.encode import instruction_role, style_of
from legato.wire.options import Envelope, OptionGrammar, Settled, complete
from legato.wire.options.paths import merged

_SWITCHES = {
    ThinkingSwitch.DEFAULT: None,
    ThinkingSwitch.ON: {"type": "enabled"},
    ThinkingSwitch.OFF: {"type": "disabled"},
}


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    style = style_of(target)
    return OptionGrammar(
        max_tools=style.max_tools,
        forced_choice=style.forced_choice,
        forced_while_thinking=style.forced_choice_while_thinking,
        temperatures=style.temperatures,
        switch=style.switch,
        default_effort=style.effort_on,
        custom_tools=style.custom_tools,
        strict_tools=style.strict_tools,
        max_stops=style.max_stops,
        json_schemas=style.json_schemas,
        dependent={"tool_choice": "tools", "thinking": "thinking"},
    )


def encode_envelope(envelope: Envelope, settled: Settled, context: EncodeContext) -> EncodedEnvelope:
    """The fields beside `messages`, and the instructions that come before all units."""
    target, is_streamed = context.target, envelope.options.stream
    fields: JsonObject = {
        "model": target.model,
        "tools": written_as(settled.tools, _definitions) or None,
        "tool_choice": _choice(settled),
        target.capabilities.max_tokens_field: settled.max_tokens,
        "temperature": settled.temperature,
        "thinking": _SWITCHES[settled.thinking],
        "reasoning_effort": settled.effort,
        "stream": is_streamed or None,
        "stream_options": {"include_usage": True} if is_streamed and style_of(target).stream_options else None,
    }
    written, decisions = complete(present(fields), settled, option_grammar(target))
    instructions = {"role": instruction_role(target), "content": settled.system}
    return EncodedEnvelope(written, decisions, (instructions,) if settled.system else ())


def _choice(settled: Settled) -> Json:
    if settled.tool is None:
        return None if settled.choice is None else str(settled.choice)
    is_custom = any(tool.name == settled.tool and tool.kind is SpecKind.CUSTOM for tool in settled.tools)
    kind = "custom" if is_custom else "function"
    return {"type": kind, kind: {"name": settled.tool}}


def _definitions(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    return [_definition(tool) for tool in tools]


def _definition(tool: ToolSpec) -> JsonObject:
    if tool.kind is SpecKind.HOSTED:
        return tool.native
    described: JsonObject = {"name": tool.name, "description": tool.description or None}
    if tool.kind is SpecKind.CUSTOM:
        if tool.grammar is not None:
            grammar = {"syntax": tool.grammar.syntax, "definition": tool.grammar.definition}
            described["format"] = {"type": "grammar", "grammar": grammar}
        return merged({"type": "custom", "custom": present(described)}, tool.native)
    described |= {"parameters": tool.parameters, "strict": tool.strict}
    return merged({"type": "function", "function": present(described)}, tool.native)
