"""An event loop in a thread of its own, for callers that are not asynchronous.

In:  a coroutine function, or one that makes an asynchronous iterator, from any thread but the loop's own.
Out: what it returns or raises; an iterator over what it yields.

One loop serves the whole process, because connections belong to the loop that made them: with a loop for each call,
every request would have to connect anew. It does not matter whether the caller's thread runs a loop itself, as that of
a notebook does. The thread starts with the first call, is a new one in a forked child, and ends with the process.

Ctrl-C reaches the caller, who waits: the task is cancelled, has its time to end, and KeyboardInterrupt goes on. A
second one does not wait for that end.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar
from weakref import WeakSet

import anyio

T = TypeVar("T")
P = ParamSpec("P")

AHEAD = 16
"""how many items an iterator may have ready that no one has taken yet: our choice, a burst of tokens"""

AT_FIRST = 3
"""how many of them before the first is taken, which is handed over before more work is done: the head of a response,
its first piece, and what may be all of the rest"""

GRACE = 5.0
"""seconds that tasks have for their end when the process exits; then the thread is left behind"""


class Portal:
    """A loop in a thread, started when it is first needed; `SHARED` is the one that everyone uses."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may call while the code that it interrupts holds it
        self._served: _Served | None = None
        _PORTALS.add(self)

    def call(self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in the loop and wait for it; what interrupts the waiting cancels it."""
        with self.running(function, *args, **kwargs) as running:
            return running.result()

    @contextmanager
    def running(
        self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Generator[Running[T], None, None]:
        """Run `function` in the loop for as long as the caller is in this context; then it is cancelled."""
        running: Running[T] = Running(self._serving())
        try:
            running.begin(function, *args, **kwargs)
            yield running
        finally:
            running.stop()  # has no effect on what has ended by itself

    def start(self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> Running[T]:
        """Run `function` in the loop without waiting for it."""
        running: Running[T] = Running(self._serving())
        running.begin(function, *args, **kwargs)
        return running

    def iterate(self, source: Callable[[], AsyncIterable[T]], *, ahead: int = AHEAD) -> Iterator[T]:
        """The items of what `source` makes, from the first `next` on; it waits where `ahead` of them were not taken.

        One task makes, reads and closes it, as its task groups and timeouts need. Leaving the iterator before its end
        closes the source.
        """
        passage: _Passage[T] = _Passage(ahead)
        with self.running(passage.fill, source) as running:
            running.when_done(passage.end)
            while (got := passage.take()) is not None:
                yield got[0]
                passage.taken(running)
            running.result()

    def close(self) -> None:
        """Cancel all that runs, and end the thread; what is called later gets a new one."""
        with self._lock:
            served, self._served = self._served, None
        if served is not None:
            served.close()

    def forget(self) -> None:
        """In a forked child: the thread exists in the parent alone."""
        self._lock = threading.RLock()  # another thread may have held the old one at the moment of the fork
        if self._served is not None:
            _LEFT_BEHIND.append(self._served)
            self._served = None

    def _serving(self) -> _Served:
        with self._lock:
            if self._served is None:
                self._served = _Served()
            if self._served.is_own_thread:
                raise RuntimeError("this waits for the thread that it runs in; await the asynchronous form instead")
            return self._served


class _Passage(Generic[T]):
    """Items on their way from the loop, where one task makes them, to the thread that takes them.

    Neither side wakes the other for nothing: the task goes on until there is no room, and is told to go on when all is
    taken and more is asked for.
    """

    def __init__(self, ahead: int) -> None:
        self._ahead = ahead
        self._arrived: SimpleQueue[tuple[T] | None] = SimpleQueue()
        self._made = self._taken = 0
        self._is_full = False
        self._room = asyncio.Event()

    # --- in the loop --------------------------------------------------------------------------------------------------

    async def fill(self, source: Callable[[], AsyncIterable[T]]) -> None:
        """Make the items, as far ahead as there is room."""
        async with _closing(source()) as items:
            async for item in items:
                self._made += 1
                self._arrived.put((item,))
                if self._made - self._taken >= (self._ahead if self._taken else min(AT_FIRST, self._ahead)):
                    self._room.clear()
                    self._is_full = True  # from here on the taker tells; what it took before that is looked at again
                    while self._made > self._taken:
                        await self._room.wait()
                        self._room.clear()
                    self._is_full = False

    # --- in the thread that takes them --------------------------------------------------------------------------------

    def take(self) -> tuple[T] | None:
        """The next item, as soon as it is there; None at the end."""
        return self._arrived.get()

    def taken(self, running: Running[None]) -> None:
        """One more was taken."""
        self._taken += 1
        if self._is_full and self._made == self._taken:
            running.tell(self._room.set)
        else:
            running.require_here()

    # --- in whichever thread knows first ------------------------------------------------------------------------------

    def end(self) -> None:
        """Nothing more will come."""
        self._arrived.put(None)


class Running(Generic[T]):
    """A task in the portal's loop, as other threads see it."""

    def __init__(self, served: _Served) -> None:
        self._served = served
        self._outcome: Future[T] = Future()
        self._context: Context
        self._scope: anyio.CancelScope | None = None
        self._has_begun = self._is_cancelled = False

    @property
    def is_done(self) -> bool:
        """Whether it is over."""
        return self._outcome.done()

    def begin(self, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> None:
        """Hand `function` to the loop, with the caller's context variables."""
        self._context = copy_context()
        if not self._served.soon(self._served.take, self, partial(self._run, lambda: function(*args, **kwargs))):
            self.refuse()

    def when_done(self, tell: Callable[[], object]) -> None:
        """Call `tell` when it has ended, in whichever thread that is known first."""
        self._outcome.add_done_callback(lambda _: tell())

    def tell(self, function: Callable[[], object]) -> None:
        """Call `function` in the loop, for the task's ears; RuntimeError in a forked child, where nothing runs."""
        self.require_here()
        self._served.soon(function)

    def require_here(self) -> None:
        """RuntimeError in a forked child, where nothing runs."""
        self._served.require_here()

    def result(self) -> T:
        """Wait for what it returns or raises; `concurrent.futures.CancelledError` if it was cancelled."""
        if not self.is_done:
            self.require_here()
        return self._outcome.result()

    def cancel(self) -> None:
        """Cancel it, without waiting for its end."""
        if not self._served.soon(self.cancel_here):
            self.refuse()

    def stop(self) -> None:
        """Cancel it and wait until it has ended, in whichever way."""
        if not self.is_done:
            self.cancel()
            if not self._served.is_own_thread:  # an iterator may be finalised in any thread, that of the loop too
                wait([self._outcome])

    # --- in the loop --------------------------------------------------------------------------------------------------

    def start_in(
        self, loop: asyncio.AbstractEventLoop, run: Callable[[], Coroutine[Any, Any, None]]
    ) -> asyncio.Task[None] | None:
        """Become a task of `loop`, unless it was cancelled before."""
        if self.is_done:
            return None
        self._has_begun = True
        return loop.create_task(run(), context=self._context)

    def refuse(self) -> None:
        """It never began, or no one will tell how it ends."""
        if not self.is_done:
            self._outcome.set_exception(CancelledError())

    def cancel_here(self) -> None:
        """Cancel it, in whatever it does and however often it begins to wait again."""
        self._is_cancelled = True
        if self._scope is not None:
            self._scope.cancel()
        elif not self._has_begun:
            self.refuse()

    async def _run(self, make: Callable[[], Awaitable[T]]) -> None:
        try:
            with anyio.CancelScope() as self._scope:
                if self._is_cancelled:
                    self._scope.cancel()
                value = await make()
                self._outcome.set_result(value)
        except anyio.get_cancelled_exc_class():
            self._outcome.set_exception(CancelledError())
            raise  # all of the loop ends
        except BaseException as error:  # noqa: BLE001  # SystemExit too is for the one who waits, not for the loop
            self._outcome.set_exception(error)
        else:
            if not self.is_done:
                self._outcome.set_exception(CancelledError())


class _Served:
    """One thread and the loop that it runs."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop
        self._tasks: dict[asyncio.Task[None], Running[Any]] = {}
        self._is_closing = asyncio.Event()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="legato-portal", daemon=True)
        self._thread.start()
        self._ready.result()

    @property
    def is_own_thread(self) -> bool:
        return threading.current_thread() is self._thread

    def soon(self, function: Callable[..., object], *args: Any) -> bool:
        """Call `function` in the loop; False if that is closed, or in another process."""
        if self._process != os.getpid():
            return False
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            return False
        return True

    def require_here(self) -> None:
        """Refuse to wait for what runs in the parent of this process."""
        if self._process != os.getpid():
            raise RuntimeError("this belongs to the process that was forked; begin anew in the child")

    def take(self, running: Running[Any], run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """In the loop: begin a task, which is held here until it ends."""
        if self._is_closing.is_set():
            running.refuse()
        elif (task := running.start_in(self._loop, run)) is not None:
            self._tasks[task] = running
            task.add_done_callback(self._tasks.pop)

    def close(self) -> None:
        if self.soon(self._is_closing.set) and not self.is_own_thread:
            self._thread.join(GRACE)

    def _run(self) -> None:
        try:
            anyio.run(self._serve, backend="asyncio")
        except BaseException as error:  # a loop that could not be made is told to the one who waits for it
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set_result(None)
        await self._is_closing.wait()
        for running in tuple(self._tasks.values()):
            running.cancel_here()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks))


@asynccontextmanager
async def _closing(items: AsyncIterable[T]) -> AsyncGenerator[AsyncIterable[T], None]:
    try:
        yield items
    finally:
        aclose: Callable[[], Awaitable[object]] | None = getattr(items, "aclose", None)
        if aclose is not None:  # not shielded: it may leave scopes that it entered before the shield would be
            await aclose()


_PORTALS: WeakSet[Portal] = WeakSet()

_LEFT_BEHIND: list[_Served] = []
"""loops of the parent, kept in a child because their finalisers would touch what both processes share"""


def _forget_all() -> None:
    for portal in tuple(_PORTALS):
        portal.forget()


SHARED = Portal()

atexit.register(SHARED.close)
if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_forget_all)
