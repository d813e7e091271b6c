"""What stands around the messages: instructions, tools and options, as the fields of a chat request.

In:  an `Envelope` in neutral words.
Out: fields in the words of the target's profile. What the target refuses is adjusted and noted; what has no sensible
     adjustment raises `ImpossibleRequest`.
"""

from __future__ import annotations

from legato.errors import ImpossibleRequest
from legato.model import (
    Action,
    Choice,
    Decision,
    Fault,
    JsonObject,
    Options,
    Target,
    ThinkingMode,
    ThinkingSwitch,
    ToolSpec,
)
from legato.wire.contract import Envelope, Head
from legato.wire.offering import defined_tools
from legato.wire.openai_chat.encode import instruction_role
from legato.wire.openai_chat.profiles import Switch, profile_of
from legato.wire.voice import Voice

_SWITCHABLE = frozenset({ThinkingMode.SWITCH, ThinkingMode.BUDGET, ThinkingMode.ADAPTIVE})


def head(envelope: Envelope, voice: Voice) -> Head:
    """The fields of the request beside its messages, and the instructions that stand before all units."""
    target, options = voice.target, envelope.options
    decisions: list[Decision] = []
    fields: JsonObject = {"model": target.model}
    fields |= _tools(envelope, voice, decisions)
    if options.max_tokens is not None:
        fields[target.capabilities.max_tokens_field] = options.max_tokens
    if options.temperature is not None:
        if target.capabilities.temperature:
            fields["temperature"] = options.temperature
        else:
            decisions.append(_adjusted("temperature", "the model takes no temperature, so none is sent"))
    fields |= _thinking(options, target, decisions)
    if options.stream:
        fields["stream"] = True
        if profile_of(target).stream_options:
            fields["stream_options"] = {"include_usage": True}
    fields |= options.extra
    first: tuple[JsonObject, ...] = ()
    if envelope.system.strip():
        first = ({"role": instruction_role(target), "content": envelope.system},)
    return Head(fields, first, tuple(decisions))


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    tools = defined_tools(envelope, voice, decisions)
    if envelope.tools:
        return _offered(envelope, voice, decisions)
    if tools:
        return {"tools": [_definition(tool, voice) for tool in tools], "tool_choice": "none"}
    return {}


def _offered(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    limit = profile_of(voice.target).max_tools
    if limit is not None and len(envelope.tools) > limit:
        raise ImpossibleRequest(
            f"{len(envelope.tools)} tools are offered, and {voice.target.route} takes at most {limit}; offer fewer",
            layer="projection",
            tools=len(envelope.tools),
            limit=limit,
        )
    for tool in envelope.tools:
        name = voice.names.project(tool.name)
        if name != tool.name:
            decisions.append(
                Decision(Action.RENAMED, "tool-name", Fault.PROJECTION, f"{tool.name} is called {name} there")
            )
    fields: JsonObject = {"tools": [_definition(tool, voice) for tool in envelope.tools]}
    choice = _choice(envelope, voice, decisions)
    if choice is not None:
        fields["tool_choice"] = choice
    return fields


def _definition(tool: ToolSpec, voice: Voice) -> JsonObject:
    function: JsonObject = {"name": voice.names.project(tool.name)}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = tool.parameters
    return {"type": "function", "function": function}


def _choice(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> str | JsonObject | None:
    options = envelope.options
    if options.tool is None and options.choice is not Choice.REQUIRED:
        return None if options.choice is None else str(options.choice)
    if voice.thinking_on and not profile_of(voice.target).forced_choice_while_thinking:
        decisions.append(
            _adjusted("forced-choice", "the target refuses a forced call while the model thinks, so it may choose")
        )
        return "auto"
    if options.tool is None:
        return "required"
    return {"type": "function", "function": {"name": voice.names.project(options.tool)}}


# --- thinking ---------------------------------------------------------------------------------------------------------


def _thinking(options: Options, target: Target, decisions: list[Decision]) -> JsonObject:
    fields = _switch(options, target, decisions)
    if options.effort is not None and "reasoning_effort" not in fields:
        mode = target.capabilities.thinking
        if mode is ThinkingMode.NEVER or mode is ThinkingMode.ALWAYS or fields:
            decisions.append(_adjusted("effort", "the target takes no effort here, so none is sent"))
        else:
            fields["reasoning_effort"] = options.effort
    if options.thinking_budget is not None:
        decisions.append(_adjusted("thinking-budget", "the chat family has no budget for thinking, so none is sent"))
    return fields


def _switch(options: Options, target: Target, decisions: list[Decision]) -> JsonObject:
    """The field that switches thinking, as it was asked for; empty if nothing has to be said."""
    profile, capabilities = profile_of(target), target.capabilities
    if options.thinking is ThinkingSwitch.DEFAULT:
        return {}
    is_on = options.thinking is ThinkingSwitch.ON
    if capabilities.thinking not in _SWITCHABLE:
        if is_on == (capabilities.thinking is ThinkingMode.NEVER):
            decisions.append(
                _adjusted("thinking-switch", f"{target.route} cannot be switched to thinking {options.thinking}")
            )
        return {}
    match profile.switch:
        case Switch.TYPE:
            return {"thinking": {"type": "enabled" if is_on else "disabled"}}
        case Switch.EFFORT:
            return {"reasoning_effort": (options.effort or profile.effort_on) if is_on else "none"}
        case Switch.NONE:
            if is_on != capabilities.thinking_default:
                decisions.append(
                    _adjusted("thinking-switch", "this profile has no field that switches thinking; use options.extra")
                )
            return {}


def _adjusted(reason: str, detail: str) -> Decision:
    return Decision(Action.ADJUSTED, reason, Fault.PROJECTION, detail)
