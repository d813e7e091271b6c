"""What cannot be written yet waits, and comes out in an order in which it can be."""

from __future__ import annotations

from legato.model import ToolCall
from legato.wire.deltas import BlockDone, CallDelta, Delta, TextDelta
from legato.wire.reply_queue import DeltaQueue


def _piece(call: int) -> CallDelta:
    return CallDelta(call, f"tool_{call}", "{}")


def _done(call: int) -> BlockDone:
    return BlockDone(ToolCall(f"tool_{call}"), call)


def _held(queue: DeltaQueue, *deltas: Delta) -> list[bool]:
    return [queue.holds_back(delta) for delta in deltas]


def test_while_a_call_is_open_everything_else_waits_and_keeps_its_order() -> None:
    queue = DeltaQueue(unsplit_calls=False)
    queue.begin(0)
    queue.open(0)
    text, later = TextDelta("between"), TextDelta("at the end")

    assert _held(queue, _piece(0), text, _piece(1), later, _piece(1)) == [False, True, True, True, True]
    assert list(queue.released()) == []

    queue.close(0)

    assert list(queue.released()) == [text, _piece(1), _piece(1), later]


def test_what_is_released_may_open_a_call_that_the_rest_waits_for() -> None:
    queue = DeltaQueue(unsplit_calls=False)
    queue.begin(0)
    queue.open(0)
    _held(queue, _piece(1), _piece(2))
    queue.close(0)

    released: list[Delta] = []
    for delta in queue.released():
        released.append(delta)
        queue.begin(1)
        queue.open(1)

    assert released == [_piece(1)]
    queue.close(1)
    assert list(queue.released()) == [_piece(2)]


def test_calls_that_come_whole_are_written_in_the_order_in_which_they_began() -> None:
    queue = DeltaQueue(unsplit_calls=True)
    queue.begin(0)
    queue.begin(1)

    assert _held(queue, _done(1), TextDelta("meanwhile"), _done(0)) == [True, False, False]
    assert list(queue.released()) == []

    queue.close(0)

    assert queue.first_unfinished == 1
    assert list(queue.released()) == [_done(1)]
    queue.close(1)
    assert queue.first_unfinished is None
