"""What surrounds the messages, in the words of the SDK's `generateText` and `streamText`.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields beside `messages`. The SDK refuses system messages among the others unless it is told that they are
     meant, so it is told wherever an instruction may come in the middle.
"""

from __future__ import annotations

from legato.model import Json, JsonObject, SpecKind, Target, ToolSpec
from legato.model.json_access import present
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.options import Envelope, OptionGrammar, Settled, Switch, complete

_GRAMMAR = OptionGrammar(switch=Switch.EFFORT, says_json=False, dependent={"toolChoice": "tools"})


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds: those of the model behind the SDK are not known."""
    return _GRAMMAR


def encode_envelope(envelope: Envelope, settled: Settled, context: EncodeContext) -> EncodedEnvelope:
    """The fields beside `messages`."""
    fields: JsonObject = {
        "model": context.target.model,
        "system": settled.system or None,
        "allowSystemInMessages": context.target.capabilities.middle_system or None,
        "tools": {tool.name: _definition(tool) for tool in settled.tools} or None,
        "toolChoice": _choice(settled),
        "maxOutputTokens": settled.max_tokens,
        "temperature": settled.temperature,
        "reasoning": settled.effort,
        "stream": envelope.options.stream or None,
    }
    return EncodedEnvelope(*complete(present(fields), settled, _GRAMMAR))


def _choice(settled: Settled) -> Json:
    if settled.tool is not None:
        return {"type": "tool", "toolName": settled.tool}
    return None if settled.choice is None else str(settled.choice)


def _definition(tool: ToolSpec) -> JsonObject:
    described: JsonObject = {"inputSchema": tool.parameters, "description": tool.description or None}
    strict = {"strict": tool.strict}
    return present(strict if tool.kind is SpecKind.HOSTED else described | strict) | tool.native
