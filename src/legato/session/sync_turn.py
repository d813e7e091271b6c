"""One turn of a `SyncSession`, as the thread that waits sees it.

The turn runs in the event loop and does not wait for this thread: what it shows, and what it asks, arrives in a queue.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import TypeVar

import anyio

from legato.errors import CallerError
from legato.portal import SHARED
from legato.session.desk import Approve, AskedQuestion, Desk, ruling_of
from legato.session.events import Event
from legato.session.turn import Turn, TurnResult

T = TypeVar("T")


class SyncTurn:
    """A turn under way. Made by `SyncSession.stream`: iterate its events, or wait for its result.

    Leaving the loop before the end cancels the turn, as Ctrl-C does. A turn that fails raises at the end of its events.
    """

    def __init__(self, turn: Turn, desk: Desk, approve: Approve | None) -> None:
        self._process = os.getpid()
        self._turn = turn
        self._desk = desk
        self._approve = approve

    @property
    def is_done(self) -> bool:
        """Whether the turn is over."""
        return self._turn.is_done

    def cancel(self) -> None:
        """End the turn: what was already produced stays; running tools get a grace period, a second call ends it."""
        require_process(self._process)
        SHARED.call(do_in_loop, self._turn.cancel)

    def result(self) -> TurnResult:
        """Wait for the end, without a look at the events that are left; raises what made the turn fail."""
        for _ in self._arrive(shows_events=False):
            pass
        return SHARED.call(self._turn.result)

    def __iter__(self) -> Iterator[Event]:
        yield from self._arrive(shows_events=True)
        SHARED.call(self._turn.result)

    def _arrive(self, *, shows_events: bool) -> Iterator[Event]:
        """The events, if they are to be shown; the questions that come between them are answered here."""
        require_process(self._process)
        arrived: SimpleQueue[Event | AskedQuestion | None] = SimpleQueue()
        with SHARED.running(_pass_on, self._turn, self._desk, arrived.put, shows_events) as running:
            running.when_done(lambda: arrived.put(None))
            while (item := arrived.get()) is not None:
                if not isinstance(item, AskedQuestion):
                    yield item
                elif item.is_open and self._approve is not None:
                    SHARED.call(item.answer, ruling_of(item.question, self._approve))
            running.result()


def require_process(process: int) -> None:
    """Refuse to wait in a forked child for what runs in its parent."""
    if process != os.getpid():
        raise CallerError("this session belongs to the process that was forked; open one in the child")


# --- in the loop ------------------------------------------------------------------------------------------------------


async def _pass_on(turn: Turn, desk: Desk, tell: Callable[[Event | AskedQuestion], object], shows_events: bool) -> None:
    """Tell the thread that waits of events and questions; if it goes away, the turn ends."""
    desk.attend(tell)
    try:
        async for event in turn:
            if shows_events:
                tell(event)
    finally:
        desk.leave()
        with anyio.CancelScope(shield=True):
            await end_turn(turn)


async def end_turn(turn: Turn) -> None:
    """Cancel `turn`, and wait for its end."""
    turn.cancel()  # has no effect on one that is over
    await turn.ended()


async def do_in_loop(function: Callable[[], T]) -> T:
    """Call `function`, where the session lives."""
    return function()
