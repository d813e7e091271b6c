"""Settle the thinking that a request asks for: the switch, the effort, the budget.

In:  a `Situation`, whose context knows whether the model will think, and how many tokens the answer may have.
Out: what to send, and a decision for each wish that cannot be met.

Off wins over an effort or a budget in the same options, and a model that cannot be switched off is asked to think
little. A budget becomes an effort where thinking is measured in efforts, and an effort a budget where it is counted in
tokens (see `efforts`). Where an effort is about more than thinking, no wish about thinking becomes one.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from legato.errors import ImpossibleRequest
from legato.model import Action, Capabilities, Decision, Options, ThinkingMode, ThinkingSwitch
from legato.wire.context import EncodeContext
from legato.wire.options.efforts import NONE, SCALE, budget_of_effort, effort_for, effort_of_budget
from legato.wire.options.grammar import SWITCHABLE, OptionGrammar, Switch
from legato.wire.projection.decisions import projected


def adjusted(reason: str, detail: str) -> Decision:
    """The decision to send something else than what was asked for."""
    return projected(Action.ADJUSTED, reason, detail)


UNSUPPORTED = adjusted("thinking-unsupported", "the model does not think")
ALWAYS_ON = adjusted("thinking-always-on", "the model's thinking cannot be switched off")
ASKED_FOR_LITTLE = adjusted(ALWAYS_ON.reason, f"{ALWAYS_ON.detail}, so it is asked to think little")
NO_SWITCH = adjusted("thinking-switch", "no field of this target switches thinking; name it in options.extra")
NO_DEGREES = adjusted("effort", "the model's thinking has no degrees")
NO_EFFORT_BESIDE_SWITCH = adjusted("effort", "the target takes no effort beside the switch for thinking")
NO_BUDGET = adjusted("thinking-budget", "the model's thinking takes no budget")

_ON, _OFF, _UNSAID = ThinkingSwitch.ON, ThinkingSwitch.OFF, ThinkingSwitch.DEFAULT


class Situation(Struct, frozen=True):
    """What is asked for, whom it is asked of, and what has been decided so far."""

    options: Options
    context: EncodeContext
    grammar: OptionGrammar
    decisions: list[Decision]

    @property
    def capabilities(self) -> Capabilities:
        """What the model accepts."""
        return self.context.target.capabilities

    def adjust(self, reason: str, detail: str) -> None:
        """Something else is sent than what was asked for."""
        self.decisions.append(adjusted(reason, detail))


class SettledThinking(Struct, frozen=True, kw_only=True):
    """What to send about thinking, and the `max_tokens` that leave room for it."""

    max_tokens: int | None
    switch: ThinkingSwitch = _UNSAID
    effort: str | None = None
    budget: int | None = None


def settle_thinking(situation: Situation, max_tokens: int | None) -> SettledThinking:
    """What to send; raises `ImpossibleRequest` for a model that writes too little to think."""
    options, capabilities = situation.options, situation.capabilities
    if capabilities.thinking is ThinkingMode.NEVER:
        is_asked = options.thinking is _ON or options.effort or options.thinking_budget is not None
        if is_asked and options.thinking is not _OFF:
            situation.decisions.append(UNSUPPORTED)
        return SettledThinking(max_tokens=max_tokens)
    can_switch = capabilities.thinking in SWITCHABLE
    if options.thinking is _OFF or (can_switch and capabilities.thinking_default and not situation.context.thinking_on):
        return _off(situation, max_tokens)
    return _on(situation, max_tokens)


# --- off --------------------------------------------------------------------------------------------------------------


def _off(situation: Situation, max_tokens: int | None) -> SettledThinking:
    grammar, capabilities = situation.grammar, situation.capabilities
    takes_effort = capabilities.thinking in grammar.effort_modes
    if capabilities.thinking not in SWITCHABLE:
        if takes_effort and not grammar.effort_beyond_thinking:
            least = effort_for(NONE, capabilities.efforts)
            if least != NONE:
                situation.decisions.append(ASKED_FOR_LITTLE)
            return SettledThinking(max_tokens=max_tokens, effort=least)
        if capabilities.thinking in grammar.budget_modes and grammar.least_budget:
            situation.decisions.append(ASKED_FOR_LITTLE)
            return SettledThinking(max_tokens=max_tokens, budget=grammar.least_budget)
        situation.decisions.append(ALWAYS_ON)
    effort = _known_effort(situation) if takes_effort and grammar.effort_beyond_thinking else None
    if capabilities.thinking not in SWITCHABLE:
        return SettledThinking(max_tokens=max_tokens, effort=effort)
    effort = _effort_while_off(situation, effort)
    match grammar.switch:
        case Switch.FIELD | Switch.FIELD_OR_EFFORT:
            return SettledThinking(max_tokens=max_tokens, switch=_OFF, effort=effort)
        case Switch.EFFORT:
            return SettledThinking(max_tokens=max_tokens, effort=NONE)
        case Switch.NONE:
            if capabilities.thinking_default:
                situation.decisions.append(NO_SWITCH)
            return SettledThinking(max_tokens=max_tokens)
        case _:
            assert_never(grammar.switch)


def _effort_while_off(situation: Situation, effort: str | None) -> str | None:
    """`effort`, or the highest one that is taken while thinking is off."""
    most = situation.grammar.effort_while_off
    if most is None or effort is None or SCALE.index(effort) <= SCALE.index(most):
        return effort
    situation.adjust("effort", f"no effort above {most} is taken while thinking is off, so not {effort}")
    return most


# --- on, or as the model does by itself -------------------------------------------------------------------------------


def _on(situation: Situation, max_tokens: int | None) -> SettledThinking:
    grammar, budget = situation.grammar, situation.options.thinking_budget
    switch = _switch(situation)
    effort = _effort(situation, switch)
    if switch is not _ON or situation.capabilities.thinking not in grammar.budget_modes:
        budget = None
    elif grammar.budget_in_max_tokens:
        budget, max_tokens = _fit(situation, max_tokens)
    elif _is_counted(situation):
        budget = _budget_for_effort(situation)
        _tell_budget(situation, budget)
    elif budget is not None:
        budget = _within_bounds(situation, budget)
    return SettledThinking(max_tokens=max_tokens, switch=switch, effort=effort, budget=budget)


def _switch(situation: Situation) -> ThinkingSwitch:
    """Whether the request switches thinking on, in a field of its own."""
    options, capabilities = situation.options, situation.capabilities
    if capabilities.thinking not in SWITCHABLE | situation.grammar.budget_modes:
        return _UNSAID
    match situation.grammar.switch:
        case Switch.FIELD:
            is_asked = options.thinking is _ON or options.thinking_budget is not None or _is_counted(situation)
            is_said = situation.context.thinking_on and (is_asked or not capabilities.thinking_default)
            return _ON if is_said else _UNSAID
        case Switch.FIELD_OR_EFFORT:
            return _ON if options.thinking is _ON else _UNSAID
        case Switch.NONE:
            if _has_to_be_told(situation):
                situation.decisions.append(NO_SWITCH)
            return _UNSAID
        case Switch.EFFORT:
            return _UNSAID
        case _:
            assert_never(situation.grammar.switch)


def _has_to_be_told(situation: Situation) -> bool:
    """Whether the model is to think, and does so only if it is told."""
    capabilities = situation.capabilities
    is_asked = situation.options.thinking is _ON
    return is_asked and capabilities.thinking in SWITCHABLE and not capabilities.thinking_default


def _effort(situation: Situation, switch: ThinkingSwitch) -> str | None:
    """The effort to send: the one that is asked for, or the budget as one, or the one that only says "think"."""
    options, grammar, mode = situation.options, situation.grammar, situation.capabilities.thinking
    has_room = mode in grammar.effort_modes
    is_taken = has_room and not (grammar.switch is Switch.FIELD_OR_EFFORT and switch is _ON)
    if options.effort and not is_taken and not (switch is _ON and _is_counted(situation)):
        situation.decisions.append(NO_EFFORT_BESIDE_SWITCH if has_room else NO_DEGREES)
    effort = _known_effort(situation) if is_taken else None
    budget = options.thinking_budget
    if budget is not None and mode not in grammar.budget_modes:
        if is_taken and not options.effort and not grammar.effort_beyond_thinking:
            effort = effort_for(effort_of_budget(budget), situation.capabilities.efforts)
            situation.adjust("thinking-budget", f"thinking is measured in efforts here: {effort}, not {budget} tokens")
            return effort
        situation.decisions.append(NO_BUDGET)
    if effort is None and grammar.switch is Switch.EFFORT and _has_to_be_told(situation):
        return effort_for(grammar.default_effort, situation.capabilities.efforts)
    return effort


def _known_effort(situation: Situation) -> str | None:
    """The effort that is asked for, in a word that the model knows."""
    asked, known = situation.options.effort, situation.capabilities.efforts
    if not asked:
        return None
    effort = effort_for(asked, known)
    if effort is None:
        situation.adjust("effort", f"{asked!r} is no effort that the model knows ({', '.join(known)})")
    elif effort != asked:
        situation.adjust("effort", f"the model knows no effort {asked}; {effort} is the nearest")
    return effort


def _is_counted(situation: Situation) -> bool:
    """Whether the effort that is asked for becomes a budget: the model counts tokens, and no budget is asked for."""
    options, grammar, mode = situation.options, situation.grammar, situation.capabilities.thinking
    return (
        mode in grammar.budget_modes
        and mode not in grammar.effort_modes
        and options.thinking_budget is None
        and budget_of_effort(options.effort or "") is not None
    )


def _budget_for_effort(situation: Situation) -> int | None:
    """The budget that an effort becomes, within what every model of the format takes."""
    budget, most = budget_of_effort(situation.options.effort or ""), situation.grammar.most_budget
    return budget if budget is None or most is None else min(budget, most)


def _within_bounds(situation: Situation, asked: int) -> int:
    """The budget that is asked for, or the nearest one that the model takes."""
    least, most = situation.grammar.least_budget, situation.grammar.most_budget
    budget = max(least, asked if most is None else min(asked, most))
    if budget != asked:
        situation.adjust("thinking-budget", f"{budget} tokens for thinking, not {asked}")
    return budget


def _tell_budget(situation: Situation, budget: int | None) -> None:
    situation.adjust("effort", f"thinking is counted in tokens here: {budget} for {situation.options.effort}")


def _fit(situation: Situation, max_tokens: int | None) -> tuple[int, int]:
    """A budget that is large enough, and `max_tokens`, which must be larger because it counts the thinking too."""
    target, grammar, asked = situation.context.target, situation.grammar, situation.options.thinking_budget
    most, least = target.capabilities.max_output, grammar.least_budget
    if most <= least:
        raise ImpossibleRequest(
            f"{target.route} writes at most {most} tokens, too few to think with; switch thinking off",
            target=target.route,
        )
    allowed = most if max_tokens is None else max_tokens
    wanted = (_budget_for_effort(situation) if _is_counted(situation) else None) or grammar.default_budget
    budget = max(least, min(wanted, allowed // 2) if asked is None else asked)
    if budget >= most:
        budget = max(least, most // 2)
    if _is_counted(situation):
        _tell_budget(situation, budget)
    if asked is not None and budget != asked:
        situation.adjust("thinking-budget", f"{budget} tokens for thinking, not {asked}")
    if allowed > budget:
        return budget, allowed
    room = min(most, allowed + budget)
    situation.adjust("max-tokens", f"{room} tokens, so that {budget} can go to thinking")
    return budget, room
