"""What surrounds the items: instructions, tools and options, as fields of the Responses API.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields of a stateless request. `store` is false because the history is always sent whole, and a model that
     thinks is asked for its reasoning in encrypted form, without which it could not be sent back.
"""

from __future__ import annotations

from legato.model import JsonObject, Target, ThinkingMode, ToolSpec
from legato.wire.contract import Head
from legato.wire.options import Envelope, OptionGrammar, Settled, Switch, with_extra
from legato.wire.voice import Voice

ENCRYPTED_REASONING = "reasoning.encrypted_content"

_GRAMMAR = OptionGrammar(
    least_max_tokens=16,
    temperatures=(0, 2),  # https://platform.openai.com/docs/api-reference/responses/create
    switch=Switch.EFFORT,
)


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    return _GRAMMAR


def spell_envelope(envelope: Envelope, settled: Settled, voice: Voice) -> Head:
    """The fields beside `input`."""
    capabilities = voice.target.capabilities
    fields: JsonObject = {"model": voice.target.model, "store": False}
    if envelope.system.strip():
        fields["instructions"] = envelope.system
    if settled.tools:
        fields["tools"] = [_definition(tool, voice) for tool in settled.tools]
    if settled.tool is not None:
        fields["tool_choice"] = {"type": "function", "name": settled.tool}
    elif settled.choice is not None:
        fields["tool_choice"] = str(settled.choice)
    if envelope.tools and capabilities.max_calls == 1:
        fields["parallel_tool_calls"] = False
    if settled.max_tokens is not None:
        fields["max_output_tokens"] = settled.max_tokens
    if settled.temperature is not None:
        fields["temperature"] = settled.temperature
    if reasoning := _reasoning(settled):
        fields["reasoning"] = reasoning
    if capabilities.thinking is not ThinkingMode.NEVER:
        fields["include"] = [ENCRYPTED_REASONING]
    if envelope.options.stream:
        fields["stream"] = True
    return Head(with_extra(fields, envelope.options.extra))


def _reasoning(settled: Settled) -> JsonObject:
    reasoning: JsonObject = {}
    if settled.effort is not None:
        reasoning["effort"] = settled.effort
    if settled.thoughts_wanted:
        reasoning["summary"] = "auto"  # only when asked for: some accounts may not have summaries
    return reasoning


def _definition(tool: ToolSpec, voice: Voice) -> JsonObject:
    # `strict` has to be said: left out, the provider rewrites the schema to its strict form, or refuses it.
    return {
        "type": "function",
        "name": voice.names.project(tool.name),
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }
