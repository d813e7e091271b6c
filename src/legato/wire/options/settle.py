"""Settle the options of a request and the tools that it defines.

In:  an `Envelope` in neutral words, the `Voice` of a target, and its `OptionGrammar`.
Out: `Settled`, whose values can all be sent as they are, with a decision for each that is not what was asked for.

Decisions come in one order: tools, the choice among them, temperature, thinking, effort, budget, max tokens. What has
no sensible adjustment raises `ImpossibleRequest`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from legato.errors import ImpossibleRequest
from legato.model import (
    Action,
    Choice,
    Decision,
    JsonObject,
    Options,
    ThinkingMode,
    ThinkingSwitch,
    ToolSpec,
)
from legato.wire.options.efforts import plainly
from legato.wire.options.grammar import OptionGrammar
from legato.wire.options.schemas import arguments_schema
from legato.wire.options.thinking import Situation, settle_thinking
from legato.wire.projection.decisions import projected
from legato.wire.voice import Voice

_NO_LONGER = "No longer available."
_ONLY_TEMPERATURE = 1
"""what the temperature is while the model thinks, where it cannot be set then"""


class Envelope(Struct, frozen=True):
    """What surrounds the units: instructions, tools and options.

    `called` are the names of the tools that printed calls refer to, in order of appearance: some targets demand a
    definition for them.
    """

    system: str
    tools: Sequence[ToolSpec]
    options: Options
    called: Sequence[str] = ()


class Settled(Struct, frozen=True, kw_only=True):
    """What the request asks for in the end. None, and a switch at `DEFAULT`, mean that nothing is said about it."""

    tools: Sequence[ToolSpec]
    """what to define"""
    choice: Choice | None
    tool: str | None
    """the one tool that has to be called, by the target's name for it; `choice` is `REQUIRED` then"""
    max_tokens: int | None
    temperature: float | None
    thinking: ThinkingSwitch
    effort: str | None
    budget: int | None
    thoughts_wanted: bool
    """thinking was asked for in so many words, so the target should show what it can of it"""
    decisions: tuple[Decision, ...] = ()


def settle(envelope: Envelope, voice: Voice, grammar: OptionGrammar) -> Settled:
    """What to send; raises `ImpossibleRequest` if nothing would serve."""
    situation = Situation(plainly(envelope.options), voice, grammar, [])
    tools = _tools(envelope, situation)
    choice, tool = _choice(envelope, tools, situation)
    temperature = _temperature(situation)
    max_tokens, limited = _max_tokens(situation)
    thinking = settle_thinking(situation, max_tokens)
    decisions = (*situation.decisions, limited) if limited else tuple(situation.decisions)
    can_think = situation.capabilities.thinking is not ThinkingMode.NEVER
    return Settled(
        tools=tools,
        choice=choice,
        tool=tool,
        max_tokens=thinking.max_tokens,
        temperature=temperature,
        thinking=thinking.switch,
        effort=thinking.effort,
        budget=thinking.budget,
        thoughts_wanted=can_think and situation.options.thinking is ThinkingSwitch.ON,
        decisions=decisions,
    )


def with_extra(fields: JsonObject, extra: JsonObject) -> JsonObject:
    """The fields of a request with those that no option covers; tools that the provider runs stand beside ours."""
    if not extra:
        return fields
    ours = fields.get("tools")
    merged = fields | extra
    if ours is not None and "tools" in extra:
        merged["tools"] = [*ours, *extra["tools"]]
    return merged


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(envelope: Envelope, situation: Situation) -> Sequence[ToolSpec]:
    """What to define: the tools that are offered.

    Where a target demands definitions for the calls in the history and nothing is offered, a stand-in for each tool
    that was called, which the model may not call. Tools that the provider runs are definitions too.
    """
    options, capabilities = envelope.options, situation.capabilities
    if envelope.tools:
        return _offered(envelope, situation)
    if options.tool is not None or options.choice is Choice.REQUIRED:
        raise ImpossibleRequest(
            "a tool call is demanded, but no tools are offered; offer tools, or leave the choice to the model",
            target=situation.voice.target.route,
        )
    if not envelope.called or not capabilities.demands_tools or not capabilities.native_tool_history:
        return ()
    if options.extra.get("tools"):
        return ()
    names = list(dict.fromkeys(envelope.called))
    detail = f"the history holds calls of {', '.join(names)}"
    situation.decisions.append(projected(Action.INSERTED, "dummy-tools", detail))
    return [ToolSpec(name, _NO_LONGER) for name in names]


def _offered(envelope: Envelope, situation: Situation) -> Sequence[ToolSpec]:
    """The tools that are offered, each once, with a schema that the target can read."""
    tools, forced, limit = _each_once(envelope.tools, situation), envelope.options.tool, situation.grammar.max_tools
    voice = situation.voice
    if forced is not None and all(tool.name != forced for tool in tools):
        raise ImpossibleRequest(
            f"the tool {forced!r} is to be called, but it is not among the tools that are offered; offer it",
            target=voice.target.route,
            tool=forced,
        )
    if limit is not None and len(tools) > limit:
        raise ImpossibleRequest(
            f"{len(tools)} tools are offered, and {voice.target.route} takes at most {limit}; offer fewer",
            layer="projection",
            tools=len(tools),
            limit=limit,
        )
    for tool in tools:
        name = voice.names.project(tool.name)
        if name != tool.name:
            detail = f"{tool.name} is called {name} there"
            situation.decisions.append(projected(Action.RENAMED, "tool-name", detail))
    return [_described(tool, situation) for tool in tools]


def _each_once(tools: Sequence[ToolSpec], situation: Situation) -> Sequence[ToolSpec]:
    """The first tool of each name: every API refuses a name that is defined twice."""
    by_name: dict[str, ToolSpec] = {}
    for tool in tools:
        if by_name.setdefault(tool.name, tool) is not tool:
            detail = f"{tool.name} is defined twice; the first definition is sent"
            situation.decisions.append(projected(Action.DEDUPED, "duplicate-tool", detail))
    return list(by_name.values())


def _described(tool: ToolSpec, situation: Situation) -> ToolSpec:
    schema = arguments_schema(tool.parameters)
    if schema is tool.parameters:
        return tool
    detail = f"the types in the schema of {tool.name} became those of JSON Schema"
    situation.decisions.append(projected(Action.CONVERTED, "schema-types", detail))
    return replace(tool, parameters=schema)


def _choice(envelope: Envelope, tools: Sequence[ToolSpec], situation: Situation) -> tuple[Choice | None, str | None]:
    """How the model may use the tools, and the one that it has to call."""
    options, voice = envelope.options, situation.voice
    if not envelope.tools:
        return (Choice.NONE if tools else None), None
    if options.tool is None and options.choice is not Choice.REQUIRED:
        return options.choice, None
    if voice.thinking_on and not situation.grammar.forced_while_thinking:
        situation.adjust("forced-tool", "no tool can be forced while the model thinks, so it may choose")
        return Choice.AUTO, None
    return Choice.REQUIRED, None if options.tool is None else voice.names.project(options.tool)


# --- tokens and temperature -------------------------------------------------------------------------------------------


def _max_tokens(situation: Situation) -> tuple[int | None, Decision | None]:
    """How long the answer may be, before thinking takes its part of it."""
    options, grammar = situation.options, situation.grammar
    asked, most, least = options.max_tokens, situation.capabilities.max_output, grammar.least_max_tokens
    if asked is None:
        if grammar.unstreamed_max_tokens is None:
            return None, None
        return (most if options.stream else min(most, grammar.unstreamed_max_tokens)), None
    if asked < least:
        detail = f"at least {least} tokens have to be allowed, not {asked}"
        return least, projected(Action.ADJUSTED, "max-tokens", detail)
    if grammar.caps_max_tokens and asked > most:
        detail = f"the model writes at most {most} tokens, not {asked}"
        return most, projected(Action.ADJUSTED, "max-tokens", detail)
    return asked, None


def _temperature(situation: Situation) -> float | None:
    asked, grammar = situation.options.temperature, situation.grammar
    if asked is None:
        return None
    if not situation.capabilities.temperature:
        situation.adjust("temperature", "the model takes no temperature")
        return None
    if situation.voice.thinking_on and not grammar.temperature_while_thinking and asked != _ONLY_TEMPERATURE:
        situation.adjust("temperature", "the temperature cannot be set while the model thinks")
        return None
    if grammar.temperatures is None:
        return asked
    low, high = grammar.temperatures
    if not low <= asked <= high:
        situation.adjust("temperature", f"{asked} is not between {low} and {high}")
    return min(high, max(low, asked))
