"""What came of the breakages: kept for other scripts, and as a page to read.

In:  verdicts of a run, whole or narrowed to some requirements.
Out: docs/mutants.json, in which a narrowed run replaces only what it looked at, and docs/mutants.md made from it.

What survives the tests of its requirement is shown to the tests of its package as well; a test that fails there is
recorded. `notes.toml` holds what was found out about a change that no test notices; where the change is gone, the note
is ignored.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from scripts.mutants.breakages import HERE, ROOT
from scripts.mutants.scratch import Fate, Verdict

RECORD = ROOT / "docs" / "mutants.json"
PAGE = ROOT / "docs" / "mutants.md"


class Survivor(TypedDict):
    """A drawn change that no test of its requirement noticed."""

    file: str
    what: str
    find: str
    put: str
    elsewhere: NotRequired[str]
    """a test of something else that noticed it"""


class Outcome(TypedDict):
    """What came of the breakages of one requirement."""

    table: int
    table_killed: int
    drawn: int
    drawn_killed: int
    survivors: list[Survivor]


def outcome(table: Iterable[Verdict], drawn: Iterable[Verdict]) -> Outcome:
    """The numbers for one requirement. A drawn change that breaks everything counts neither way."""
    table, sharp = list(table), [verdict for verdict in drawn if verdict.fate is not Fate.BLUNT]
    survivors = [_survivor(verdict) for verdict in sharp if verdict.fate is Fate.SURVIVED]
    return Outcome(
        table=len(table),
        table_killed=sum(verdict.fate is Fate.KILLED for verdict in table),
        drawn=len(sharp),
        drawn_killed=len(sharp) - len(survivors),
        survivors=survivors,
    )


def _survivor(verdict: Verdict) -> Survivor:
    breakage = verdict.breakage
    find, put = " ".join(breakage.find.split()), " ".join(breakage.put.split())
    survivor = Survivor(file=breakage.file, what=breakage.what, find=find, put=put)
    return {**survivor, "elsewhere": verdict.elsewhere} if verdict.elsewhere else survivor


def read_record(path: Path = RECORD) -> dict[str, Outcome]:
    """What is recorded, by requirement; empty if nothing is."""
    if not path.exists():
        return {}
    return json.loads(path.read_text(encoding="utf-8"))["requirements"]


def write(outcomes: dict[str, Outcome], seed: int) -> None:
    """Record `outcomes`, and write the page anew."""
    known = {**read_record(), **outcomes}
    told = {"seed": seed, "requirements": dict(sorted(known.items()))}
    RECORD.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(told["requirements"], seed, _notes()), encoding="utf-8")


def _notes() -> list[dict[str, Any]]:
    path = HERE / "notes.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")).get("note", []) if path.exists() else []


def page(outcomes: dict[str, Outcome], seed: int, notes: list[dict[str, Any]]) -> str:
    """The page. It holds nothing that changes by itself, such as a date."""
    total = {
        name: sum(one[name] for one in outcomes.values()) for name in ("table", "table_killed", "drawn", "drawn_killed")
    }
    lines = [
        _HEAD.format(seed=seed, survived=total["drawn"] - total["drawn_killed"], **total),
        "| requirement | table: killed of | drawn: killed of |",
        "|---|---|---|",
    ]
    lines += [
        f"| {requirement} | {one['table_killed']} of {one['table']} | {one['drawn_killed']} of {one['drawn']} |"
        for requirement, one in outcomes.items()
    ]
    lines += ["", "## Drawn changes that survive", "", _SURVIVORS]
    for requirement, one in outcomes.items():
        if one["survivors"]:
            lines += [f"### {requirement}", ""]
            lines += [_line(survivor, notes) for survivor in one["survivors"]]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _line(survivor: Survivor, notes: list[dict[str, Any]]) -> str:
    noticed = survivor.get("elsewhere", "").rpartition("::")[2]
    known = [note["why"] for note in notes if _is_about(note, survivor)]
    why = f" — noticed by `{noticed}`" if noticed else f" — {known[0]}" if known else ""
    return f"- `{survivor['file']}`, {survivor['what']}: {_code(survivor['find'])} → {_code(survivor['put'])}{why}"


def _is_about(note: dict[str, Any], survivor: Survivor) -> bool:
    return all(note[name] == survivor[name] for name in ("file", "find", "put"))


def _code(text: str) -> str:
    short = text if len(text) <= 90 else f"{text[:87]}…"
    return f"`` {short} ``" if "`" in short else f"`{short}`"


_HEAD = """# Proof by mutation

Written by `make mutants`; do not edit by hand.

A test proves a requirement only if it fails when the requirement is broken. So we break it: each breakage is one small
change in a copy of the sources, and the tests that carry the mark of the requirement, and no others, have to notice it.

- The **table** (`scripts/mutants/table/`) holds breakages that were thought up for a requirement, each a bug that
  could be written. {table_killed} of {table} are killed. One that survives fails the run.
- **Drawn** are changes that an operator makes without thinking (a flipped comparison, a removed statement, a constant
  off by one), with seed {seed}, from the files that the table names for the requirement and the lines that its tests
  run. {drawn_killed} of {drawn} are killed by the tests of that one requirement.

`make mutants` runs all of it on two cores; `MUTANTS=REQ-012` narrows it, `MUTANTS_SEED=7` draws others.
A breakage that stops every program, at import or at the first message, does not count.
"""

_SURVIVORS = """What a test runs, it need not look at: most of these change something of which the requirement does not
speak. Then the test that notices stands behind the change, or the reason why none can.
"""
