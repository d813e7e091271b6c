"""What surrounds the messages: instructions, tools and options, as fields of the Converse API.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields of the body beside `messages`. The model is named in the path of the request, not in its body.

The service has fields of its own for what all models know. How a model thinks is none of them: that goes through
`additionalModelRequestFields`, in the words of the model's maker.
"""

from __future__ import annotations

from legato.model import Capabilities, Choice, JsonObject, SpecKind, Target, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.model.json_access import present
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.options import Envelope, OptionGrammar, Settled, complete

_GRAMMAR = OptionGrammar(
    choices=frozenset({Choice.AUTO, Choice.REQUIRED}),
    # Claude behind this API refuses what it refuses at home; the other families are not known to.
    forced_while_thinking=False,
    temperature_while_thinking=False,
    caps_max_tokens=True,
    temperatures=(
        0,
        1,
    ),  # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InferenceConfiguration.html
    effort_modes=frozenset({ThinkingMode.ADAPTIVE, ThinkingMode.EFFORT, ThinkingMode.SWITCH}),
    budget_modes=frozenset({ThinkingMode.BUDGET}),
    budget_in_max_tokens=True,
    least_budget=1024,
    default_budget=16_384,
    top_p_while_thinking=0.95,
    json_mode=False,
    closed_schemas=True,
    dependent={"toolConfig": "toolConfig"},
)
_CHOICES: dict[Choice, str] = {Choice.AUTO: "auto", Choice.REQUIRED: "any"}


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    return _GRAMMAR


def encode_envelope(envelope: Envelope, settled: Settled, context: EncodeContext) -> EncodedEnvelope:
    """The fields beside `messages`."""
    tools = [_tool(tool) for tool in settled.tools]
    fields: JsonObject = {
        "system": [{"text": settled.system}] if settled.system else None,
        "inferenceConfig": present({"maxTokens": settled.max_tokens, "temperature": settled.temperature}) or None,
        "toolConfig": present({"tools": tools, "toolChoice": _choice(settled)}) if tools else None,
        "additionalModelRequestFields": _thinking(settled, context.target.capabilities) or None,
    }
    return EncodedEnvelope(*complete(present(fields), settled, _GRAMMAR))


def _choice(settled: Settled) -> JsonObject | None:
    if settled.tool is not None:
        return {"tool": {"name": settled.tool}}
    return {_CHOICES[settled.choice]: {}} if settled.choice is not None else None


def _thinking(settled: Settled, capabilities: Capabilities) -> JsonObject:
    """How the model should think, in the words of its maker."""
    is_on = settled.thinking is ThinkingSwitch.ON
    match capabilities.thinking:
        case ThinkingMode.BUDGET | ThinkingMode.ADAPTIVE:
            # Claude: https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
            own: JsonObject = {} if settled.effort is None else {"output_config": {"effort": settled.effort}}
            if is_on and settled.budget is not None:
                own["thinking"] = {"type": "enabled", "budget_tokens": settled.budget}
            elif is_on:
                own["thinking"] = {"type": "adaptive"}
            elif settled.thinking is ThinkingSwitch.OFF and capabilities.thinking_default:
                own["thinking"] = {"type": "disabled"}
            return own
        case ThinkingMode.SWITCH if is_on:
            # Nova: https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
            return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": settled.effort or "medium"}}
        case ThinkingMode.EFFORT if settled.effort is not None:
            # gpt-oss: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html
            return {"reasoning_effort": settled.effort}
        case _:
            return {}


def _tool(tool: ToolSpec) -> JsonObject:
    if tool.kind is SpecKind.HOSTED:
        return tool.native
    schema = tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}
    described = {"description": tool.description or None, "inputSchema": {"json": schema}, "strict": tool.strict}
    return {"toolSpec": {"name": tool.name} | present(described) | tool.native}
