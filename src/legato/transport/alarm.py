"""One alarm for all the waits of an answer, which mostly never rings.

In:  when the next piece has to be there, again and again.
Out: a wait that ends then.

An answer is waited for piece by piece, and each wait has its limit. A cancel scope of anyio for each of them costs more
than reading the piece. Here a wait writes down when it is due, and a single timer, set anew only where it would ring
too late or did too early, looks at that.

    with alarm.at(due):
        piece = await anext(pieces)
    if alarm.has_rung: ...

It ends a wait as `asyncio.timeout` does: the task is cancelled, and what cancelled it is taken back where the wait
ends. So a cancellation from outside goes on, also if it comes in the same moment.
"""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Any, Self


class Alarm:
    """Belongs to the event loop that it was made in, and to one wait at a time; `close` it when there are no more."""

    __slots__ = ("_before", "_due", "_loop", "_task", "_timer", "has_rung")

    def __init__(self) -> None:
        self.has_rung = False
        """whether it ended the last wait"""
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due = math.inf
        self._task: asyncio.Task[Any] | None = None
        """who waits"""
        self._before = 0
        """how often that was cancelled before it waited"""

    def now(self) -> float:
        """The time, by the clock of the loop."""
        return self._loop.time()

    def at(self, due: float) -> Self:
        """For `with`: what is awaited there is cancelled at that time; `inf` waits for ever."""
        self._due = due
        return self

    def ring(self) -> None:
        """End the wait now, if somebody waits and it has not ended yet."""
        if self._task is not None and not self.has_rung:
            self.has_rung = True
            self._task.cancel()

    def close(self) -> None:
        """Give the timer back; the alarm may be used again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def __enter__(self) -> Self:
        self._task = task = asyncio.current_task(self._loop)
        if task is None:
            raise RuntimeError("nobody but a task can wait")
        self._before = task.cancelling()
        self.has_rung = False
        self._set()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        task, self._task = self._task, None
        if not self.has_rung or task is None:
            return False
        is_alone = task.uncancel() <= self._before
        return is_alone and kind is not None and issubclass(kind, asyncio.CancelledError)

    def _set(self) -> None:
        """Let the timer ring no later than is due."""
        if self._due == math.inf or (self._timer is not None and self._timer.when() <= self._due):
            return
        self.close()
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._task is None:
            return
        if self._loop.time() >= self._due:
            self.ring()
        else:
            self._set()
