"""Print what stands around the messages, in the words of the SDK's `generateText` and `streamText`.

In:  the envelope in neutral words.
Out: the fields beside `messages`. The SDK refuses system messages among the others unless it is told that they are
     meant, so it is told wherever an instruction may stand in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import (
    Action,
    Capabilities,
    Decision,
    JsonObject,
    Options,
    ThinkingMode,
    ThinkingSwitch,
    ToolSpec,
)
from legato.wire.contract import Envelope, Head
from legato.wire.offering import defined_tools
from legato.wire.projection.decisions import projected
from legato.wire.voice import Voice

_EFFORTS = ((2_048, "low"), (8_192, "medium"))
"""a budget of tokens, up to the number, as an effort; more is high"""


def head(envelope: Envelope, voice: Voice) -> Head:
    """The fields beside `messages`."""
    capabilities = voice.target.capabilities
    options = envelope.options
    decisions: list[Decision] = []
    fields: JsonObject = {"model": voice.target.model}
    if envelope.system:
        fields["system"] = envelope.system
    if capabilities.middle_system:
        fields["allowSystemInMessages"] = True
    fields.update(_tools(envelope, voice, decisions))
    if options.max_tokens is not None:
        fields["maxOutputTokens"] = options.max_tokens
    if options.temperature is not None:
        if capabilities.temperature:
            fields["temperature"] = options.temperature
        else:
            decisions.append(_adjusted("temperature", "this model takes no temperature"))
    if reasoning := _reasoning(options, capabilities, decisions):
        fields["reasoning"] = reasoning
    if options.stream:
        fields["stream"] = True
    fields.update(options.extra)
    return Head(fields, decisions=tuple(decisions))


def _adjusted(reason: str, detail: str) -> Decision:
    return projected(Action.ADJUSTED, reason, detail)


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    options = envelope.options
    tools = defined_tools(envelope, voice, decisions)
    if not tools:
        return {}
    fields: JsonObject = {"tools": _definitions(tools, voice)}
    if not envelope.tools:
        return {**fields, "toolChoice": "none"}
    if options.tool is not None:
        fields["toolChoice"] = {"type": "tool", "toolName": voice.names.project(options.tool)}
    elif options.choice is not None:
        fields["toolChoice"] = str(options.choice)
    return fields


def _definitions(tools: Sequence[ToolSpec], voice: Voice) -> JsonObject:
    definitions: JsonObject = {}
    for tool in tools:
        definition: JsonObject = {"inputSchema": tool.parameters}
        if tool.description:
            definition["description"] = tool.description
        definitions[voice.names.project(tool.name)] = definition
    return definitions


# --- thinking ---------------------------------------------------------------------------------------------------------


def _reasoning(options: Options, capabilities: Capabilities, decisions: list[Decision]) -> str:
    mode = capabilities.thinking
    switch = options.thinking
    effort = options.effort or ""
    if not effort and options.thinking_budget is not None and switch is not ThinkingSwitch.OFF:
        effort = next((name for most, name in _EFFORTS if options.thinking_budget <= most), "high")
        decisions.append(_adjusted("thinking-budget", "thinking is measured in efforts here, not in tokens"))
    if not effort and switch is ThinkingSwitch.ON and not capabilities.thinking_default:
        effort = "medium"
    if switch is ThinkingSwitch.OFF:
        return _switched_off(mode, decisions)
    if effort and mode is ThinkingMode.NEVER:
        decisions.append(_adjusted("thinking", "this model does not think"))
        return ""
    if effort and mode is ThinkingMode.ALWAYS:
        decisions.append(_adjusted("effort", "how much this model thinks cannot be chosen"))
        return ""
    return effort


def _switched_off(mode: ThinkingMode, decisions: list[Decision]) -> str:
    if mode is ThinkingMode.NEVER:
        return ""
    if mode is ThinkingMode.ALWAYS:
        decisions.append(_adjusted("thinking", "this model always thinks"))
        return ""
    if mode is ThinkingMode.EFFORT:
        decisions.append(_adjusted("thinking", "this model always thinks; it is asked to think little"))
        return "low"
    return "none"
