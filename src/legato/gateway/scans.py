"""What is found by going through a list, kept for the next list, which mostly begins with the very same values.

A conversation comes whole with every request. Whatever is asked about all of it is asked about what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from operator import is_
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Scan(Generic[T, R]):
    """What was found up to each of the values that were gone through last."""

    def __init__(self, start: R) -> None:
        """`start` is what is found where there is nothing."""
        self._start = start
        self._values: list[T] = []
        self._found: list[R] = []

    def over(self, values: Sequence[T], step: Callable[[R, T], R]) -> list[R]:
        """What `step`, which is always the same, finds up to each of `values`, from what it found up to the one before.

        Values must not change.
        """
        same = count_same(self._values, values)
        del self._values[same:], self._found[same:]
        found = self._found[-1] if self._found else self._start
        for value in values[same:]:
            found = step(found, value)
            self._values.append(value)
            self._found.append(found)
        return self._found.copy()

    def through(self, values: Sequence[T], step: Callable[[R, T], R]) -> R:
        """What `step` finds up to the last of `values`."""
        return self.over(values, step)[-1] if values else self._start


def count_same(before: Sequence[object], now: Sequence[object]) -> int:
    """How many values both begin with that are the very same."""
    return sum(takewhile(bool, map(is_, before, now)))
