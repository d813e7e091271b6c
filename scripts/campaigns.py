"""Run numbered cases side by side until the time is up, and count those that fail.

In:  what a case is (a function of the seed and a number), and how many or how long.
Out: the cases that failed, each with the seed and the number that repeat it; at the end, how to go on.

A case is known by the seed of its campaign and its number, so a campaign can go on where one ended, or repeat one case.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from tally import count  # it lives with the tests

BATCH = 250
"""cases between two looks at the clock"""
SHOWN = 10
"""failed cases that are shown in full"""
REPORTED = 5_000
"""cases after which a campaign says how far it is: one that is broken off can go on from there"""


class Result(NamedTuple):
    """What became of a case: words under which it is counted, and what is wrong with it, if something is."""

    outcome: str = ""
    fault: str = ""


class Campaign(NamedTuple):
    """A kind of case: `title` is its plural, `failed` what is said of one that fails; `attempt` has to be picklable."""

    title: str
    failed: str
    attempt: Callable[[int, int, bool], Result]
    """of the seed, the number, and whether recorded samples may be used"""


class Batch(NamedTuple):
    """A run of cases."""

    campaign: Campaign
    seed: int
    first: int
    cases: int
    recorded: bool


class Tried(NamedTuple):
    """What became of a batch: how often each outcome, and what is wrong with the cases that failed, by number."""

    batch: Batch
    outcomes: Counter[str]
    failed: list[tuple[int, str]]


def try_batch(batch: Batch) -> Tried:
    """Try the cases of `batch`."""
    outcomes: Counter[str] = Counter()
    failed: list[tuple[int, str]] = []
    for index in range(batch.first, batch.first + batch.cases):
        result = batch.campaign.attempt(batch.seed, index, batch.recorded)
        outcomes[result.outcome] += 1
        if result.fault:
            failed.append((index, result.fault))
    return Tried(batch, outcomes, failed)


def batches(campaign: Campaign, options: argparse.Namespace, deadline: float) -> Iterator[Batch]:
    """The batches that there is time for, or that were asked for."""
    first, end = options.start, None if options.cases is None else options.start + options.cases
    while (end is None or first < end) and time.monotonic() < deadline:
        cases = BATCH if end is None else min(BATCH, end - first)
        yield Batch(campaign, options.seed, first, cases, not options.own)
        first += cases


def results(campaign: Campaign, options: argparse.Namespace) -> Iterator[Tried]:
    """What became of each batch, in their order: all that is behind the last one was not tried."""
    waiting: deque[Future[Tried]] = deque()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.workers, mp_context=context) as pool:
        for batch in batches(campaign, options, time.monotonic() + options.seconds):
            waiting.append(pool.submit(try_batch, batch))
            if len(waiting) > 2 * options.workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def say(text: str) -> None:
    """A line about the campaign."""
    sys.stdout.write(f"fuzz: {text}\n")
    sys.stdout.flush()


def run(campaign: Campaign, options: argparse.Namespace, *, made_from: str) -> int:
    """Try cases until the time is up or all were tried; how many failed."""
    title = campaign.title
    say(f"{title}: seed {options.seed}, from case {options.start} on, made from {made_from}")
    outcomes: Counter[str] = Counter()
    failed = 0
    for done in results(campaign, options):
        outcomes += done.outcomes
        for index, told in done.failed:
            failed += 1
            if failed <= SHOWN:
                say(f"{campaign.failed.upper()}: FUZZ_SEED={options.seed} FUZZ_START={index}: {told}")
        if outcomes.total() % REPORTED == 0:
            say(f"{title}: {outcomes.total():,} tried, {failed:,} {campaign.failed}")
    tried = outcomes.total()
    count(title, tried)
    for outcome, number in sorted(outcomes.items()):
        if outcome:
            count(f"{title}: {outcome}", number)
    count(f"{title}: {campaign.failed}", failed)
    told = "".join(f", {number:,} {outcome}" for outcome, number in sorted(outcomes.items()) if outcome)
    say(f"{title}: {tried:,} tried{told}, {failed:,} {campaign.failed}")
    say(f"{title}: to go on, FUZZ_SEED={options.seed} FUZZ_START={options.start + tried}")
    return failed


def read_options(description: str) -> argparse.Namespace:
    """What the command line says, and FUZZ_SEED and FUZZ_START."""
    parser = argparse.ArgumentParser(description=description)
    seed = os.environ.get("FUZZ_SEED") or random.randrange(2**32)
    parser.add_argument("--seed", type=int, default=int(seed), help="the campaign; FUZZ_SEED, else a new one")
    parser.add_argument(
        "--start", type=int, default=int(os.environ.get("FUZZ_START") or 0), help="the first case (FUZZ_START)"
    )
    parser.add_argument("--cases", type=int, default=None, help="how many (as many as there is time for)")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long at most (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--own", action="store_true", help="use no recorded samples, wherever it runs")
    return parser.parse_args()
