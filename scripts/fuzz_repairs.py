"""Damage files that were right by the thousand, repair them, and count the repairs that harm: none should.

    python scripts/fuzz_repairs.py --seed 7 --start 10000 --cases 10000
    python scripts/fuzz_repairs.py --seed 7 --start 271 --cases 1

What is damaged, how, and what counts as harm is in tests/support/damage. Cases start from bodies and sessions that the
tests make and, where the samples are, from recorded ones. A number means the same case only where there are the same
samples, or with `--own`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.campaigns import Campaign, Result, read_options, run  # isort: skip  # it makes the next ones importable
from damage import try_repair
from mutation_seeds import SAMPLES


def attempt(seed: int, index: int, recorded: bool) -> Result:
    """Try the case of that number."""
    done = try_repair(seed, index, recorded=recorded)
    return Result(done.outcome, f"{done.what}: {done.harm}" if done.harm else "")


def main() -> int:
    """Run a campaign; the exit status is 1 if a repair harmed."""
    options = read_options("Damage files at random, repair them, and count the repairs that harm.")
    seeds = "our own and recorded files" if SAMPLES.is_dir() and not options.own else "our own files"
    return 1 if run(Campaign("damaged files", "harmed", attempt), options, made_from=seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
