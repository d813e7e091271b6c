"""Keeps the conversation of a session small enough for its next request.

`ToolHistory` decides what to leave out. The compactor asks it, before each step, before a switch to a smaller window
and on demand, and writes its answer to the journal. Tokens that a model used to write a summary count as the session's.
"""

from __future__ import annotations

from collections.abc import Callable

from legato.errors import ContextTooLong
from legato.model import Target
from legato.request.tokens import Estimator
from legato.routing import Route
from legato.session.compaction.summariser import Spent
from legato.session.compaction.tool_history import Compaction, ToolHistory
from legato.session.events import Event, HistoryCompacted
from legato.session.journal import Journal
from legato.session.request_settings import RequestSettings


def too_long(target: Target, excess: int) -> ContextTooLong:
    """What to say of a conversation that cannot be made to fit."""
    return ContextTooLong(
        f"the conversation is about {excess:,} tokens longer than {target.route} takes, and nothing more can be left "
        "out; undo the last message, or switch to a model with a larger window",
        route=target.route,
        layer="session",
    )


def _ignore(_: Event) -> None:
    pass


class Compactor:
    """Compacts the conversation in `journal`. `resolve` finds the target of a route; `spent` counts summaries."""

    def __init__(
        self,
        history: ToolHistory,
        journal: Journal,
        *,
        resolve: Callable[[str], Target],
        estimator: Estimator,
        spent: Spent,
    ) -> None:
        self.history = history
        """decides what to leave out; may be replaced at any time"""
        self._journal = journal
        self._resolve = resolve
        self._estimator = estimator
        self._spent = spent
        self._leaving: Target | None = None
        """who answers while a switch waits for the end of the turn"""

    async def ensure_fits(
        self, route: Route, settings: RequestSettings, *, show: Callable[[Event], None], overflowed: bool = False
    ) -> bool:
        """Compact the conversation for `route` if it must be; returns whether anything was left out.

        `overflowed`: the provider found the last request too long. Raises `ContextTooLong` if the conversation cannot
        be made to fit, because nothing is sent that is known to be too long.
        """
        target = self._resolve(route.name)
        if self._leaving is not None and self._leaving.route != target.route:
            await self.before_switch(self._leaving, route, settings, show=show)
        compaction = await self.history.make_room(
            self._journal.talk,
            target,
            estimator=self._estimator,
            overflowed=overflowed,
            tools=settings.tools.specs,
            system=settings.system,
            options=settings.options_for(route),
            thinking=settings.thinking,
            spent=self._spent,
        )
        if compaction is not None and compaction.excess:
            # Nothing is left out for a request that does not leave: the last message alone may be too long.
            raise too_long(target, compaction.excess)
        event = await self._write(compaction)
        if event is not None:
            show(event)
        return event is not None

    def switch_deferred(self, old: Target) -> None:
        """A switch was asked for during a turn: if the new window is smaller, `old` will write the summary for it."""
        self._leaving = old

    async def before_switch(
        self, old: Target, new: Route, settings: RequestSettings, *, show: Callable[[Event], None] = _ignore
    ) -> None:
        """Before a switch to a smaller window, compact for it while the old model can still be asked."""
        self._leaving = None
        compaction = await self.history.make_room_for_switch(
            self._journal.talk,
            old,
            self._resolve(new.name),
            estimator=self._estimator,
            tools=settings.tools.specs,
            system=settings.system,
            options=settings.options_for(new),
            thinking=settings.thinking,
            spent=self._spent,
        )
        event = await self._write(compaction)
        if event is not None:
            show(event)

    async def compact(self, route: Route, settings: RequestSettings) -> HistoryCompacted | None:
        """Compact as far as possible, because the user asked; returns what was done, None if nothing could be."""
        compaction = await self.history.compact_now(
            self._journal.talk,
            self._resolve(route.name),
            estimator=self._estimator,
            tools=settings.tools.specs,
            system=settings.system,
            options=settings.options_for(route),
            thinking=settings.thinking,
            spent=self._spent,
        )
        return await self._write(compaction)

    async def _write(self, compaction: Compaction | None) -> HistoryCompacted | None:
        """Record what is left out from now on; returns the event that says so, None if nothing is."""
        if compaction is None or not compaction.records:
            return None
        await self._journal.write(*compaction.records)
        return compaction.event
