"""The table of breakages, and what a breakage is.

In:  `table/*.toml`, in which each requirement has a list of breakages.
Out: `Breakage` values. `find` must occur exactly once in its file, so that a table that no longer fits is noticed.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = Path("src/legato")
PREFIX = "REQ-915-"
LEAST = 2
"""how many breakages the table must have for each requirement"""


class Misfit(Exception):
    """A breakage cannot be made: its file has changed."""


@dataclass(frozen=True)
class Breakage:
    """One small change to one file that breaks one requirement."""

    requirement: str
    what: str
    """what goes wrong, in words"""
    file: str
    """below src/legato"""
    find: str
    put: str
    at: int = -1
    """for a drawn one: the character at which `find` begins; below zero, `find` must occur exactly once"""

    @property
    def name(self) -> str:
        """A name that stays the same while the change does."""
        return f"{self.requirement} {self.file}: {self.what}"

    def applied(self, text: str) -> str:
        """The text of the file with the breakage in it; raises `Misfit`."""
        place = self._only_place(text) if self.at < 0 else self.at
        end = place + len(self.find)
        if text[place:end] != self.find:
            raise Misfit(f"{self.name}: character {place} of {self.file} does not begin {self.find!r}")
        return text[:place] + self.put + text[end:]

    def _only_place(self, text: str) -> int:
        if (count := text.count(self.find)) != 1:
            raise Misfit(f"{self.name}: {self.find!r} occurs {count} times in {self.file}, not once")
        return text.index(self.find)


def read_table(folder: Path = HERE / "table") -> list[Breakage]:
    """Every breakage of the table, in the order of the requirements."""
    found: list[Breakage] = []
    for path in sorted(folder.glob("*.toml")):
        table: dict[str, list[dict[str, Any]]] = tomllib.loads(path.read_text(encoding="utf-8"))
        for requirement, rows in table.items():
            found += [_breakage(requirement, row) for row in rows]
    return sorted(found, key=lambda breakage: breakage.requirement)


def _breakage(requirement: str, row: dict[str, str]) -> Breakage:
    return Breakage(requirement, row["what"], row["file"], row["find"], row["put"])


def chosen(requirements: str, known: list[str]) -> list[str]:
    """The requirements that `requirements` names ("REQ-012 013"), all of them if it names none."""
    asked = [f"{PREFIX}{word[-3:]}" for word in requirements.replace(",", " ").split()]
    if unknown := [requirement for requirement in asked if requirement not in known]:
        raise SystemExit(f"There is no requirement {', '.join(unknown)}; write for example MUTANTS=REQ-012.")
    return asked or known
