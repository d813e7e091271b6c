"""What surrounds the messages: instructions, tools and options, as fields of the Messages API.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields of the body beside `messages`.
"""

from __future__ import annotations

from legato.model import Choice, JsonObject, Target, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.wire.contract import Head
from legato.wire.options import Envelope, OptionGrammar, Settled, with_extra
from legato.wire.voice import Voice

_GRAMMAR = OptionGrammar(
    # https://docs.claude.com/en/docs/build-with-claude/extended-thinking: what thinking cannot be combined with.
    forced_while_thinking=False,
    temperature_while_thinking=False,
    # The official client refuses to wait for a much longer answer that is not streamed.
    unstreamed_max_tokens=16_000,
    caps_max_tokens=True,
    temperatures=(0, 1),
    effort_modes=frozenset({ThinkingMode.ADAPTIVE, ThinkingMode.EFFORT}),
    effort_beyond_thinking=True,  # https://docs.claude.com/en/docs/build-with-claude/effort
    budget_modes=frozenset({ThinkingMode.BUDGET, ThinkingMode.SWITCH}),
    budget_in_max_tokens=True,
    least_budget=1024,
    default_budget=16_384,
)
_CHOICES = {Choice.AUTO: "auto", Choice.NONE: "none", Choice.REQUIRED: "any"}


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    return _GRAMMAR


def spell_envelope(envelope: Envelope, settled: Settled, voice: Voice) -> Head:
    """The fields beside `messages`."""
    fields: JsonObject = {"model": voice.target.model, "max_tokens": settled.max_tokens}
    if envelope.system.strip():
        fields["system"] = [{"type": "text", "text": envelope.system}]
    if settled.tools:
        fields["tools"] = [_tool(tool, voice) for tool in settled.tools]
    if settled.tool is not None:
        fields["tool_choice"] = {"type": "tool", "name": settled.tool}
    elif settled.choice is not None:
        fields["tool_choice"] = {"type": _CHOICES[settled.choice]}
    if settled.effort is not None:
        fields["output_config"] = {"effort": settled.effort}
    match settled.thinking:
        case ThinkingSwitch.ON if settled.budget is not None:
            fields["thinking"] = {"type": "enabled", "budget_tokens": settled.budget}
        case ThinkingSwitch.ON:
            fields["thinking"] = {"type": "adaptive"}
        case ThinkingSwitch.OFF:
            fields["thinking"] = {"type": "disabled"}
        case ThinkingSwitch.DEFAULT:
            pass
    if settled.temperature is not None:
        fields["temperature"] = settled.temperature
    if envelope.options.stream:
        fields["stream"] = True
    return Head(with_extra(fields, envelope.options.extra))


def _tool(tool: ToolSpec, voice: Voice) -> JsonObject:
    printed: JsonObject = {"name": voice.names.project(tool.name)}
    if tool.description:
        printed["description"] = tool.description
    printed["input_schema"] = tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}
    return printed
