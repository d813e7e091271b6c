"""Run one case.

Each has an interpreter of its own, except where it has little work: what one case leaves behind (memory that was freed,
code that is warm) would make the next one faster or slower.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from bench import measure
from bench.cases import CASES
from bench.figures import Outcome, Scale


def take(name: str, scale: Scale, collecting: bool) -> Outcome:
    """What the case finds; `collecting` leaves the garbage collector on meanwhile."""
    measure.SETTINGS.collecting = collecting
    return CASES[name](scale)


def take_alone(name: str, scale: Scale, collecting: bool) -> Outcome:
    """The same in a new interpreter."""
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as alone:
        return alone.submit(take, name, scale, collecting).result()
