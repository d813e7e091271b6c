"""How much work something is, counted in calls of functions, so that tests say the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType


def work_of(run: Callable[[], object]) -> int:
    """How many functions `run` calls, of Python's own and of ours."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def assert_linear(work: Callable[[int], int], size: int) -> None:
    work(2)  # what is done once is done
    small, large = work(size), work(4 * size)
    assert large < 4.4 * small
