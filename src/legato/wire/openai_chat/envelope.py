"""What surrounds the messages: instructions, tools and options, as fields of a chat request.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields beside `messages` in the words of the target's profile, and the instructions as the first message.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import JsonObject, SpecKind, Target, ThinkingSwitch, ToolSpec
from legato.wire.contract import Head
from legato.wire.openai_chat.encode import instruction_role
from legato.wire.openai_chat.profiles import profile_of
from legato.wire.options import Envelope, OptionGrammar, Settled, complete
from legato.wire.options.paths import merged
from legato.wire.voice import Voice


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    profile = profile_of(target)
    return OptionGrammar(
        max_tools=profile.max_tools,
        forced_while_thinking=profile.forced_choice_while_thinking,
        temperatures=profile.temperatures,
        switch=profile.switch,
        default_effort=profile.effort_on,
        custom_tools=profile.custom_tools,
        strict_tools=profile.strict_tools,
        max_stops=profile.max_stops,
        json_schemas=profile.json_schemas,
        dependent={"tool_choice": "tools", "thinking": "thinking"},
    )


def spell_envelope(envelope: Envelope, settled: Settled, voice: Voice) -> Head:
    """The fields beside `messages`, and the instructions that come before all units."""
    target, options = voice.target, envelope.options
    fields: JsonObject = {"model": target.model}
    if settled.tools:
        fields["tools"] = [_definition(tool) for tool in settled.tools]
    if settled.tool is not None:
        kind = "custom" if _is_custom(settled.tool, settled.tools) else "function"
        fields["tool_choice"] = {"type": kind, kind: {"name": settled.tool}}
    elif settled.choice is not None:
        fields["tool_choice"] = str(settled.choice)
    if settled.max_tokens is not None:
        fields[target.capabilities.max_tokens_field] = settled.max_tokens
    if settled.temperature is not None:
        fields["temperature"] = settled.temperature
    if settled.thinking is not ThinkingSwitch.DEFAULT:
        fields["thinking"] = {"type": "enabled" if settled.thinking is ThinkingSwitch.ON else "disabled"}
    if settled.effort is not None:
        fields["reasoning_effort"] = settled.effort
    if options.stream:
        fields["stream"] = True
        if profile_of(target).stream_options:
            fields["stream_options"] = {"include_usage": True}
    first: tuple[JsonObject, ...] = ()
    if settled.system.strip():
        first = ({"role": instruction_role(target), "content": settled.system},)
    spelled, decisions = complete(fields, settled, option_grammar(target))
    return Head(spelled, decisions, first)


def _is_custom(name: str, tools: Sequence[ToolSpec]) -> bool:
    return any(tool.name == name and tool.kind is SpecKind.CUSTOM for tool in tools)


def _definition(tool: ToolSpec) -> JsonObject:
    if tool.kind is SpecKind.HOSTED:
        return tool.native
    described: JsonObject = {"name": tool.name}
    if tool.description:
        described["description"] = tool.description
    if tool.kind is SpecKind.CUSTOM:
        if tool.grammar is not None:
            grammar = {"syntax": tool.grammar.syntax, "definition": tool.grammar.definition}
            described["format"] = {"type": "grammar", "grammar": grammar}
        return merged({"type": "custom", "custom": described}, tool.native)
    described["parameters"] = tool.parameters
    if tool.strict is not None:
        described["strict"] = tool.strict
    return merged({"type": "function", "function": described}, tool.native)
