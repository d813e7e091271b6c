"""One turn, as its caller sees it: iterate its events, await its result, or cancel it.

The turn runs in the session's task group and does not wait for its consumer: events go through a bounded queue, and the
oldest are dropped if they are not taken in time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import anyio
from msgspec import Struct

from legato.errors import LegatoError
from legato.model import Ending, Entry, Usage
from legato.model.records import TurnOutcome
from legato.session.event_log import log_event
from legato.session.events import Event, TurnFinished

MAX_EVENTS = 10_000
"""events that wait for whoever watches a turn: our choice, then the oldest are dropped and counted"""


class TurnResult(Struct, frozen=True):
    """How a turn ended: the last answer's text, what it used, and on which route it ended.

    Of a cancelled turn, the text is what had been visible of the last answer. An answer that its provider paused, and
    that went on when it was asked to, is one answer.
    """

    text: str
    outcome: TurnOutcome
    route: str = ""
    steps: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    """dollars; None where the price of something that was used is not known"""
    answer: Entry | None = None
    detail: str = ""

    @property
    def ending(self) -> Ending | None:
        """How the last answer ended, as its provider said; None if there is none, or nothing was said about it."""
        return None if self.answer is None else self.answer.ending


class Turn:
    """A turn under way. Made by `Session.send`. Each event is handed out once, to the first iterator that takes it."""

    def __init__(self, cancel: Callable[[], None], *, session: str = "") -> None:
        """`session` is the id under which the turn is logged."""
        self._cancel = cancel
        self._session = session
        self._events: deque[Event] = deque()
        self._news = anyio.Event()
        self._done = anyio.Event()
        self._result: TurnResult | None = None
        self._error: LegatoError | None = None
        self.dropped = 0
        """events that were dropped because the queue was full"""

    @property
    def is_done(self) -> bool:
        """Whether the turn is over."""
        return self._done.is_set()

    @property
    def error(self) -> LegatoError | None:
        """What made the turn fail, if it failed."""
        return self._error

    def cancel(self) -> None:
        """End the turn: what was already produced stays; running tools get a grace period, a second call ends it."""
        if not self.is_done:
            self._cancel()

    async def ended(self) -> None:
        """Wait for the end, however it comes."""
        await self._done.wait()

    async def result(self) -> TurnResult:
        """How the turn ended; raises what made it fail."""
        await self.ended()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def __await__(self) -> Generator[Any, Any, TurnResult]:
        return self.result().__await__()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self.is_done:
                return
            if self._news.is_set():  # several may listen: those that wait already are woken by the same event
                self._news = anyio.Event()
            await self._news.wait()

    # --- for the one who runs it --------------------------------------------------------------------------------------

    def show(self, event: Event) -> None:
        """Hand out an event, and log it if it is about how the turn goes rather than what is said in it."""
        log_event(event, session=self._session)
        if len(self._events) >= MAX_EVENTS and not isinstance(event, TurnFinished):
            self._events.popleft()
            self.dropped += 1
        self._events.append(event)
        self._news.set()

    def end(self, result: TurnResult | None = None, error: LegatoError | None = None) -> None:
        """The turn is over; the first call counts."""
        if not self.is_done:
            self._result, self._error = result, error
            self._done.set()
            self._news.set()
