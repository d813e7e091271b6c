"""Damage answers and request bodies by the thousand, and count the conversations that they poison: none should be.

    python scripts/fuzz_answers.py --seed 7 --start 250000 --cases 100000
    python scripts/fuzz_answers.py --seed 7 --start 271828 --cases 1

Cases start from answers that our own writers make and, where the samples are, from recorded ones: see
tests/support/mutation_seeds. A number means the same case only where there are the same samples, or with `--own`. What
is done to them is in tests/support/mutations, and what counts as poisoned in tests/support/poisoning.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.campaigns import Campaign, Result, read_options, run  # isort: skip  # it makes the next ones importable
from mutation_seeds import SAMPLES
from poisoning import try_case

LONGEST = 2_000
"""characters of a value that are shown"""


def attempt(seed: int, index: int, recorded: bool) -> Result:
    """Try the case of that number."""
    outcome = try_case(seed, index, recorded=recorded)
    fault = f"{outcome.source}: {outcome.fault}\n    {json.dumps(outcome.value)[:LONGEST]}" if outcome.fault else ""
    return Result("recorded" if outcome.is_read else "", fault)


def main() -> int:
    """Run a campaign; the exit status is 1 if a conversation was poisoned."""
    options = read_options("Damage answers at random and count the conversations they poison.")
    seeds = "our own and recorded answers" if SAMPLES.is_dir() and not options.own else "our own answers"
    return 1 if run(Campaign("damaged answers", "poisoned", attempt), options, made_from=seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
