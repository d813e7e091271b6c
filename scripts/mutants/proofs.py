"""Which tests carry a requirement's mark, how long they take, and which lines of the sources they run.

In:  scratch copies as they are: with nothing broken, every marked test must pass.
Out: a `Proof` for each requirement that is asked for, kept in a file as long as neither sources nor tests change.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

import coverage

from scripts.mutants.breakages import HERE, SOURCE
from scripts.mutants.plugin import NOTES, ONLY, PART
from scripts.mutants.scratch import Scratch

LONGEST = 3600.0
"""seconds that all marked tests together may take"""

LINES_ONLY = HERE / "coverage.toml"

Lines = dict[str, list[int]]
"""by file below src/legato"""


class Note(NamedTuple):
    """What is known of one test."""

    requirements: list[str]
    seconds: float


Notes: TypeAlias = dict[str, Note]


@dataclass
class Proof:
    """The tests of one requirement, quickest first: the earlier one fails, the sooner it is known."""

    tests: list[str] = field(default_factory=list[str])
    seconds: float = 0.0
    lines: Lines = field(default_factory=dict[str, list[int]])

    @property
    def timeout(self) -> float:
        """Seconds after which nothing more is to be expected of these tests."""
        return 60.0 + 6 * self.seconds


def find_proofs(copies: list[Scratch], kept: Path, requirements: list[str], *, measures: bool) -> dict[str, Proof]:
    """The proofs of `requirements`: those in `kept` as far as they are of these very files.

    With `measures`, the lines that the tests run are found out too, which takes a few times as long.
    """
    name = _digest(copies[0].folder)
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    modules: list[str] = known.get("modules", [])
    proofs = {key: Proof(**proof) for key, proof in known["proofs"].items()} if known.get("digest") == name else {}
    missing = [one for one in requirements if one not in proofs or (measures and not proofs[one].lines)]
    if missing:
        print(f"running the tests of {len(missing)} requirements once, with nothing broken", flush=True)
        found, modules = _run(copies, missing, measures=measures)
        proofs |= {key: proof for key, proof in found.items() if key in missing}
        told = {requirement: vars(proof) for requirement, proof in proofs.items()}
        kept.write_text(json.dumps({"digest": name, "proofs": told, "modules": modules}), encoding="utf-8")
    if unproved := [requirement for requirement in requirements if requirement not in proofs]:
        raise SystemExit(f"No test carries the mark of {', '.join(unproved)}.")
    for copy in copies:
        copy.modules = modules
    return {requirement: proofs[requirement] for requirement in requirements}


def _run(copies: list[Scratch], requirements: list[str], *, measures: bool) -> tuple[dict[str, Proof], list[str]]:
    """Run a part of the tests in each of the copies, side by side."""
    arguments = ["-p", "scripts.mutants.plugin", "tests"]
    if measures:
        arguments += ["--cov=legato", "--cov-context=test", "--cov-report=", f"--cov-config={LINES_ONLY}"]

    def run(number: int) -> subprocess.CompletedProcess[str] | None:
        scratch = copies[number]
        variables = {
            NOTES: str(scratch.folder / "notes.json"),
            ONLY: " ".join(requirements),
            PART: f"{number}/{len(copies)}",
            "COVERAGE_FILE": str(scratch.folder / ".coverage"),
        }
        return scratch.run(arguments, timeout=LONGEST, **variables)

    with ThreadPoolExecutor(len(copies)) as pool:
        ended = list(pool.map(run, range(len(copies))))
    for done in ended:
        if done is None or done.returncode:
            said = "they took too long" if done is None else done.stdout[-3000:]
            raise SystemExit(f"{said}\nThe marked tests must pass before anything is broken.")
    notes = [json.loads((copy.folder / "notes.json").read_text(encoding="utf-8")) for copy in copies]
    collected: Notes = {
        test: Note(note["requirements"], sum(other["tests"][test]["seconds"] for other in notes))
        for test, note in notes[0]["tests"].items()
    }
    proofs = _tests(collected)
    for copy in copies if measures else ():
        _add_lines(proofs, collected, copy)
    return proofs, notes[0]["modules"]


def _tests(collected: Notes) -> dict[str, Proof]:
    """The tests of each requirement; the cases of a test are one where all of them carry the mark."""
    cases: defaultdict[str, list[str]] = defaultdict(list)
    for test in collected:
        cases[test.partition("[")[0]].append(test)
    seconds: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for function, tests in cases.items():
        for requirement in {mark for test in tests for mark in collected[test].requirements}:
            took = {test: collected[test].seconds for test in tests if requirement in collected[test].requirements}
            seconds[requirement] |= {function: sum(took.values())} if len(took) == len(tests) else took
    return {
        requirement: Proof(sorted(tests, key=lambda test: tests[test]), sum(tests.values()))
        for requirement, tests in sorted(seconds.items())
    }


def _add_lines(proofs: dict[str, Proof], collected: Notes, copy: Scratch) -> None:
    """Add the lines that were run in `copy`."""
    data, source = coverage.CoverageData(str(copy.folder / ".coverage")), copy.folder / SOURCE
    data.read()
    for path in sorted(data.measured_files()):
        file = Path(path)
        if not file.is_relative_to(source):
            continue
        found: defaultdict[str, set[int]] = defaultdict(set)
        for line, contexts in data.contexts_by_lineno(path).items():
            for test in {context.partition("|")[0] for context in contexts} & collected.keys():
                for requirement in collected[test].requirements:
                    found[requirement].add(line)
        for requirement, lines in found.items():
            known = proofs[requirement].lines
            name = str(file.relative_to(source))
            known[name] = sorted({*known.get(name, ()), *lines})


def _digest(project: Path) -> str:
    """A name for the sources and the tests of a copy."""
    state = hashlib.sha256()
    for folder in ("src", "tests"):
        for path in sorted((project / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                state.update(f"{path.relative_to(project)}\n".encode() + path.read_bytes())
    return state.hexdigest()
