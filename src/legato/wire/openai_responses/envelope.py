"""Print what stands around the items: instructions, tools and options.

In:  the envelope in neutral words.
Out: the fields of a stateless request. `store` is false because the history is always sent whole, and a model that
     thinks is asked for its reasoning in encrypted form, without which it could not be sent back.

What the target would refuse is adjusted, and said; what nobody could adjust is refused here.
"""

from __future__ import annotations

from legato.model import (
    Action,
    Decision,
    Fault,
    JsonObject,
    Options,
    ThinkingMode,
    ThinkingSwitch,
    ToolSpec,
)
from legato.wire.contract import Envelope, Head
from legato.wire.offering import defined_tools
from legato.wire.voice import Voice

ENCRYPTED_REASONING = "reasoning.encrypted_content"

FEWEST_TOKENS = 16
"""a smaller `max_output_tokens` is refused"""

_EFFORTS = ((2_048, "low"), (8_192, "medium"))
"""a budget of tokens, up to the number, as an effort; more is high"""


def head(envelope: Envelope, voice: Voice) -> Head:
    """The fields beside `input`."""
    capabilities = voice.target.capabilities
    options = envelope.options
    decisions: list[Decision] = []
    fields: JsonObject = {"model": voice.target.model, "store": False}
    if envelope.system:
        fields["instructions"] = envelope.system
    fields.update(_tools(envelope, voice, decisions))
    if options.max_tokens is not None:
        fields["max_output_tokens"] = max(options.max_tokens, FEWEST_TOKENS)
        if options.max_tokens < FEWEST_TOKENS:
            decisions.append(_adjusted("max-tokens", f"at least {FEWEST_TOKENS} tokens have to be allowed"))
    if options.temperature is not None:
        if capabilities.temperature:
            fields["temperature"] = options.temperature
        else:
            decisions.append(_adjusted("temperature", "this model takes no temperature"))
    if reasoning := _reasoning(options, capabilities.thinking, decisions):
        fields["reasoning"] = reasoning
    if capabilities.thinking is not ThinkingMode.NEVER:
        fields["include"] = [ENCRYPTED_REASONING]
    if options.stream:
        fields["stream"] = True
    ours = fields.get("tools", [])
    fields.update(options.extra)
    if "tools" in options.extra:  # tools that the provider runs stand beside ours
        fields["tools"] = [*ours, *options.extra["tools"]]
    return Head(fields, decisions=tuple(decisions))


def _adjusted(reason: str, detail: str) -> Decision:
    return Decision(Action.ADJUSTED, reason, Fault.PROJECTION, detail)


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    options = envelope.options
    tools = defined_tools(envelope, voice, decisions)
    if not tools:
        return {}
    fields: JsonObject = {"tools": [_definition(tool, voice) for tool in tools]}
    if not envelope.tools:
        return {**fields, "tool_choice": "none"}
    if options.tool is not None:
        fields["tool_choice"] = {"type": "function", "name": voice.names.project(options.tool)}
    elif options.choice is not None:
        fields["tool_choice"] = str(options.choice)
    if voice.target.capabilities.max_calls == 1:
        fields["parallel_tool_calls"] = False
    return fields


def _definition(tool: ToolSpec, voice: Voice) -> JsonObject:
    # `strict` has to be said: left out, the provider rewrites the schema to its strict form, or refuses it.
    return {
        "type": "function",
        "name": voice.names.project(tool.name),
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


# --- thinking ---------------------------------------------------------------------------------------------------------


def _reasoning(options: Options, mode: ThinkingMode, decisions: list[Decision]) -> JsonObject:
    wants_more = options.thinking is ThinkingSwitch.ON or bool(options.effort) or options.thinking_budget is not None
    if mode is ThinkingMode.NEVER:
        if wants_more and options.thinking is not ThinkingSwitch.OFF:
            decisions.append(_adjusted("thinking", "this model does not think"))
        return {}
    if options.thinking is ThinkingSwitch.OFF:
        return _switched_off(mode, decisions)
    reasoning: JsonObject = {}
    effort = options.effort or _effort_of(options.thinking_budget, decisions)
    if effort and mode is ThinkingMode.ALWAYS:
        decisions.append(_adjusted("effort", "how much this model thinks cannot be chosen"))
    elif effort:
        reasoning["effort"] = effort
    if options.thinking is ThinkingSwitch.ON:
        reasoning["summary"] = "auto"  # only when asked for: some accounts may not have summaries
    return reasoning


def _switched_off(mode: ThinkingMode, decisions: list[Decision]) -> JsonObject:
    if mode is ThinkingMode.ALWAYS:
        decisions.append(_adjusted("thinking", "this model always thinks"))
        return {}
    if mode is ThinkingMode.EFFORT:
        decisions.append(_adjusted("thinking", "this model always thinks; it is asked to think little"))
        return {"effort": "low"}
    return {"effort": "none"}


def _effort_of(budget: int | None, decisions: list[Decision]) -> str:
    if budget is None:
        return ""
    decisions.append(_adjusted("thinking-budget", "thinking is measured in efforts here, not in tokens"))
    return next((effort for most, effort in _EFFORTS if budget <= most), "high")
