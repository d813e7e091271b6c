"""Draw changes from the lines that a requirement's tests run, as a lottery that can be repeated.

The same seed, sources and tests give the same draw. Tests of requests and sessions run nearly every line there is, so
the lottery keeps to the files in which the table breaks the requirement: that is where it is kept. Even there, what a
test runs, it need not look at, and some drawn changes survive because the requirement does not speak of them.
"""

from __future__ import annotations

import random
from pathlib import Path

from scripts.mutants.breakages import Breakage
from scripts.mutants.operators import Change, changes
from scripts.mutants.proofs import Proof


class Lottery:
    """The changes that can be drawn."""

    def __init__(self, source: Path, seed: int) -> None:
        self._source = source
        self._seed = seed
        self._changes: dict[str, list[Change]] = {}

    def draw(self, requirement: str, proof: Proof, files: list[str]) -> list[Breakage]:
        """As many changes as `files` has names, in these files and among the lines that the requirement's tests run;
        fewer only if there are no more.
        """
        chance = random.Random(f"{self._seed} {requirement}")
        tickets = [
            (file, change)
            for file in sorted({*files} & proof.lines.keys())
            for change in self._in_file(file)
            if {*range(change.line, change.last + 1)} & {*proof.lines[file]}
        ]
        drawn = chance.sample(tickets, min(len(files), len(tickets)))
        return [Breakage(requirement, change.what, file, change.find, change.put, change.at) for file, change in drawn]

    def _in_file(self, file: str) -> list[Change]:
        if file not in self._changes:
            self._changes[file] = changes((self._source / file).read_text(encoding="utf-8"))
        return self._changes[file]
