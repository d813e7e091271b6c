from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.transport.alarm import Alarm

T = TypeVar("T")

Wait: TypeAlias = tuple[int, float]
"""how long something takes, and how long it is waited for"""


class LeapingLoop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still while anything runs, and leaps to the next timer where nothing does."""

    def __init__(self) -> None:
        self.at = 0.0
        self.timers = 0
        """how many were set"""
        super().__init__(_Leaping(self))

    def time(self) -> float:
        return self.at

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, **more: Any) -> asyncio.TimerHandle:
        self.timers += 1
        return super().call_at(when, callback, *args, **more)


class _Leaping(selectors.SelectSelector):
    def __init__(self, loop: LeapingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nobody will ever wake this loop"
        self._loop.at += max(timeout, 0.0)
        return super().select(0)


def leaping(run: Callable[[LeapingLoop], Coroutine[Any, Any, T]]) -> T:
    """What `run` gives in a loop that loses no time."""
    loop = LeapingLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(run(loop))


# --- the property that makes it a fast path ---------------------------------------------------------------------------

waits = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6).map(lambda n: n + 0.5) | st.just(math.inf)), max_size=8)


@given(waits, st.integers(0, 20).map(lambda n: n + 0.25) | st.just(math.inf))
def test_waits_end_as_they_would_in_cancel_scopes_also_where_all_of_them_are_cancelled(
    all_waits: list[Wait], end: float
):
    async def by_alarm(wait: Wait, alarm: Alarm) -> bool:
        done = False
        with alarm.at(alarm.now() + wait[1]):
            await asyncio.sleep(wait[0])
            done = True
        assert alarm.has_rung is not done
        return done

    async def by_scope(wait: Wait, _: Alarm) -> bool:
        with anyio.CancelScope(deadline=anyio.current_time() + wait[1]) as scope:
            await asyncio.sleep(wait[0])
        return not scope.cancelled_caught

    def trace(one: Callable[[Wait, Alarm], Awaitable[bool]]) -> list[object]:
        async def run(loop: LeapingLoop) -> list[object]:
            told: list[object] = []
            alarm = Alarm()
            with anyio.CancelScope(deadline=end) as scope:
                for wait in all_waits:
                    done = await one(wait, alarm)
                    told += [done, loop.time()]
            alarm.close()
            return [*told, scope.cancelled_caught, loop.time()]

        return leaping(run)

    assert trace(by_alarm) == trace(by_scope)


# --- what it is for ---------------------------------------------------------------------------------------------------


def test_any_number_of_waits_that_end_in_time_set_one_timer():
    async def run(loop: LeapingLoop) -> int:
        alarm = Alarm()
        for _ in range(100):
            with alarm.at(alarm.now() + 60):
                await asyncio.sleep(0)
        alarm.close()
        return loop.timers

    assert leaping(run) == 1


def test_a_wait_that_is_due_earlier_than_the_one_before_ends_earlier():
    async def run(loop: LeapingLoop) -> float:
        alarm = Alarm()
        with alarm.at(60):
            await asyncio.sleep(0)
        with alarm.at(5):
            await asyncio.sleep(30)
        assert alarm.has_rung
        return loop.time()

    assert leaping(run) == 5


def test_nobody_is_woken_who_does_not_wait():
    async def run(_: LeapingLoop) -> None:
        alarm = Alarm()
        with alarm.at(5):
            await asyncio.sleep(0)
        await asyncio.sleep(30)
        assert not alarm.has_rung

    leaping(run)


def test_another_task_may_ring_and_only_whoever_waits_hears_it():
    async def run(loop: LeapingLoop) -> float:
        alarm = Alarm()
        alarm.ring()
        asyncio.get_running_loop().call_later(3, alarm.ring)
        with alarm.at(math.inf):
            await asyncio.sleep(30)
        assert alarm.has_rung
        return loop.time()

    assert leaping(run) == 3


def test_a_cancellation_in_the_very_moment_of_the_ringing_is_not_lost():
    async def run(_: LeapingLoop) -> None:
        async def wait() -> None:
            alarm = Alarm()
            with alarm.at(5):
                await asyncio.sleep(30)

        task = asyncio.create_task(wait())
        asyncio.get_running_loop().call_at(5, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task

    leaping(run)


def test_what_fails_while_it_is_waited_for_has_failed():
    async def run(_: LeapingLoop) -> None:
        alarm = Alarm()
        with pytest.raises(KeyError), alarm.at(5):
            raise KeyError("x")
        assert not alarm.has_rung

    leaping(run)
