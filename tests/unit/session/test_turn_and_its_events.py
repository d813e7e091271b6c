"""A turn as the one who asked sees it."""

import anyio
import pytest

from legato.errors import Overloaded
from legato.model.records import TurnOutcome
from legato.session import Turn, TurnResult
from legato.session.events import Notice, TurnFinished
from legato.session.turn import MAX_EVENTS

pytestmark = pytest.mark.anyio

DONE = TurnResult("Hello", TurnOutcome.DONE)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def turn() -> Turn:
    return Turn(lambda: None)


async def test_events_come_in_order_and_end_with_the_turn() -> None:
    one, seen = turn(), list[str]()

    async def listen() -> None:
        async for event in one:
            assert isinstance(event, Notice)
            seen.append(event.text)

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        for number in range(5):
            one.show(Notice(text=str(number)))
            await anyio.lowlevel.checkpoint()
        one.end(DONE)
    assert seen == ["0", "1", "2", "3", "4"]
    assert await one == DONE


async def test_several_listeners_share_the_events_and_all_of_them_are_released_at_the_end() -> None:
    one, seen = turn(), list[str]()

    async def listen() -> None:
        async for event in one:
            assert isinstance(event, Notice)
            seen.append(event.text)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(listen)
            for number in range(6):
                await anyio.lowlevel.checkpoint()
                one.show(Notice(text=str(number)))
            await anyio.lowlevel.checkpoint()
            one.end(DONE)
    assert sorted(seen) == ["0", "1", "2", "3", "4", "5"]


async def test_events_can_be_read_after_the_end() -> None:
    one = turn()
    one.show(Notice(text="early"))
    one.end(DONE)
    assert [event async for event in one] == [Notice(text="early")]
    assert [event async for event in one] == []


async def test_what_nobody_takes_is_dropped_oldest_first_but_never_the_end() -> None:
    one = turn()
    for number in range(MAX_EVENTS + 3):
        one.show(Notice(text=str(number)))
    one.show(TurnFinished(turn=1, outcome=TurnOutcome.DONE))
    one.end(DONE)
    seen = [event async for event in one]
    assert one.dropped == 3
    assert seen[0] == Notice(text="3")
    assert isinstance(seen[-1], TurnFinished)


async def test_a_failed_turn_raises_its_error_each_time_it_is_awaited_and_can_be_waited_for_without() -> None:
    one = turn()
    error = Overloaded("too busy")
    one.end(error=error)
    one.end(DONE)  # the first end counts
    await one.ended()
    for _ in range(2):
        with pytest.raises(Overloaded) as caught:
            await one
        assert caught.value is error
    assert (one.is_done, one.error) == (True, error)


async def test_a_turn_that_is_over_is_not_cancelled() -> None:
    cancelled: list[str] = []
    one = Turn(lambda: cancelled.append("yes"))
    one.cancel()
    one.end(DONE)
    one.cancel()
    assert cancelled == ["yes"]
