"""The garbage collector of a process that does nothing but serve.

A full collection looks at every object of the process, while all streams wait: with Python's own settings that took up
to a hundred milliseconds. What was loaded at the start never becomes garbage, and nearly all that a request leaves
behind is freed by counting references, so the collector may look at less, and less often.
Only the program does this: a library leaves the collector of its host alone.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

THRESHOLDS = (20_000, 50, 100)
"""objects more than before that begin a young collection, and how many of those come before older ones: our choice;
with it the slowest of a hundred answers beside fifty streams waited a quarter of the time"""


@contextmanager
def rare_collections() -> Generator[None]:
    """Collect rarely while this lasts, and never what is there when it begins."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
