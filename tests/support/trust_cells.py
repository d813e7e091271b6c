"""Which cells of the table of trust a test tries: `@proves(Allowance.NO, Party.FILE, Power.RUN)`.

The decorator holds the test to the table: it fails where the table says something else. Which cells are tried at all is
read from the decorators themselves, by `proven_in`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from legato.model.trust import Allowance, Party, Power, leave_of

Test = TypeVar("Test", bound=Callable[..., object])


def proves(leave: Allowance, party: Party, *powers: Power) -> Callable[[Test], Test]:
    """Say that a test shows which leave `party` has for `powers`."""
    for power in powers:
        assert leave_of(party, power) is leave, f"{party}, {power}: the table says {leave_of(party, power)}"
    return lambda test: test


def proven_in(folder: Path) -> set[tuple[Party, Power]]:
    """The cells that the tests in `folder` try."""
    cells: set[tuple[Party, Power]] = set()
    for path in folder.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                cells.update(_named_by(node))
    return cells


def _named_by(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[Party, Power]]:
    for one in test.decorator_list:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "proves":
            _, party, *powers = [argument.attr for argument in one.args if isinstance(argument, ast.Attribute)]
            yield from ((Party[party], Power[power]) for power in powers)
