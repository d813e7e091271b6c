"""What surrounds the messages, in the words of the SDK's `generateText` and `streamText`.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields beside `messages`. The SDK refuses system messages among the others unless it is told that they are
     meant, so it is told wherever an instruction may come in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import JsonObject, SpecKind, Target, ToolSpec
from legato.wire.contract import Head
from legato.wire.options import Envelope, OptionGrammar, Settled, Switch, complete
from legato.wire.voice import Voice

_GRAMMAR = OptionGrammar(switch=Switch.EFFORT, says_json=False, dependent={"toolChoice": "tools"})


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds: those of the model behind the SDK are not known."""
    return _GRAMMAR


def spell_envelope(envelope: Envelope, settled: Settled, voice: Voice) -> Head:
    """The fields beside `messages`."""
    fields: JsonObject = {"model": voice.target.model}
    if settled.system.strip():
        fields["system"] = settled.system
    if voice.target.capabilities.middle_system:
        fields["allowSystemInMessages"] = True
    if settled.tools:
        fields["tools"] = _definitions(settled.tools)
    if settled.tool is not None:
        fields["toolChoice"] = {"type": "tool", "toolName": settled.tool}
    elif settled.choice is not None:
        fields["toolChoice"] = str(settled.choice)
    if settled.max_tokens is not None:
        fields["maxOutputTokens"] = settled.max_tokens
    if settled.temperature is not None:
        fields["temperature"] = settled.temperature
    if settled.effort is not None:
        fields["reasoning"] = settled.effort
    if envelope.options.stream:
        fields["stream"] = True
    return Head(*complete(fields, settled, _GRAMMAR))


def _definitions(tools: Sequence[ToolSpec]) -> JsonObject:
    definitions: JsonObject = {}
    for tool in tools:
        definition: JsonObject = {} if tool.kind is SpecKind.HOSTED else {"inputSchema": tool.parameters}
        if tool.description and tool.kind is not SpecKind.HOSTED:
            definition["description"] = tool.description
        if tool.strict is not None:
            definition["strict"] = tool.strict
        definitions[tool.name] = definition | tool.native
    return definitions
