"""Refuse a pure package whose branches the tests do not reach.

In:  the path of a `coverage json` report.
Out: one line for each pure package; exit status 1 if one is below the floor.

Only the four packages that compute are held to the floor: they need no sockets, disks or clocks, so nothing excuses a
branch that no test enters. A package is measured as a whole. Where it has branches, the share of branches taken counts;
lines count too, because a function without branches can also go untested. A package with no code yet passes.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path, PurePath

PURE_PACKAGES = ("model", "ledger", "transcript", "wire")
FLOOR = 95.0


@dataclass(frozen=True)
class Share:
    """How many of the things that could be reached were reached."""

    reached: int
    total: int

    @property
    def percent(self) -> float:
        """All of nothing is everything."""
        return 100.0 * self.reached / self.total if self.total else 100.0

    def __str__(self) -> str:
        return f"{self.percent:6.1f} % ({self.reached}/{self.total})" if self.total else "  none yet"


def package_of(file: str) -> str | None:
    """The name of the pure package that `file` is in, if it is in one."""
    parts = PurePath(file).parts
    if "legato" not in parts:
        return None
    below = parts[len(parts) - parts[::-1].index("legato") :]
    return below[0] if len(below) > 1 and below[0] in PURE_PACKAGES else None


def measure(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, tuple[Share, Share]]:
    """For each pure package, the share of its branches and of its lines."""
    sums = {package: [0, 0, 0, 0] for package in PURE_PACKAGES}
    for file, content in report["files"].items():
        package = package_of(file)
        if package is None:
            continue
        summary = content["summary"]
        counts = (
            summary["covered_branches"],
            summary["num_branches"],
            summary["covered_lines"],
            summary["num_statements"],
        )
        sums[package] = [a + b for a, b in zip(sums[package], counts, strict=True)]
    return {package: (Share(*sums[package][:2]), Share(*sums[package][2:])) for package in PURE_PACKAGES}


def main() -> int:
    """Print the shares and say with the exit status whether they suffice."""
    parser = argparse.ArgumentParser(description="Check the coverage of the pure packages.")
    parser.add_argument("report", type=Path, help="a file written by coverage's JSON reporter, with branches")
    parser.add_argument("--floor", type=float, default=FLOOR, help="percent that must be reached (%(default)s)")
    options = parser.parse_args()

    report = json.loads(options.report.read_bytes())
    if not report["meta"]["branch_coverage"]:
        parser.error(f"{options.report} was measured without branches")

    below = False
    for package, (branches, lines) in measure(report).items():
        short = min(branches.percent, lines.percent) < options.floor
        below = below or short
        print(f"{package:<11} branches {branches!s:<22} lines {lines!s:<22}{' TOO LOW' if short else ''}".rstrip())
    if below:
        print(f"Each pure package needs {options.floor:g} % of its branches and of its lines.", file=sys.stderr)
    return int(below)


if __name__ == "__main__":
    sys.exit(main())
