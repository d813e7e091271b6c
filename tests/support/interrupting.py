"""What happens to a process that waits: Ctrl-C, and a fork."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c_raises() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, whatever runs the tests has made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def press_ctrl_c() -> None:
    """Interrupt the main thread, as a terminal would, from any thread."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def told_by_child(work: Callable[[], object]) -> tuple[int, str]:
    """The process that was forked to do `work`, and what came of it there."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on: a fork beside threads, which is the point
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, repr(work()).encode())
        except BaseException as error:  # the test is told of it
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as told:
        return child, told.read()
