"""Run a blocking function beside the event loop, so that it can be given up.

A thread cannot be ended from outside. Therefore each function gets a daemon thread of its own: one that never returns
holds no pool's place and does not keep the program from leaving. The first cancellation is only passed on, through
`context.cancelled`, so that a function which looks there can end in an orderly way and a result that is nearly there is
not lost; the second one stops the waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from legato.tools.registry import ToolContext

T = TypeVar("T")


class _Result(Generic[T]):
    """What a function came to: its value, or what it raised. A future's own exception would be logged if unread."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.value: T | None = None
        self.error: BaseException | None = None
        try:
            self.value = function()
        except BaseException as error:  # noqa: BLE001  # it crosses a thread here and is raised again on the other side
            self.error = error

    def get(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]  # without an error there is a value


async def in_thread(function: Callable[[], T], context: ToolContext) -> T:
    """What `function()` returns or raises, called in a thread of its own with the caller's context variables."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[_Result[T]] = loop.create_future()

    def arrive(result: _Result[T]) -> None:
        if not arrived.done():
            arrived.set_result(result)

    def work() -> None:
        result = _Result(function)
        with contextlib.suppress(RuntimeError):  # the loop is closed: no one waits any more
            loop.call_soon_threadsafe(arrive, result)

    variables = contextvars.copy_context()
    threading.Thread(target=variables.run, args=(work,), name=f"tool {context.name}", daemon=True).start()
    try:
        return (await asyncio.shield(arrived)).get()
    except asyncio.CancelledError:
        if arrived.done():
            return arrived.result().get()  # it came first: the real outcome wins
        context.cancelled.set()
        return (await arrived).get()
