"""Print what stands around the units: instructions, tools and options.

In:  the envelope and the voice of the target.
Out: the fields of the body beside `messages`. A combination that the API refuses is adjusted, as a decision; one that
has no sensible adjustment raises `ImpossibleRequest`.
"""

from __future__ import annotations

from legato.errors import ImpossibleRequest
from legato.model import Action, Choice, Decision, Fault, Json, JsonObject, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.wire.anthropic.fields import as_list
from legato.wire.contract import Envelope, Head
from legato.wire.offering import defined_tools
from legato.wire.voice import Voice

LEAST_BUDGET = 1024
"""the API refuses a smaller budget for thinking"""

_DEFAULT_BUDGET = 16_384
_SWITCHED = frozenset({ThinkingMode.BUDGET, ThinkingMode.ADAPTIVE, ThinkingMode.SWITCH})
_GRADED = frozenset({ThinkingMode.ADAPTIVE, ThinkingMode.EFFORT})


def head(envelope: Envelope, voice: Voice) -> Head:
    """Print the envelope."""
    decisions: list[Decision] = []
    fields: JsonObject = {"model": voice.target.model, "max_tokens": _max_tokens(envelope, voice, decisions)}
    if envelope.system.strip():
        fields["system"] = [{"type": "text", "text": envelope.system}]
    fields |= _tools(envelope, voice, decisions)
    fields |= _thinking(envelope, voice, fields["max_tokens"], decisions)
    fields |= _temperature(envelope, voice, decisions)
    if envelope.options.stream:
        fields["stream"] = True
    tools = fields.get("tools")
    fields |= envelope.options.extra
    if tools is not None:  # tools that the provider runs stand beside ours
        fields["tools"] = [*tools, *_hosted_tools(envelope)]
    return Head(fields, (), tuple(decisions))


def _hosted_tools(envelope: Envelope) -> list[Json]:
    return as_list(envelope.options.extra.get("tools"))


_MOST_AT_ONCE = 16_000
"""tokens of an answer that is not streamed: the official client refuses to wait for much longer ones"""


def _max_tokens(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> int:
    asked, most = envelope.options.max_tokens, voice.target.capabilities.max_output
    if asked is None:
        return most if envelope.options.stream else min(most, _MOST_AT_ONCE)
    if asked > most:
        decisions.append(_adjusted("max-tokens", f"the model writes at most {most} tokens, not {asked}"))
        return most
    return asked


def _tools(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    if not envelope.tools and _hosted_tools(envelope):
        return {}
    tools = defined_tools(envelope, voice, decisions)
    if not tools:
        return {}
    fields: JsonObject = {"tools": [_printed_tool(tool, voice) for tool in tools]}
    choice = _choice(envelope, voice, decisions) if envelope.tools else {"type": "none"}
    if choice is not None:
        fields["tool_choice"] = choice
    return fields


def _choice(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject | None:
    options = envelope.options
    if (options.tool is not None or options.choice is Choice.REQUIRED) and voice.thinking_on:
        decisions.append(_adjusted("forced-tool", "no tool can be forced while the model thinks"))
        return {"type": "auto"}
    if options.tool is not None:
        return {"type": "tool", "name": voice.names.project(options.tool)}
    match options.choice:
        case None:
            return None
        case Choice.AUTO:
            return {"type": "auto"}
        case Choice.NONE:
            return {"type": "none"}
        case Choice.REQUIRED:
            return {"type": "any"}


def _thinking(envelope: Envelope, voice: Voice, max_tokens: int, decisions: list[Decision]) -> JsonObject:
    """`thinking`, `output_config` and a `max_tokens` that leaves room for the budget."""
    options, capabilities = envelope.options, voice.target.capabilities
    mode, fields = capabilities.thinking, JsonObject()
    if options.effort is not None:
        if mode in _GRADED:
            fields["output_config"] = {"effort": options.effort}
        else:
            decisions.append(_adjusted("effort", "the model's thinking has no degrees"))
    takes_budget = mode is ThinkingMode.BUDGET or mode is ThinkingMode.SWITCH
    if options.thinking_budget is not None and not takes_budget:
        decisions.append(_adjusted("thinking-budget", "the model's thinking takes no budget"))
    if mode not in _SWITCHED:
        if options.thinking is ThinkingSwitch.ON and mode is ThinkingMode.NEVER:
            decisions.append(_adjusted("thinking-unsupported", "the model does not think"))
        if options.thinking is ThinkingSwitch.OFF and mode is not ThinkingMode.NEVER:
            decisions.append(_adjusted("thinking-always-on", "the model's thinking cannot be switched off"))
    elif not voice.thinking_on:
        if options.thinking is ThinkingSwitch.OFF or capabilities.thinking_default:
            fields["thinking"] = {"type": "disabled"}
    elif not takes_budget:
        fields["thinking"] = {"type": "adaptive"}
    else:
        budget, room = _budget(envelope, voice, max_tokens, decisions)
        fields["thinking"] = {"type": "enabled", "budget_tokens": budget}
        fields["max_tokens"] = room
    return fields


def _budget(envelope: Envelope, voice: Voice, max_tokens: int, decisions: list[Decision]) -> tuple[int, int]:
    """The budget for thinking, and `max_tokens`, which must be larger: it counts the thinking too."""
    most = voice.target.capabilities.max_output
    if most <= LEAST_BUDGET:
        raise ImpossibleRequest(
            f"{voice.target.route} writes at most {most} tokens, too few to think with; switch thinking off",
            target=voice.target.route,
        )
    asked = envelope.options.thinking_budget
    budget = max(LEAST_BUDGET, min(_DEFAULT_BUDGET, max_tokens // 2) if asked is None else asked)
    if budget >= most:
        budget = max(LEAST_BUDGET, most // 2)
    if asked is not None and budget != asked:
        decisions.append(_adjusted("thinking-budget", f"{budget} tokens for thinking, not {asked}"))
    if max_tokens > budget:
        return budget, max_tokens
    room = min(most, max_tokens + budget)
    decisions.append(_adjusted("max-tokens", f"{room} tokens, so that {budget} can go to thinking"))
    return budget, room


def _temperature(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    asked = envelope.options.temperature
    if asked is None:
        return {}
    if not voice.target.capabilities.temperature:
        decisions.append(_adjusted("temperature", "the model takes no temperature"))
        return {}
    if voice.thinking_on and asked != 1:
        decisions.append(_adjusted("temperature", "the temperature cannot be set while the model thinks"))
        return {}
    if not 0 <= asked <= 1:
        decisions.append(_adjusted("temperature", f"{asked} is not between 0 and 1"))
    return {"temperature": min(1, max(0, asked))}


def _printed_tool(tool: ToolSpec, voice: Voice) -> JsonObject:
    printed: JsonObject = {"name": voice.names.project(tool.name)}
    if tool.description:
        printed["description"] = tool.description
    printed["input_schema"] = tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}
    return printed


def _adjusted(reason: str, detail: str) -> Decision:
    return Decision(Action.ADJUSTED, reason, Fault.PROJECTION, detail)
