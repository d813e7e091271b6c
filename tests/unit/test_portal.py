"""An event loop in a thread: what crosses it, what interrupts it, and how it ends."""

import contextvars
import gc
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError

import anyio
import pytest
from anyio.lowlevel import checkpoint

from interrupting import ctrl_c_raises, press_ctrl_c, told_by_child
from legato.portal import AHEAD, AT_FIRST, SHARED, Portal


@pytest.fixture
def portal() -> Iterator[Portal]:
    portal = Portal()
    yield portal
    portal.close()


async def forever() -> None:
    await anyio.sleep_forever()


async def thread() -> int:
    return threading.get_ident()


# --- calls --------------------------------------------------------------------------------------------------------------


def test_a_call_gives_what_the_function_returns_or_raises(portal: Portal) -> None:
    async def add(left: int, *, right: int) -> int:
        await checkpoint()
        return left + right

    async def fail() -> None:
        raise ValueError("no way")

    assert portal.call(add, 2, right=3) == 5
    with pytest.raises(ValueError, match="no way"):
        portal.call(fail)


def test_all_calls_run_in_one_loop_whichever_thread_they_come_from(portal: Portal) -> None:
    seen = [portal.call(thread)]
    other = threading.Thread(target=lambda: seen.append(portal.call(thread)))
    other.start()
    other.join()
    assert seen[0] == seen[1] != threading.get_ident()


def test_a_caller_whose_own_thread_runs_a_loop_is_served(portal: Portal) -> None:
    async def notebook_cell() -> int:
        return portal.call(thread)

    assert anyio.run(notebook_cell) == portal.call(thread)


def test_waiting_for_the_thread_one_runs_in_is_refused(portal: Portal) -> None:
    async def again() -> None:
        portal.call(forever)

    with pytest.raises(RuntimeError, match="waits for the thread that it runs in"):
        portal.call(again)


def test_context_variables_go_along(portal: Portal) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("mine")

    async def read() -> str:
        return variable.get()

    assert portal.call(read) == "mine"


def test_an_exit_that_a_task_asks_for_is_the_callers_and_not_the_loops(portal: Portal) -> None:
    async def leave() -> None:
        raise SystemExit(3)

    before = portal.call(thread)
    with pytest.raises(SystemExit):
        portal.call(leave)
    assert portal.call(thread) == before


def test_ctrl_c_cancels_the_task_and_waits_for_its_end(portal: Portal) -> None:
    told: list[str] = []

    async def work() -> None:
        try:
            press_ctrl_c()
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)
            told.append("tidied up")

    with ctrl_c_raises(), pytest.raises(KeyboardInterrupt):
        portal.call(work)
    assert told == ["tidied up"]


def test_a_second_ctrl_c_does_not_wait_for_the_end(portal: Portal) -> None:
    may_end = threading.Event()

    async def work() -> None:
        try:
            press_ctrl_c()
            await anyio.sleep_forever()
        finally:
            press_ctrl_c()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(may_end.wait)

    with ctrl_c_raises(), pytest.raises(KeyboardInterrupt):
        portal.call(work)
    may_end.set()


# --- what runs beside the caller ------------------------------------------------------------------------------------------


def test_a_task_in_the_background_can_be_cancelled_and_awaited(portal: Portal) -> None:
    running = portal.start(forever)
    assert not running.is_done
    running.stop()
    assert running.is_done
    with pytest.raises(CancelledError):
        running.result()


def test_closing_cancels_what_runs_and_the_next_call_gets_a_new_loop(portal: Portal) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.01)  # a cancelled task may still wait where it is shielded
            ended.append("shielded")

    running = portal.start(work)
    portal.call(checkpoint)
    portal.close()
    assert (running.is_done, ended) == (True, ["shielded"])
    running.stop()
    assert portal.call(checkpoint) is None


# --- iterators ------------------------------------------------------------------------------------------------------------


class Source:
    """Counts what was made of it and tells when it was closed."""

    def __init__(self, count: int) -> None:
        self.count, self.made, self.closed = count, 0, threading.Event()

    async def items(self) -> AsyncIterator[int]:
        try:
            async with anyio.create_task_group() as group:  # must be left by the task that entered it
                group.start_soon(anyio.sleep, 0)
                for number in range(self.count):
                    self.made += 1
                    yield number
        finally:
            self.closed.set()


def test_an_iterator_gives_every_item_in_order(portal: Portal) -> None:
    source = Source(100)
    assert list(portal.iterate(source.items)) == list(range(100))
    assert source.closed.is_set()


def test_a_source_waits_until_its_items_are_taken(portal: Portal) -> None:
    source = Source(100)
    items = portal.iterate(source.items, ahead=4)
    assert (next(items), next(items)) == (0, 1)
    for _ in range(50):
        portal.call(checkpoint)
    assert source.made <= 2 + 4
    assert list(items) == list(range(2, 100))


def test_the_first_item_is_handed_over_before_the_source_works_on(portal: Portal) -> None:
    source = Source(100)
    items = portal.iterate(source.items)
    assert next(items) == 0
    for _ in range(50):
        portal.call(checkpoint)
    assert source.made == AT_FIRST < AHEAD
    assert list(items) == list(range(1, 100))


def test_leaving_an_iterator_closes_its_source(portal: Portal) -> None:
    source = Source(100)
    for number in portal.iterate(source.items, ahead=2):
        if number == 3:
            break
    gc.collect()
    assert source.closed.is_set()


def test_an_iterator_raises_what_its_source_raises_behind_what_it_gave(portal: Portal) -> None:
    async def failing() -> AsyncIterator[int]:
        yield 1
        raise ValueError("no more")

    def never_made() -> AsyncIterator[int]:
        raise ValueError("no source")

    items = portal.iterate(failing)
    assert next(items) == 1
    with pytest.raises(ValueError, match="no more"):
        next(items)
    with pytest.raises(ValueError, match="no source"):
        next(portal.iterate(never_made))


def test_ctrl_c_between_two_items_closes_the_source(portal: Portal) -> None:
    closed = threading.Event()

    async def slow() -> AsyncIterator[int]:
        try:
            yield 1
            press_ctrl_c()
            await anyio.sleep_forever()
        finally:
            closed.set()

    items = portal.iterate(slow, ahead=1)
    with ctrl_c_raises(), pytest.raises(KeyboardInterrupt):
        list(items)
    assert closed.is_set()


# --- processes ------------------------------------------------------------------------------------------------------------


async def process() -> int:
    return os.getpid()


def test_a_forked_child_gets_a_loop_of_its_own_and_the_parents_goes_on(portal: Portal) -> None:
    assert portal.call(process) == os.getpid()
    child, told = told_by_child(lambda: portal.call(process))
    assert told == str(child)
    assert portal.call(process) == os.getpid()


def test_what_the_parent_began_is_refused_in_a_child_and_goes_on_in_the_parent(portal: Portal) -> None:
    items = portal.iterate(Source(3).items)
    assert next(items) == 0
    running = portal.start(forever)
    assert "belongs to the process that was forked" in told_by_child(lambda: next(items))[1]
    assert "belongs to the process that was forked" in told_by_child(running.result)[1]
    assert told_by_child(running.stop)[1] == "None"
    assert not running.is_done
    assert list(items) == [1, 2]


AT_EXIT = """
import anyio
from legato.portal import SHARED

async def work():
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.01)
        print("closed in order")

SHARED.start(work)
items = SHARED.iterate(lambda: numbers())
async def numbers():
    try:
        for number in range(100):
            yield number
    finally:
        print("source closed")
print(next(items))
"""


def test_a_process_that_ends_lets_its_tasks_end_and_says_nothing_of_it() -> None:
    script = [sys.executable, "-W", "default", "-c", AT_EXIT]
    ended = subprocess.run(script, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stderr == ""
    assert sorted(ended.stdout.splitlines()) == ["0", "closed in order", "source closed"]


def test_the_process_has_one_portal_that_starts_by_itself() -> None:
    assert SHARED.call(thread) == SHARED.call(thread)
