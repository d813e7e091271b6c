"""Whether the model will think in its next answer, decided before the provider can refuse it.

Some models demand, while thinking is on, that an open tool loop begins with a thought of their own. A loop that another
model began has none. Then thinking is switched off for this one request, where the model can do that; where it cannot,
the request is refused here, with the reason.
"""

from __future__ import annotations

from msgspec.structs import replace

from legato.errors import ImpossibleRequest
from legato.model import (
    Action,
    Capabilities,
    Decision,
    Fault,
    Options,
    Target,
    Thinking,
    ThinkingMode,
    ThinkingSwitch,
)
from legato.transcript.units import Exchange
from legato.wire.context import EncodeContext
from legato.wire.options import SWITCHABLE, plainly
from legato.wire.options.efforts import NONE

_NEVER = ThinkingMode.NEVER
_ON, _OFF = ThinkingSwitch.ON, ThinkingSwitch.OFF


def will_think(target: Target, options: Options) -> bool:
    """Whether the model thinks under these options, before the history is looked at."""
    capabilities, wish = target.capabilities, plainly(options)
    if capabilities.thinking is _NEVER:
        return False
    if capabilities.thinking not in SWITCHABLE:
        return wish.thinking is not _OFF or not _has_effort_for_off(capabilities)
    if wish.thinking is _OFF:
        return False
    return wish.thinking is _ON or bool(wish.thinking_budget or wish.effort) or capabilities.thinking_default


def _has_effort_for_off(capabilities: Capabilities) -> bool:
    return capabilities.thinking is ThinkingMode.EFFORT and NONE in capabilities.efforts


def settle_thinking(
    loop: Exchange, context: EncodeContext, options: Options, *, shows_thoughts: bool
) -> tuple[Options, Decision | None]:
    """For a model that will think: `options`, with thinking off if the open loop lacks the thought it would demand.

    `loop` is the exchange that began it; with `shows_thoughts` its thoughts are sent, as far as they are the model's.
    """
    target = context.target
    if shows_thoughts and _begins_with_own_thought(loop, context):
        return options, None
    if target.capabilities.thinking not in SWITCHABLE:
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


def _begins_with_own_thought(loop: Exchange, context: EncodeContext) -> bool:
    first = loop.blocks[0]
    return isinstance(first, Thinking) and bool(first.native) and context.is_home(loop.origin)


def _without_thinking(options: Options) -> Options:
    return replace(options, thinking=ThinkingSwitch.OFF, thinking_budget=None, effort=None)
