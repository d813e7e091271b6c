"""Count what a long campaign really tried, so that `make fuzz` can say it at its end.

LEGATO_TALLY names a file; without it nothing is counted. A line of the file is a number and a name. Lines are added
about once a second and at the end, by every process for itself: a round that is interrupted is counted up to then. A
test that failed is written down at once, with what pytest has to say of it in a file beside, because the interrupt may be
all that follows.
"""

from __future__ import annotations

import atexit
import functools
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

_INTERVAL = 1.0

FAILED = "failed: "
"""what the name of a test that failed begins with"""

FAILURES = ".failures"
"""what the name of the file ends with that tells of failures"""


class _Book:
    """What this process counted and has not written yet."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._counted: Counter[str] = Counter()
        self._written_at = time.monotonic()

    def add(self, name: str, number: int) -> None:
        self._counted[name] += number
        if time.monotonic() - self._written_at > _INTERVAL:
            self.write()

    def write(self) -> None:
        lines = "".join(f"{number} {name}\n" for name, number in self._counted.items())
        self._counted.clear()
        self._written_at = time.monotonic()
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, lines.encode())
        finally:
            os.close(file)


_BOOK = _Book(os.environ["LEGATO_TALLY"]) if "LEGATO_TALLY" in os.environ else None
if _BOOK is not None:
    atexit.register(_BOOK.write)


def count(name: str, number: int = 1) -> None:
    """Add `number` to what is known as `name`."""
    if _BOOK is not None:
        _BOOK.add(name, number)


def count_runs(test: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`test`, every run of which is counted that ends well; an example that does not fit is none, nor one that fails."""
    if _BOOK is None:
        return test

    @functools.wraps(test)
    def counted(*args: Any, **kwargs: Any) -> Any:
        result = test(*args, **kwargs)
        count(name)
        return result

    return counted


def count_failure(test: str, text: str) -> None:
    """`test` failed, of which `text` tells."""
    if _BOOK is not None:
        _BOOK.add(FAILED + test, 1)
        _BOOK.write()
        with Path(os.environ["LEGATO_TALLY"] + FAILURES).open("a", encoding="utf-8") as file:
            file.write(f"{test}\n{text}\n\n")
