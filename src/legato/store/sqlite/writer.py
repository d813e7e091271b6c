"""The one thread of a store that writes.

In:  jobs, each a function of a connection.
Out: a future for each; when it has its result, the transaction around the job is committed and on the disk.

SQLite takes one writer at a time anyway. A single thread with a queue keeps our own writers from waiting for each other
inside SQLite, gives the connection one owner, and leaves the event loop free while the disk works. Each job runs in
`BEGIN IMMEDIATE`, so that what it reads first (the length, the fencing token) still holds when it writes.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from legato.errors import StoreError

T = TypeVar("T")

_Item = tuple[Callable[[sqlite3.Connection], Any], "Future[Any]"]


class WriterThread:
    """A thread that runs jobs one after the other, and `beat` between them, at least every `interval` seconds.

    `beat` runs only where `needs_beat` says so: a store that holds no lease does not touch the disk when idle.
    """

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        beat: Callable[[sqlite3.Connection], None],
        *,
        needs_beat: Callable[[], bool],
        interval: float,
    ) -> None:
        self._connect = connect
        self._beat = beat
        self._needs_beat = needs_beat
        self._interval = interval
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._stopped = False
        self._connection: sqlite3.Connection | None = None
        # A daemon: a program that forgets to close a store must still exit. What was acknowledged is on the disk.
        self._thread = threading.Thread(target=self._work, name="legato-store-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Queue `job`; its future fails with whatever connecting, the job or the commit raised."""
        future: Future[T] = Future()
        with self._gate:  # behind the last item no one would ever answer
            if self._stopped:
                raise StoreError("the store was closed before this could be stored; open a new one")
            self._queue.put((job, future))
        return future

    def stop(self) -> None:
        """Finish what is queued, close the connection, end the thread."""
        with self._gate:
            self._stopped = True
            self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        due = 0.0
        while True:
            now = time.monotonic()
            if not self._needs_beat():
                due, timeout = now + self._interval, None
            elif now >= due:
                self._try_beat()
                due = time.monotonic() + self._interval
                continue
            else:
                timeout = due - now
            try:
                item = self._queue.get(timeout=timeout)
            except queue.Empty:
                continue
            if item is None:
                self._drop_connection()
                return
            self._settle(*item)

    def _settle(self, job: Callable[[sqlite3.Connection], Any], future: Future[Any]) -> None:
        try:
            future.set_result(self._transact(job))
        except BaseException as error:  # noqa: BLE001 - it belongs to the one who waits for the future
            future.set_exception(error)

    def _try_beat(self) -> None:
        # A file that fails now is reported by the next job, and a lease lost meanwhile is fenced off there. Nothing may
        # end this thread: whoever waits for a job would wait for ever.
        with suppress(sqlite3.Error, OSError, StoreError):
            self._transact(self._beat)

    def _transact(self, job: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._connect()
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            result = job(connection)
            connection.execute("COMMIT")
        except BaseException as error:
            self._roll_back(connection)
            if isinstance(error, sqlite3.Error):
                # After a failed write the connection may believe things that the disk does not; begin afresh.
                self._drop_connection()
            raise
        return result

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._drop_connection()  # closing rolls back; if even that fails, the next connection does it

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()
