"""What a switch did, and what one would cost, told before it is made.

For a preview the conversation is rendered for the target without sending anything; the decisions of that render say
what would be dropped or converted, its size whether it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from legato.model import Action, Options, Target, ThinkingPolicy, ToolSpec
from legato.request import render
from legato.request.tokens import Estimator
from legato.session.attached import media_of
from legato.transcript import Conversation

_LOSSES = (Action.DROPPED, Action.CONVERTED, Action.RENAMED, Action.ADJUSTED)


class Switched(Struct, frozen=True):
    """A switch was accepted. `deferred` says that a turn is under way and keeps its route; the next one gets this."""

    route: str
    deferred: bool


class SwitchPreview(Struct, frozen=True):
    """What a switch would do. `losses` counts what is dropped or converted, by reason."""

    route: str
    tokens: int
    window: int
    losses: dict[str, int]
    cold_cache: bool = True

    @property
    def fits(self) -> bool:
        """Whether the conversation fits the target's window as it is."""
        return self.tokens <= self.window


def preview_switch(
    talk: Conversation,
    target: Target,
    *,
    estimator: Estimator,
    tools: Sequence[ToolSpec] = (),
    system: str = "",
    options: Options | None = None,
    thinking: ThinkingPolicy | None = None,
) -> SwitchPreview:
    """What a switch to `target` would drop or convert, and whether the conversation fits there."""
    # A copy: what was really sent stays what the next request is compared with.
    request = render(talk.copy(), target, tools=tools, system=system, options=options, thinking=thinking)
    losses = Counter(decision.reason for decision in request.report.of(*_LOSSES))
    return SwitchPreview(
        target.route,
        estimator.tokens_with_media(target.route, request.json(), media_of(talk)),
        target.capabilities.window,
        dict(losses),
    )
