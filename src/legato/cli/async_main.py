"""Run the asynchronous part of a command, and let its errors out as they are.

A task group wraps whatever leaves it; a person, and the table of exit codes, want the error itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar, cast

import anyio

T = TypeVar("T")


def run_async(main: Callable[[], Awaitable[T]]) -> T:
    """Run `main` to its end; raises what it raised."""
    try:
        return anyio.run(main)
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error that is more than a consequence of being cancelled."""
    errors = [error for error in _leaves(group) if not isinstance(error, GeneratorExit)]
    return errors[0] if errors else group


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error
