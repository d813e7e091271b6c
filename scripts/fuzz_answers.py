"""Damage answers and request bodies by the thousand, and count the conversations that they poison: none should be.

A case is known by the seed of the campaign and its number, so a campaign can go on where one ended, or repeat one case:

    python scripts/fuzz_answers.py --seed 7 --start 250000 --cases 100000
    python scripts/fuzz_answers.py --seed 7 --start 271828 --cases 1

Cases start from answers that our own writers make and, where the samples are, from recorded ones: see
tests/support/mutation_seeds. A number means the same case only where there are the same samples, or with `--own`. What
is done to them is in tests/support/mutations, and what counts as poisoned in tests/support/poisoning.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from mutation_seeds import SAMPLES  # they live with the tests
from poisoning import try_case
from tally import count

BATCH = 250
"""cases between two looks at the clock"""
SHOWN = 10
"""poisoned cases that are shown in full"""
LONGEST = 2_000
"""characters of a value that are shown"""


class Batch(NamedTuple):
    """A run of cases."""

    seed: int
    first: int
    cases: int
    recorded: bool


class Tried(NamedTuple):
    """What became of a batch: how many cases were read, and what is wrong with the poisoned ones, by number."""

    batch: Batch
    read: int
    poisoned: list[tuple[int, str]]


def try_batch(batch: Batch) -> Tried:
    """Try the cases of `batch`."""
    read = 0
    poisoned: list[tuple[int, str]] = []
    for index in range(batch.first, batch.first + batch.cases):
        outcome = try_case(batch.seed, index, recorded=batch.recorded)
        read += outcome.is_read
        if outcome.fault:
            poisoned.append((index, f"{outcome.source}: {outcome.fault}\n    {json.dumps(outcome.value)[:LONGEST]}"))
    return Tried(batch, read, poisoned)


def batches(options: argparse.Namespace, deadline: float) -> Iterator[Batch]:
    """The batches that there is time for, or that were asked for."""
    first, end = options.start, None if options.cases is None else options.start + options.cases
    while (end is None or first < end) and time.monotonic() < deadline:
        cases = BATCH if end is None else min(BATCH, end - first)
        yield Batch(options.seed, first, cases, not options.own)
        first += cases


def results(options: argparse.Namespace) -> Iterator[Tried]:
    """What became of each batch, in their order: all that is behind the last one was not tried."""
    waiting: deque[Future[Tried]] = deque()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=context) as pool:
        for batch in batches(options, time.monotonic() + options.seconds):
            waiting.append(pool.submit(try_batch, batch))
            if len(waiting) > 2 * options.workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def say(text: str) -> None:
    """A line about the campaign."""
    sys.stdout.write(f"fuzz: {text}\n")
    sys.stdout.flush()


def run(options: argparse.Namespace) -> int:
    """Try cases until the time is up or all were tried; how many were poisoned."""
    seeds = "our own and recorded" if SAMPLES.is_dir() and not options.own else "our own"
    say(f"damaged answers: seed {options.seed}, from case {options.start} on, made from {seeds} answers")
    tried = read = poisoned = 0
    for done in results(options):
        tried += done.batch.cases
        read += done.read
        for index, told in done.poisoned:
            poisoned += 1
            if poisoned <= SHOWN:
                say(f"POISONED: FUZZ_SEED={options.seed} FUZZ_START={index}: {told}")
    count("damaged answers and bodies", tried)
    count("of them read and recorded", read)
    count("of these poisoned", poisoned)
    following = options.start + tried
    say(f"damaged answers: {tried:,} tried, {read:,} recorded, {poisoned:,} poisoned")
    say(f"damaged answers: to go on, FUZZ_SEED={options.seed} FUZZ_START={following}")
    return poisoned


def main() -> int:
    """Run a campaign; the exit status is 1 if a conversation was poisoned."""
    parser = argparse.ArgumentParser(description="Damage answers at random and count the conversations they poison.")
    seed = os.environ.get("FUZZ_SEED") or random.randrange(2**32)
    parser.add_argument("--seed", type=int, default=int(seed), help="the campaign; FUZZ_SEED, else a new one")
    parser.add_argument(
        "--start", type=int, default=int(os.environ.get("FUZZ_START") or 0), help="the first case (FUZZ_START)"
    )
    parser.add_argument("--cases", type=int, default=None, help="how many (as many as there is time for)")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long at most (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--own", action="store_true", help="use no recorded answers, wherever it runs")
    return 1 if run(parser.parse_args()) else 0


if __name__ == "__main__":
    sys.exit(main())
