"""Settle the options of a request and the tools that it defines.

In:  an `Envelope` in neutral words, the `EncodeContext` of a target, and its `OptionGrammar`.
Out: `Settled`, whose values can all be sent as they are, with a decision for each that is not what was asked for.

Decisions come in one order: tools, the choice among them, temperature, thinking, effort, budget, max tokens, then the
options of the table, then fields that no option covers. What has no sensible adjustment raises `ImpossibleRequest`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from legato.model import Choice, Decision, JsonObject, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.wire.context import EncodeContext
from legato.wire.options.efforts import plainly
from legato.wire.options.envelope import Envelope
from legato.wire.options.fields import settle_extra, settle_fields, with_form_of_json
from legato.wire.options.grammar import OptionGrammar
from legato.wire.options.thinking import Situation, adjusted, settle_thinking
from legato.wire.options.tools import free_text_tools, settle_choice, settle_tools

_ONLY_TEMPERATURE = 1
"""what the temperature is while the model thinks, where it cannot be set then"""


class Settled(Struct, frozen=True, kw_only=True):
    """What the request asks for in the end. None, and a switch at `DEFAULT`, mean that nothing is said about it."""

    system: str
    """the instructions, empty if they say nothing"""
    tools: Sequence[ToolSpec]
    """what to define, under the target's names"""
    free_text: frozenset[tuple[str, str]]
    """the namespaces and names of custom tools that are defined as functions"""
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
    fields: JsonObject = {}
    """the options that the table has rooms for, as fields of the body"""
    extra: JsonObject = {}
    """fields that no option covers, and which mean something to the target"""
    decisions: tuple[Decision, ...] = ()


def settle(envelope: Envelope, context: EncodeContext, grammar: OptionGrammar) -> Settled:
    """What to send; raises `ImpossibleRequest` if nothing would serve."""
    situation = Situation(plainly(envelope.options), context, grammar, [])
    tools = settle_tools(envelope, situation)
    choice, tool = settle_choice(envelope, tools, situation)
    temperature = _temperature(situation)
    max_tokens, limited = _max_tokens(situation)
    thinking = settle_thinking(situation, max_tokens)
    if limited:
        situation.decisions.append(limited)
    fields = settle_fields(situation, temperature=temperature, has_tools=bool(tools))
    can_think = situation.capabilities.thinking is not ThinkingMode.NEVER
    return Settled(
        system=with_form_of_json(envelope.system if envelope.system.strip() else "", situation),
        tools=tools,
        free_text=free_text_tools(envelope.tools, situation),
        choice=choice,
        tool=tool,
        max_tokens=thinking.max_tokens,
        temperature=temperature,
        thinking=thinking.switch,
        effort=thinking.effort,
        budget=thinking.budget,
        thoughts_wanted=can_think and situation.options.thinking is ThinkingSwitch.ON,
        fields=fields,
        extra=settle_extra(situation),
        decisions=tuple(situation.decisions),
    )


# --- tokens and temperature -------------------------------------------------------------------------------------------


def _max_tokens(situation: Situation) -> tuple[int | None, Decision | None]:
    """How long the answer may be, before thinking takes its part of it."""
    options, grammar = situation.options, situation.grammar
    asked, most, least = options.max_tokens, situation.capabilities.max_output, grammar.least_max_tokens
    if asked is None:
        return _unasked_max_tokens(situation), None
    if asked < 1:
        odd = adjusted("max-tokens", f"{asked} is no number of tokens; the answer is not limited by it")
        return _unasked_max_tokens(situation), odd
    if asked < least:
        return least, adjusted("max-tokens", f"at least {least} tokens have to be allowed, not {asked}")
    if grammar.caps_max_tokens and asked > most:
        return most, adjusted("max-tokens", f"the model writes at most {most} tokens, not {asked}")
    return asked, None


def _unasked_max_tokens(situation: Situation) -> int | None:
    """The limit where no one asked for any: what a provider demands has to be said."""
    most, unstreamed = situation.capabilities.max_output, situation.grammar.unstreamed_max_tokens
    if unstreamed is None:
        return None
    return most if situation.options.stream else min(most, unstreamed)


def _temperature(situation: Situation) -> float | None:
    asked, grammar = situation.options.temperature, situation.grammar
    if asked is None:
        return None
    if not situation.capabilities.temperature:
        situation.adjust("temperature", "the model takes no temperature")
        return None
    if situation.context.thinking_on and not grammar.temperature_while_thinking and asked != _ONLY_TEMPERATURE:
        situation.adjust("temperature", "the temperature cannot be set while the model thinks")
        return None
    if grammar.temperatures is None:
        return asked
    low, high = grammar.temperatures
    if not low <= asked <= high:
        situation.adjust("temperature", f"{asked} is not between {low} and {high}")
    return min(high, max(low, asked))
