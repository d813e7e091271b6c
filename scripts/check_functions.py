"""Fail if a function of the core is longer than a screen. How complex one may be is ruff's to say (C901).

The core is what every request goes through. A function there that does not fit on a screen holds two ideas.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

CORE = ("model", "ledger", "transcript", "wire", "request")
MOST_LINES = 60


def long_functions(folder: Path) -> Iterator[str]:
    """A line for each function below `folder` that is too long."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES:
                    yield f"{path}:{node.lineno}: {node.name} has {lines} lines, more than {MOST_LINES}: split it"


def main() -> int:
    """Print what is too long; the exit status says whether anything is."""
    root = Path(__file__).resolve().parents[1] / "src" / "legato"
    found = [line for name in CORE for line in long_functions(root / name)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
