"""What surrounds the messages: instructions, tools and options, as fields of a chat request.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields beside `messages` in the words of the target's profile, and the instructions as the first message.
"""

from __future__ import annotations

from legato.model import JsonObject, Target, ThinkingSwitch, ToolSpec
from legato.wire.contract import Head
from legato.wire.openai_chat.encode import instruction_role
from legato.wire.openai_chat.profiles import profile_of
from legato.wire.options import Envelope, OptionGrammar, Settled, with_extra
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
    )


def spell_envelope(envelope: Envelope, settled: Settled, voice: Voice) -> Head:
    """The fields beside `messages`, and the instructions that come before all units."""
    target, options = voice.target, envelope.options
    fields: JsonObject = {"model": target.model}
    if settled.tools:
        fields["tools"] = [_definition(tool, voice) for tool in settled.tools]
    if settled.tool is not None:
        fields["tool_choice"] = {"type": "function", "function": {"name": settled.tool}}
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
    if envelope.system.strip():
        first = ({"role": instruction_role(target), "content": envelope.system},)
    return Head(with_extra(fields, options.extra), first)


def _definition(tool: ToolSpec, voice: Voice) -> JsonObject:
    function: JsonObject = {"name": voice.names.project(tool.name)}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.parameters
    return {"type": "function", "function": function}
