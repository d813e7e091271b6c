"""How everything here is measured.

Processor time, because the machine may be shared and whoever else is on it should not count. Every sample begins with
the garbage collected, and the collector stays off during it (`--gc` leaves it on), alike for all. What is compared
takes turns, round after round, in one process; the ratio of two is the median of the ratios of the rounds, so that a
busy moment of the machine hits both sides. The first round warms up and does not count.
"""

from __future__ import annotations

import gc
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

clock = time.process_time
Sample = Callable[[], float]
"""does something once, and says how many seconds of it count"""


@dataclass(slots=True)
class Settings:
    """What holds for all samples of a run."""

    collecting: bool = False


SETTINGS = Settings()


def measured(work: Callable[[], float]) -> float:
    """What `work` says it took, begun with a clean heap."""
    with not_collecting():
        return work()


@contextmanager
def not_collecting() -> Generator[None]:
    """Begin with a clean heap, and collect no garbage meanwhile."""
    gc.collect()
    if not SETTINGS.collecting:
        gc.disable()
    try:
        yield
    finally:
        gc.enable()


def sample(run: Callable[[T], object], prepare: Callable[[], T]) -> Sample:
    """Time `run` on what `prepare` makes anew for each sample; neither that nor throwing the result away counts."""

    def take() -> float:
        given = prepare()

        def work() -> float:
            begin = clock()
            result = run(given)
            seconds = clock() - begin
            del result
            return seconds

        return measured(work)

    return take


def timed(run: Callable[[], object]) -> Sample:
    """Time `run`, which needs nothing prepared."""
    return sample(lambda _: run(), lambda: None)


class Samples:
    """Seconds by name and round."""

    def __init__(self, seconds: Mapping[str, list[float]]) -> None:
        self.seconds = seconds

    def median(self, name: str) -> float:
        """The median of the seconds of `name`."""
        return statistics.median(self.seconds[name])

    def ratio(self, one: str, *others: str) -> float:
        """`one` as a multiple of `others` together: the median over the rounds."""
        sums = map(sum, zip(*(self.seconds[other] for other in others), strict=True))
        return statistics.median(a / b for a, b in zip(self.seconds[one], sums, strict=True) if b)


def interleave(works: Mapping[str, Sample], rounds: int) -> Samples:
    """Let all `works` take turns, `rounds` times."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            taken = work()
            if number:
                seconds[name].append(taken)
    return Samples(seconds)


def peak_bytes(work: Callable[[], object]) -> int:
    """The most memory that `work` held at one time, beyond what was there before it."""
    return _traced(work)[1]


def held_bytes(work: Callable[[], object]) -> int:
    """The memory that the result of `work` holds."""
    return _traced(work)[0]


def _traced(work: Callable[[], object]) -> tuple[int, int]:
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
        del result
        return held, peak
    finally:
        tracemalloc.stop()


# --- other processes --------------------------------------------------------------------------------------------------

_PEAK_OF_ITSELF = """
import resource, sys
try:
    with open("/proc/self/status") as status:
        print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
except OSError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1))
"""


def child_seconds(code: str, python: str = sys.executable) -> float:
    """Seconds of processor time that a new interpreter takes to run `code` and end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", code], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def child_wall_seconds(code: str, python: str = sys.executable) -> float:
    """The same in seconds on the wall."""
    begin = time.perf_counter()
    subprocess.run([python, "-c", code], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def child_megabytes(code: str, python: str = sys.executable) -> float:
    """The peak resident size of a new interpreter that runs `code`; asked from inside, since a parent's size sticks."""
    finished = subprocess.run([python, "-c", code + _PEAK_OF_ITSELF], check=True, capture_output=True, text=True)
    return int(finished.stdout.split()[-1]) / 1024
