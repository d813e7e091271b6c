"""Tool history for those who send their requests themselves: `shorten` before `render`.

    while True:
        shorten(talk, route, tools=tools)
        request = render(talk, route, tools=tools)

It does what a `Session` does before each request, with the same settings, except that no model can write summaries:
that needs a caller who can await it (`await ToolHistory.make_room`).
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from legato.errors import CallerError
from legato.model import Options, Target, ThinkingPolicy
from legato.request import Catalogue, resolve
from legato.request.envelope import tool_specs
from legato.request.tokens import Estimator
from legato.session.compaction.compactor import too_long
from legato.session.compaction.tool_history import ToolHistory
from legato.session.events import HistoryCompacted
from legato.transcript import Conversation

T = TypeVar("T")


class _Kept:
    """What a conversation keeps between two calls, unless the caller brings it along."""

    def __init__(self) -> None:
        self.history = ToolHistory()
        self.estimator = Estimator()


def shorten(
    conversation: Conversation,
    target: str | Target,
    *,
    tools: Iterable[object] = (),
    system: str = "",
    options: Options | None = None,
    thinking: ThinkingPolicy | None = None,
    catalogue: Catalogue | None = None,
    history: ToolHistory | None = None,
    estimator: Estimator | None = None,
    overflowed: bool = False,
) -> HistoryCompacted | None:
    """Record what the next request to `target` may leave out; what was done, or None if nothing had to be.

    The arguments of `render`; `history` holds the settings (`ToolHistory(HistorySettings(...))`, made once), and
    `estimator` learns from `observe` how the provider counts. `overflowed`: the provider found the last request too
    long. Raises `ContextTooLong` if the conversation cannot be made to fit.
    """
    if history is not None and history.asks_a_model:
        raise CallerError("a model writes the summaries of this history; await its make_room instead of `shorten`")
    kept = conversation.cached(_Kept, _Kept)
    where = resolve(target, catalogue)
    compaction = _at_once(
        (history or kept.history).make_room(
            conversation,
            where,
            estimator=estimator or kept.estimator,
            overflowed=overflowed,
            tools=tool_specs(tools),
            system=system,
            options=options,
            thinking=thinking,
        )
    )
    if compaction is None:
        return None
    if compaction.records:
        conversation.apply(conversation.prepare(compaction.records))
    if compaction.excess:
        raise too_long(where, compaction.excess)
    return compaction.event if compaction.records else None


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which never waits: only a model that writes summaries would make it."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a history without a summariser waited for something")
