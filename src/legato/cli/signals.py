"""Signals as events of the program: Ctrl-C cancels, SIGTERM and a closed terminal end it in order."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

ENDING = {signal.SIGTERM: 143, signal.SIGHUP: 129}
"""signals that end the program, and its exit code then"""


@asynccontextmanager
async def handling_signals(react: Callable[[signal.Signals], None]) -> AsyncGenerator[None]:
    """Call `react` on the event loop for each SIGINT, SIGTERM and SIGHUP that arrives meanwhile."""

    async def watch(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, *ENDING) as received:
            task_status.started()
            async for number in received:
                react(number)

    async with anyio.create_task_group() as group:
        await group.start(watch)
        yield
        group.cancel_scope.cancel()
