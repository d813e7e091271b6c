"""States of a fold over messages, kept at some of the places that it passed.

The messages of a conversation grow at the end and are now and then cut back. Whoever computes something over them keeps
a state every few messages: going back then costs at most those few, on top of what was cut.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")

EVERY = 64
"""messages from one state to the next"""


class Checkpoints(Generic[T]):
    """The states that were kept, oldest first; the first is that before any message."""

    def __init__(self, start: T) -> None:
        self._states: list[tuple[int, T]] = [(0, start)]

    @property
    def next(self) -> int:
        """Where the next state should be kept."""
        return self._states[-1][0] + EVERY

    def keep(self, count: int, state: T) -> None:
        """The fold has passed `count` messages, and `state` is how to come back here."""
        self._states.append((count, state))

    def back_to(self, count: int) -> tuple[int, T]:
        """The newest state that knows of no more than `count` messages, and of how many it does."""
        while self._states[-1][0] > count:
            self._states.pop()
        return self._states[-1]
