"""Values by key that can go back to what they were.

A reader of a growing conversation looks things up that were said long ago, such as the tool behind the id of a call. A
copy of them for each place that it may have to go back to would soon be larger than the conversation.
"""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class UndoableMap(Generic[K, V]):
    """`values`, and what each change took away from them."""

    def __init__(self) -> None:
        self.values: dict[K, V] = {}
        """to read; a change that is not made by `put` or `drop` cannot be taken back"""
        self._taken: list[tuple[K, V | None]] | None = None
        """what each change took away, since there is a state to go back to: most readers never ask for one"""

    def put(self, key: K, value: V) -> None:
        """`key` has `value` from now on, which is not None."""
        if self._taken is not None:
            self._taken.append((key, self.values.get(key)))
        self.values[key] = value

    def drop(self, key: K) -> None:
        """`key` has no value any more, if it had one."""
        if key in self.values:
            value = self.values.pop(key)
            if self._taken is not None:
                self._taken.append((key, value))

    def save(self) -> int:
        """How far it has come, for `restore`."""
        if self._taken is None:
            self._taken = []
        return len(self._taken)

    def restore(self, saved: int) -> None:
        """Take back every change since; what was saved after that is void."""
        taken = self._taken or []
        while len(taken) > saved:
            key, before = taken.pop()
            if before is None:
                del self.values[key]
            else:
                self.values[key] = before
