"""Whether the model will think in its next answer, decided before the provider can refuse it.

Some models demand, while thinking is on, that an open tool loop begins with a thought of their own. A loop that another
model began has none. Then thinking is switched off for this one request, where the model can do that; where it cannot,
the request is refused here, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from legato.errors import ImpossibleRequest
from legato.model import (
    Action,
    Decision,
    Fault,
    Include,
    Options,
    Target,
    Thinking,
    ThinkingMode,
    ThinkingPolicy,
    ThinkingSwitch,
)
from legato.transcript.units import Exchange, Unit
from legato.wire.voice import Voice

_NEVER = ThinkingMode.NEVER
_ON, _OFF = ThinkingSwitch.ON, ThinkingSwitch.OFF
_SWITCHABLE = (ThinkingMode.BUDGET, ThinkingMode.ADAPTIVE, ThinkingMode.SWITCH)


def will_think(target: Target, options: Options) -> bool:
    """Whether the model thinks under these options, before the history is looked at."""
    capabilities = target.capabilities
    if capabilities.thinking is _NEVER:
        return False
    if options.thinking is _ON or options.thinking_budget or options.effort:
        return options.thinking is not _OFF
    if options.thinking is _OFF:
        return capabilities.thinking not in _SWITCHABLE
    return capabilities.thinking_default


def open_loop(newest_first: Iterable[Unit | None]) -> Exchange | None:
    """The exchange that began the tool loop in which the conversation ends; None if it does not end in results."""
    loop: Exchange | None = None
    for unit in newest_first:
        if unit is None:
            continue
        if type(unit) is not Exchange or (loop is None and not unit.completions):
            break
        loop = unit
    return loop


def settle_thinking(
    newest_first: Iterable[Unit | None], voice: Voice, options: Options, policy: ThinkingPolicy
) -> tuple[Options, Decision | None]:
    """For a model that will think: `options`, with thinking off if the open loop lacks the thought it would demand."""
    target = voice.target
    loop = open_loop(newest_first)
    if loop is None or _begins_with_own_thought(loop, voice, policy):
        return options, None
    if target.capabilities.thinking not in _SWITCHABLE:
        raise ImpossibleRequest(
            f"{target.route} always thinks and demands its own thought at the start of this tool loop, which another "
            "model began; let the loop end on that model, or choose a model whose thinking can be switched off",
            route=target.route,
        )
    decision = Decision(
        Action.ADJUSTED,
        "thinking-off-in-foreign-loop",
        Fault.PROJECTION,
        "the open tool loop does not begin with a thought of this model; thinking is off for this request",
        tuple(completion.call_id for completion in loop.completions),
    )
    return _without_thinking(options), decision


def _begins_with_own_thought(loop: Exchange, voice: Voice, policy: ThinkingPolicy) -> bool:
    first = loop.blocks[0]
    return (
        policy.include is not Include.NONE
        and isinstance(first, Thinking)
        and bool(first.native)
        and voice.is_home(loop.origin)
    )


def _without_thinking(options: Options) -> Options:
    return replace(options, thinking=ThinkingSwitch.OFF, thinking_budget=None, effort=None)
