"""Room for the next request: when a session asks its tool history, and what it writes down of the answer.

What to leave out is decided by `tool_history`; here it becomes records, and an event for whoever watches the turn. What
a model used that wrote a summary is counted as the session's own spending.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from legato.errors import ContextTooLong
from legato.model import Target
from legato.session.compaction.tool_history import Compaction
from legato.session.events import HistoryCompacted

if TYPE_CHECKING:
    from legato.routing import Route
    from legato.session.session import Session
    from legato.session.turn import Turn


def too_long(target: Target, excess: int) -> ContextTooLong:
    """What to say of a conversation that cannot be made to fit."""
    return ContextTooLong(
        f"the conversation is about {excess:,} tokens longer than {target.route} takes, and nothing more can be left "
        "out; undo the last message, or switch to a model with a larger window",
        route=target.route,
        layer="session",
    )


class Room:
    """Makes room in the conversation of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._leaving: Target | None = None
        """who answers while a switch waits for the end of the turn"""

    async def for_step(self, route: Route, turn: Turn, *, overflowed: bool = False) -> bool:
        """Compact the conversation for `route` if it must be; whether anything was done.

        `overflowed`: the provider found the last request too long. Raises `ContextTooLong` if the conversation cannot
        be made to fit: nothing is sent that is known to be too long.
        """
        session = self._session
        target = session.target(route)
        if self._leaving is not None and self._leaving.route != target.route:
            await self.for_switch(self._leaving, route, turn)
        compaction = await session.history.make_room(
            session.talk,
            target,
            estimator=session.estimator,
            overflowed=overflowed,
            tools=session.tools.specs,
            system=session.system,
            options=session.options_for(route),
            thinking=session.thinking,
            spent=session.spending.add,
        )
        is_shorter = await self._write(compaction)
        if compaction is not None and is_shorter:
            turn.show(compaction.event)
        if compaction is not None and compaction.excess:
            raise too_long(target, compaction.excess)
        return is_shorter

    def switch_deferred(self, old: Target) -> None:
        """A switch was asked for while `old` answers; it is asked for the summary that a smaller window will need."""
        self._leaving = old

    async def for_switch(self, old: Target, new: Route, turn: Turn | None = None) -> None:
        """Before a switch to a smaller window: compact for it, while the old model still answers."""
        session, self._leaving = self._session, None
        compaction = await session.history.make_room_for_switch(
            session.talk,
            old,
            session.target(new),
            estimator=session.estimator,
            tools=session.tools.specs,
            system=session.system,
            options=session.options_for(new),
            thinking=session.thinking,
            spent=session.spending.add,
        )
        if await self._write(compaction) and compaction is not None and turn is not None:
            turn.show(compaction.event)

    async def now(self, target: Target) -> HistoryCompacted | None:
        """Because somebody asked for it: what was done, or None if nothing could be."""
        session = self._session
        compaction = await session.history.compact_now(
            session.talk,
            target,
            estimator=session.estimator,
            tools=session.tools.specs,
            system=session.system,
            thinking=session.thinking,
            spent=session.spending.add,
        )
        return compaction.event if compaction is not None and await self._write(compaction) else None

    async def _write(self, compaction: Compaction | None) -> bool:
        if compaction is None or not compaction.records:
            return False
        await self._session.journal.write(*compaction.records)
        return True
