"""The garbage collector of a process that does nothing but serve.

A full collection looks at every object of the process, while all streams wait: hundreds of milliseconds in a gateway
that knows many conversations. Nearly all that a request leaves behind is freed by counting references, and what was
loaded at the start never becomes garbage. So while answers are on their way only what is new is looked at: often, so
that it takes little time, and in moments when nobody waits for the first words of an answer. All of it is looked at
when nothing is on its way. Only the program does this: a library leaves the collector of its host alone.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol

import anyio

BETWEEN, RARELY = 0.05, 5.0
"""seconds between two looks while somebody is served, and while nobody is: our choice; what is new in so short a time
is looked through in less than a millisecond"""

SOON, LATEST = 0.005, 0.1
"""seconds until another try where somebody waits for first words, and after which there is a look all the same: our
choice; most first words are out within less, and where providers are slow somebody always waits"""

DUE, OVERDUE = 500_000, 5_000_000
"""new objects after which all of the heap is looked at in a quiet moment, or in any: our choice; most are long gone"""

_YOUNG, _NEVER = 20_000, 1_000_000_000
"""should so many be new before anybody looked, Python does: about twenty milliseconds"""


class Serving(Protocol):
    """What the process does, as far as it matters when to collect."""

    @property
    def is_busy(self) -> bool:
        """Whether an answer is on its way."""
        ...

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for the first words of one."""
        ...


@asynccontextmanager
async def rare_collections(serving: Serving) -> AsyncGenerator[None]:
    """Collect rarely while this lasts, and never what is there when it begins."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _NEVER, _NEVER)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_collect, serving)
            yield
            group.cancel_scope.cancel()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def _collect(serving: Serving) -> None:
    """Look at what is new in moments when nobody waits for first words; at everything when nothing is on its way."""
    seen, looked = 0, anyio.current_time()
    while True:
        if serving.is_awaited and anyio.current_time() - looked < LATEST:
            await anyio.sleep(SOON)
            continue
        busy = serving.is_busy
        # gc counts what was made less what was freed, so this is how much the heap has grown, and not how much there is
        # to look at: a look at little costs next to nothing.
        seen += gc.get_count()[0]
        if seen >= (OVERDUE if busy else DUE):
            gc.collect()
            seen = 0
        else:
            gc.collect(0)
        looked = anyio.current_time()
        await anyio.sleep(BETWEEN if busy else RARELY)
