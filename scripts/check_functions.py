"""Fail if a function of the core is longer than a screen. How complex one may be is ruff's to say (C901).

The core is what every request goes through. A function there that does not fit on a screen holds two ideas. There are
no exceptions, so a comment that lets ruff pass over a function that is too complex fails as well.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CORE = ("model", "ledger", "transcript", "wire", "request")
MOST_LINES = 60
_EXCEPTION = re.compile(r"#\s*(?:ruff:\s*|flake8:\s*)?noqa(?!:)|#.*\bnoqa:.*\bC90", re.IGNORECASE)
"""a comment that has ruff say nothing about a line or a file, whatever it is, or nothing about how complex it is"""


def long_functions(folder: Path) -> Iterator[str]:
    """A line for each function below `folder` that is too long."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES:
                    yield f"{path}:{node.lineno}: {node.name} has {lines} lines, more than {MOST_LINES}: split it"


def excepted_functions(folder: Path) -> Iterator[str]:
    """A line for each comment below `folder` that lets a function be too complex."""
    for path in sorted(folder.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if _EXCEPTION.search(line):
                yield f"{path}:{number}: how complex a function of the core may be has no exceptions: split it"


def main() -> int:
    """Print what is too long; the exit status says whether anything is."""
    root = Path(__file__).resolve().parents[1] / "src" / "legato"
    found = [line for name in CORE for check in (long_functions, excepted_functions) for line in check(root / name)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
