"""Mutate session files of every format by the thousand, and count those that a file command does not withstand.

    python scripts/fuzz_files.py --seed 7 --start 250000 --cases 100000
    python scripts/fuzz_files.py --seed 7 --start 271828 --cases 1

Each file goes through reading, lint, inspect, repair and convert; what counts as a failure is in
tests/support/mutated_files. Cases start from files that the tests write and, where the samples are, from recorded ones.
A number means the same case only where there are the same samples, or with `--own`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.campaigns import Campaign, Result, read_options, run  # isort: skip  # it makes the next ones importable
from mutated_files import try_file
from mutation_seeds import SAMPLES


def attempt(seed: int, index: int, recorded: bool) -> Result:
    """Try the case of that number."""
    tried = try_file(seed, index, recorded=recorded)
    return Result("read" if tried.is_read else "", f"{tried.what}: {tried.fault}" if tried.fault else "")


def main() -> int:
    """Run a campaign; the exit status is 1 if a file was not withstood."""
    options = read_options("Mutate session files at random and count those that the commands about files fail on.")
    seeds = "our own and recorded files" if SAMPLES.is_dir() and not options.own else "our own files"
    return 1 if run(Campaign("mutated files", "failed", attempt), options, made_from=seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
