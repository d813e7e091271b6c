"""Run pytest again and again in one copy, without paying for its imports each time.

In:  lines of JSON on standard input: first the modules to load, then one order after the other.
Out: a line of JSON for each order: the exit status, None if it took too long, and what pytest said.

Loading pytest, Hypothesis and the vendors' clients takes longer than most tests do. They are loaded once; for each
order the process splits, and the child loads the copy's own modules, as they are at that moment, runs the tests and is
gone. Nothing of the copy is loaded before the split.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable
from typing import Any

import pytest

QUIET = "-Wignore::pytest.PytestAssertRewriteWarning"
"""plugins that are loaded before pytest starts cannot be rewritten; nobody reads their assertions here"""


def load(modules: Iterable[str]) -> None:
    """Load what can be loaded; what cannot is the child's to complain about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def run(arguments: list[str], timeout: float) -> dict[str, Any]:
    """Run pytest in a child; it and all that it started is gone afterwards."""
    with tempfile.TemporaryFile() as words:
        child = os.fork()
        if child == 0:
            _become_pytest(arguments, words.fileno())
        status = _wait(child, timeout)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # the group that the child leads, and nothing else
        if status is None:
            os.waitpid(child, 0)
        words.seek(0)
        return {"status": status, "words": words.read().decode(errors="replace")}


def _become_pytest(arguments: list[str], output: int) -> None:
    status = 3
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, number in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, number)
        status = int(pytest.main([QUIET, *arguments]))
    finally:
        sys.stdout.flush()
        os._exit(status)


def _wait(child: int, timeout: float) -> int | None:
    """The child's exit status; None if it is not there in time."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    return None


def main() -> None:
    """Serve until standard input ends."""
    load(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(run(order["arguments"], order["timeout"])), flush=True)


if __name__ == "__main__":
    main()
