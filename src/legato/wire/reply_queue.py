"""Keep back the deltas that cannot be written yet.

In:  deltas, in the order in which they arrive, and which calls have begun, are open and are closed.
Out: the same deltas, in an order in which they can be written.

Several calls may arrive at once, and not every protocol can show that. Where blocks may not overlap, everything else
waits for the open call to be done. Where calls come whole, they are written in the order in which they began, so one
that is done early waits for those before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from legato.wire.deltas import BlockDone, CallDelta, Delta


class DeltaQueue:
    """What waits for a call to be done."""

    def __init__(self, *, unsplit_calls: bool) -> None:
        self._unsplit_calls = unsplit_calls
        self._unfinished: dict[int, None] = {}
        """the calls that were not closed, in the order in which they began"""
        self._open: set[int] = set()
        self._waiting: dict[int, list[Delta]] = {}
        """what waits, by the call that it is about; texts between calls have negative numbers"""
        self._texts = 0
        """how many texts between calls had to wait"""

    def begin(self, call: int) -> None:
        """A call is known of."""
        self._unfinished[call] = None

    def open(self, call: int) -> None:
        """A call is being written."""
        self._open.add(call)

    def close(self, call: int) -> None:
        """A call is written."""
        self._open.discard(call)
        self._unfinished.pop(call, None)

    @property
    def first_unfinished(self) -> int | None:
        """The first call that was not closed."""
        return next(iter(self._unfinished), None)

    def holds_back(self, delta: Delta) -> bool:
        """Whether `delta` has to wait; it is kept then."""
        call = _call_of(delta)
        if not self._must_wait(delta, call):
            return False
        if call < 0:  # a text goes behind everything that waits already
            if next(reversed(self._waiting), 0) >= 0:
                self._texts += 1
            call = -self._texts
        self._waiting.setdefault(call, []).append(delta)
        return True

    def released(self) -> Iterator[Delta]:
        """What needs to wait no longer. Writing it may open or close calls, which decides what comes next."""
        while self._waiting and not self._open:
            first = next(iter(self._unfinished if self._unsplit_calls else self._waiting), -1)
            if first not in self._waiting:
                break
            yield from self._waiting.pop(first)

    def _must_wait(self, delta: Delta, call: int) -> bool:
        if self._unsplit_calls:  # they keep their order
            return isinstance(delta, BlockDone) and next(iter(self._unfinished), call) < call
        return any(other != call for other in self._open)


def _call_of(delta: Delta) -> int:
    """The number of the call that `delta` is about; -1 if it is about none."""
    return delta.index if type(delta) is CallDelta else getattr(delta, "call", -1)
