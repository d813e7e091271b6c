"""`make mutants`: break the sources, one breakage at a time, and see whether the marked tests notice.

MUTANTS names requirements ("REQ-012 044"), all if it is empty; MUTANTS_SEED chooses what is drawn. The exit status is 1
if a breakage of the table survives, or breaks so much that it proves nothing.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

from scripts.mutants.breakages import ROOT, SOURCE, Breakage, Misfit, chosen, read_table
from scripts.mutants.drawing import Lottery
from scripts.mutants.proofs import Proof, find_proofs
from scripts.mutants.results import RECORD, outcome, write
from scripts.mutants.scratch import Fate, Scratch, Verdict, mirrors

WORKPLACE = ROOT / "build" / "mutants"
SEED = 915
LONGEST = 300.0
"""seconds that the tests of a package may take with something broken"""


def main() -> int:
    """Run, print, record, and judge."""
    options = _options()
    everything = read_table()
    asked = chosen(os.environ.get("MUTANTS", ""), list(dict.fromkeys(one.requirement for one in everything)))
    table = [breakage for breakage in everything if breakage.requirement in asked]
    if not _fits(table):
        return 1
    copies = [Scratch(WORKPLACE / f"copy-{number}") for number in range(1, options.workers + 1)]
    proofs = find_proofs(copies, WORKPLACE / "proofs.json", asked, measures=not options.table_only)
    seed = int(os.environ.get("MUTANTS_SEED") or SEED)
    drawn = [] if options.table_only else _drawn(table, proofs, Lottery(copies[0].folder / SOURCE, seed))
    print(f"{len(table)} breakages of the table, {len(drawn)} drawn with MUTANTS_SEED={seed}", flush=True)
    breakages = sorted([*table, *drawn], key=lambda breakage: breakage.requirement)
    left = Counter(breakage.requirement for breakage in breakages)
    verdicts: list[Verdict] = []
    asked_twice = set[Breakage]() if options.no_elsewhere else set(drawn)
    for verdict in _judged(breakages, proofs, copies, asked_twice):
        verdicts.append(verdict)
        requirement = verdict.breakage.requirement
        left[requirement] -= 1
        if drawn and not left[requirement]:  # whatever ends the run, what is known stays
            write({requirement: outcome(*_split(verdicts, requirement, set(table)))}, seed)
    _summarise(verdicts, set(table))
    if drawn:
        print(f"recorded in {RECORD.relative_to(ROOT)}; `make requirements` writes docs/requirements.md from it")
    return int(any(verdict.fate is not Fate.KILLED for verdict in verdicts if verdict.breakage in set(table)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description="Break the sources; do the tests notice?")
    parser.add_argument("--workers", type=int, default=2, help="how many run at once (%(default)s)")
    parser.add_argument("--table-only", action="store_true", help="draw nothing and record nothing")
    parser.add_argument("--no-elsewhere", action="store_true", help="do not ask other tests about what survives")
    return parser.parse_args()


def _fits(table: list[Breakage]) -> bool:
    """Whether every breakage of the table can be made; says which cannot."""
    fits = True
    for breakage in table:
        try:
            breakage.applied((ROOT / SOURCE / breakage.file).read_text(encoding="utf-8"))
        except (Misfit, OSError) as error:
            print(error, file=sys.stderr)
            fits = False
    return fits


def _drawn(table: list[Breakage], proofs: dict[str, Proof], lottery: Lottery) -> list[Breakage]:
    """For each requirement as many as the table has."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for breakage in table:
        files[breakage.requirement].append(breakage.file)
    return [one for name, named in files.items() for one in lottery.draw(name, proofs[name], named)]


def _judged(
    breakages: list[Breakage], proofs: dict[str, Proof], copies: list[Scratch], asked_twice: set[Breakage]
) -> Iterator[Verdict]:
    """Every verdict as it comes, with a line of progress; survivors of `asked_twice` are shown to other tests too."""
    free: queue.SimpleQueue[Scratch] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def judge(breakage: Breakage) -> Verdict:
        scratch, proof = free.get(), proofs[breakage.requirement]
        try:
            verdict = scratch.judge(breakage, proof.tests, timeout=proof.timeout)
            if verdict.fate is Fate.SURVIVED and breakage in asked_twice:
                other = scratch.judge(breakage, mirrors(breakage.file), timeout=LONGEST)
                verdict = replace(verdict, elsewhere=other.test if other.fate is Fate.KILLED else "")
            return verdict
        finally:
            free.put(scratch)

    with ThreadPoolExecutor(len(copies)) as pool:
        waiting = [pool.submit(judge, breakage) for breakage in breakages]
        for number, done in enumerate(as_completed(waiting), start=1):
            verdict = done.result()
            by = f" by {verdict.test.rpartition('::')[2]}" if verdict.test else ""
            by += f", noticed by {verdict.elsewhere.rpartition('::')[2]}" if verdict.elsewhere else ""
            print(
                f"{number:4}/{len(breakages)}  {verdict.fate:8} {verdict.seconds:5.1f} s  {verdict.breakage.name}{by}",
                flush=True,
            )
            yield verdict
    for copy in copies:
        copy.close()


def _split(verdicts: list[Verdict], requirement: str, table: set[Breakage]) -> tuple[list[Verdict], list[Verdict]]:
    """The verdicts of one requirement: those of the table, and the drawn ones."""
    own = [verdict for verdict in verdicts if verdict.breakage.requirement == requirement]
    return [one for one in own if one.breakage in table], [one for one in own if one.breakage not in table]


def _summarise(verdicts: list[Verdict], table: set[Breakage]) -> None:
    print()
    for title, own in (
        ("table", [verdict for verdict in verdicts if verdict.breakage in table]),
        ("drawn", [verdict for verdict in verdicts if verdict.breakage not in table]),
    ):
        for fate in (Fate.SURVIVED, Fate.BLUNT):
            for verdict in sorted(own, key=lambda verdict: verdict.breakage.name):
                if verdict.fate is fate:
                    find, put = (" ".join(text.split()) for text in (verdict.breakage.find, verdict.breakage.put))
                    print(f"{title}, {fate}: {verdict.breakage.name}\n    {find}\n    {put}")
        counted = {fate: sum(verdict.fate is fate for verdict in own) for fate in Fate}
        print(f"{title}: " + ", ".join(f"{number} {fate}" for fate, number in counted.items()))


if __name__ == "__main__":
    sys.exit(main())
