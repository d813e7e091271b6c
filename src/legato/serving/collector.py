"""The garbage collector of a process that does nothing but serve.

A full collection looks at every object of the process, while all streams wait: hundreds of milliseconds in a gateway
that knows many conversations. Nearly all that a request leaves behind is freed by counting references, and what was
loaded at the start never becomes garbage. So while answers are on their way only what is new is looked at: often, so
that it takes little time, and not in the middle of a request. All of it is looked at when nobody waits.
Only the program does this: a library leaves the collector of its host alone.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

BETWEEN, RARELY = 0.05, 5.0
"""seconds between two looks while somebody is served, and while nobody is: our choice; what is new in so short a time
is looked through in less than a millisecond"""

FEW = 200
"""objects that are not worth a look: our choice"""

DUE, OVERDUE = 500_000, 5_000_000
"""new objects after which all of the heap is looked at in a quiet moment, or in any: our choice; most are long gone"""

_YOUNG, _NEVER = 20_000, 1_000_000_000
"""should so many be new before anybody looked, Python does: about twenty milliseconds"""


@asynccontextmanager
async def rare_collections(is_busy: Callable[[], bool]) -> AsyncGenerator[None]:
    """Collect rarely while this lasts, and never what is there when it begins. `is_busy` says if somebody is served."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _NEVER, _NEVER)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_collect, is_busy)
            yield
            group.cancel_scope.cancel()
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def _collect(is_busy: Callable[[], bool]) -> None:
    """Look at what is new between answers and not while one is made; at everything when nobody waits."""
    seen = 0
    while True:
        busy = is_busy()
        new = gc.get_count()[0]
        if seen + new >= (OVERDUE if busy else DUE):
            gc.collect()
            seen = 0
        elif new >= FEW:
            gc.collect(0)
            seen += new
        await anyio.sleep(BETWEEN if busy else RARELY)
