"""The table of breakages fits the sources, and a sample of it is noticed. `make mutants` tries all of it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from scripts.mutants.breakages import LEAST, ROOT, SOURCE, Breakage, Misfit, chosen, read_table
from scripts.mutants.operators import changes
from scripts.mutants.plugin import NOTES
from scripts.mutants.results import outcome, page
from scripts.mutants.scratch import Fate, Verdict, mirrors, read
from scripts.requirements_report import TITLES

pytestmark = pytest.mark.skipif(not (ROOT / SOURCE).is_dir(), reason="the sources are not here, only the package")
TABLE = read_table()


def test_each_breakage_of_the_table_can_be_made_and_still_parses() -> None:
    misfits: list[str] = []
    for breakage in TABLE:
        whole = (ROOT / SOURCE / breakage.file).read_text(encoding="utf-8")
        try:
            broken = breakage.applied(whole)
            assert broken != whole
            ast.parse(broken if breakage.file.endswith(".py") else "")
        except (Misfit, SyntaxError) as error:
            misfits.append(f"{breakage.name}: {error}")
    assert misfits == [], "the sources have changed: mend scripts/mutants/table"


def test_every_requirement_is_broken_in_at_least_two_ways() -> None:
    counted = Counter(breakage.requirement for breakage in TABLE)
    assert [requirement for requirement in TITLES if counted[requirement] < LEAST] == []
    assert counted.keys() <= TITLES.keys()
    assert len({breakage.name for breakage in TABLE}) == len(TABLE)


def test_a_breakage_whose_place_is_gone_or_there_twice_says_so() -> None:
    breakage = Breakage("REQ-915-001", "it breaks", "x.py", "a = 1", "a = 2")
    assert breakage.applied("a = 1\nb = 1\n") == "a = 2\nb = 1\n"
    with pytest.raises(Misfit, match="occurs 0 times"):
        breakage.applied("b = 1\n")
    with pytest.raises(Misfit, match="occurs 2 times"):
        breakage.applied("a = 1\na = 1\n")


def test_requirements_are_named_by_their_last_three_digits() -> None:
    known = list(TITLES)
    assert chosen("REQ-012, REQ-915-044", known) == ["REQ-915-012", "REQ-915-044"]
    assert chosen("", known) == known
    with pytest.raises(SystemExit, match="There is no requirement REQ-915-099"):
        chosen("REQ-099", known)


CODE = '''
LIMIT = 3


def keep(values: list[int], most: int = LIMIT) -> list[int] | None:
    """A docstring stays."""
    kept: list[int] = []
    for value in values:
        if value < 0 and not most:
            continue
        kept.append(value + 1)
    return kept if len(kept) <= most else None
'''


def test_operators_change_what_runs_and_nothing_else() -> None:
    found = changes(CODE)
    assert sorted((change.line, change.what, change.put) for change in found) == [
        (9, "1 for 0", "(1)"),
        (9, "comparison flipped", "value <= 0"),
        (9, "negated", "not (value < 0 and not most)"),
        (9, "not removed", "(most)"),
        (9, "or for and", "(value < 0) or (not most)"),
        (10, "break for continue", "break"),
        (11, "- for its opposite", "value - 1"),
        (11, "2 for 1", "(2)"),
        (11, "removed", "pass"),
        (12, "comparison flipped", "len(kept) < most"),
        (12, "negated", "kept if not (len(kept) <= most) else None"),
        (12, "returns None", "return None"),
    ]
    for change in found:
        assert CODE[change.at :].startswith(change.find)
        ast.parse(CODE[: change.at] + change.put + CODE[change.at + len(change.find) :])


def verdict(status: int | None, words: str) -> tuple[Fate, str]:
    breakage = Breakage("REQ-915-001", "it breaks", "x.py", "a", "b")
    found = read(breakage, status, words, 1.0)
    return found.fate, found.test


def test_only_a_test_that_fails_kills() -> None:
    assert verdict(0, "3 passed") == (Fate.SURVIVED, "")
    assert verdict(1, "FAILED tests/a.py::test_b[c d] - AssertionError: x\n") == (Fate.KILLED, "tests/a.py::test_b")
    assert verdict(1, "FAILED scripts/mutants/smoke.py::test_b - x\n")[0] is Fate.BLUNT
    assert verdict(2, "ERROR tests/a.py - SyntaxError\n")[0] is Fate.BLUNT
    assert verdict(None, "")[0] is Fate.KILLED, "an endless loop is noticed too"


def test_what_survives_names_the_test_that_noticed_it_elsewhere_or_the_reason_why_none_can() -> None:
    survived = [
        Verdict(
            Breakage("REQ-915-001", "negated", "model/x.py", "a", "not (a)"), Fate.SURVIVED, elsewhere="t.py::test_a"
        ),
        Verdict(Breakage("REQ-915-001", "removed", "model/x.py", "b()", "pass"), Fate.SURVIVED),
        Verdict(Breakage("REQ-915-001", "removed", "model/x.py", "c()", "pass"), Fate.SURVIVED),
    ]
    notes = [{"file": "model/x.py", "find": "b()", "put": "pass", "why": "it is only quicker"}]
    lines = page({"REQ-915-001": outcome([], survived)}, 7, notes).splitlines()
    assert [line for line in lines if line.startswith("- `model/x.py`")] == [
        "- `model/x.py`, negated: `a` → `not (a)` — noticed by `test_a`",
        "- `model/x.py`, removed: `b()` → `pass` — it is only quicker",
        "- `model/x.py`, removed: `c()` → `pass`",
    ]


def test_the_tests_of_every_package_are_where_other_tests_are_looked_for() -> None:
    asked = {folder for breakage in TABLE if breakage.file.endswith(".py") for folder in mirrors(breakage.file)}
    assert [folder for folder in sorted(asked) if not (ROOT / folder).exists()] == []


SAMPLE = {
    "an error outranks a success": "tests/unit/ledger/test_ledger.py::test_success_counts_before_error_before_cancelled_before_synthetic_in_any_order",
    "only the first open call of an answer is closed": "tests/unit/transcript/test_compose.py::test_five_calls_with_one_result_have_one_real_and_four_synthetic_completions",
    "ids for Mistral have ten characters": "tests/unit/wire/test_projection.py::test_mistrals_ids_are_hashes_and_never_cut_prefixes",
}
"""breakages of the table in different files, and for each a quick one of the tests that must notice it"""


def test_a_sample_of_the_table_is_noticed_by_tests_of_its_requirements(tmp_path: Path) -> None:
    """All at once, in one copy of the sources; the working tree is not touched."""
    sample = [breakage for breakage in TABLE if breakage.what in SAMPLE]
    assert len(sample) == len(SAMPLE)
    source, notes = tmp_path / SOURCE, tmp_path / "notes.json"
    shutil.copytree(ROOT / SOURCE, source, ignore=shutil.ignore_patterns("__pycache__"))
    for breakage in sample:
        path = source / breakage.file
        path.write_text(breakage.applied(path.read_text(encoding="utf-8")), encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(source.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LEGATO_HYPOTHESIS_PROFILE": "mutants",
        NOTES: str(notes),
    }
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-p", "scripts.mutants.plugin", "--tb=no", "-rf"]
    command = [sys.executable, "-m", "pytest", *options, *SAMPLE.values()]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    marks = json.loads(notes.read_text(encoding="utf-8"))["tests"]
    failed = {word for line in done.stdout.splitlines() if line.startswith("FAILED ") for word in line.split()}
    noticed = {requirement for test in failed & marks.keys() for requirement in marks[test]["requirements"]}
    assert noticed >= {breakage.requirement for breakage in sample}, done.stdout
