"""What we say of providers says where it is known from. (Rules have a test of their own, beside their declarations.)

A limit that no provider sets says that it is our choice, and why it is not another number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest

from documentation_support import ROOT
from legato.model import IdScheme, NameRule
from legato.routing.health import Resting
from legato.routing.retry import Patience
from legato.transport.classification import BY_STATUS
from legato.transport.contract import Timeouts
from legato.wire import bounds
from scripts.source_reading import fields

_SOURCE = re.compile(r"https://\S+|\b[\w.-]+/[\w.-]+#\d+\b")


@pytest.mark.parametrize("kind", [IdScheme, NameRule])
def test_every_form_of_ids_and_names_says_who_asks_for_it(kind: type[Enum]) -> None:
    described = {one.name: one.text for one in fields(kind)}
    assert described.keys() == kind.__members__.keys()
    assert [name for name, text in described.items() if not _SOURCE.search(text)] == []


_SOURCES = ROOT / "src" / "legato"


def _is_number(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float()):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case _:
            return False


def _unexplained(path: Path) -> Iterator[str]:
    """The constants of a module that are numbers, with neither a string below them nor a comment."""
    text = path.read_text(encoding="utf-8")
    lines, body = text.splitlines(), ast.parse(text).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_number(node.value):
            is_described = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            if not is_described and "#" not in lines[node.lineno - 2] + lines[node.lineno - 1]:
                yield f"{path.parent.name}/{path.name}:{node.lineno}"


def test_every_limit_says_what_it_is_for() -> None:
    assert [place for path in _SOURCES.rglob("*.py") for place in _unexplained(path)] == []


def test_a_number_without_a_word_about_it_is_found(tmp_path: Path) -> None:
    module = _SOURCES / "transport" / "unpacking.py"
    described = next(line for line in module.read_text(encoding="utf-8").splitlines() if "our choice" in line)
    bare = tmp_path / "src" / "legato" / "bare.py"
    bare.parent.mkdir(parents=True)
    bare.write_text(module.read_text(encoding="utf-8").replace(described, ""), encoding="utf-8")
    assert list(_unexplained(module)) == []
    assert len(list(_unexplained(bare))) == 1


@pytest.mark.parametrize("kind", [Timeouts, Patience, Resting])
def test_limits_in_time_are_known_from_somewhere_or_our_choice(kind: type) -> None:
    assert _SOURCE.search(kind.__doc__ or "") or "our choice" in (kind.__doc__ or "")


def test_limits_in_size_are_our_choice() -> None:
    assert "our choice" in (bounds.__doc__ or "")
    assert [one.name for one in fields(bounds.Bounds) if not one.text] == []


def test_every_status_says_who_gives_it() -> None:
    """A comment with a source stands above each group of statuses."""
    text = (_SOURCES / "transport" / "classification.py").read_text(encoding="utf-8")
    table = text[text.index("BY_STATUS") : text.index("ADVICE:")]
    known: dict[int, bool] = {}
    has_source = False
    for line in table.splitlines()[1:]:
        if line.lstrip().startswith("#"):
            has_source = bool(_SOURCE.search(line))
        elif status := re.match(r" +(\d+):", line):
            known[int(status[1])] = has_source
    assert known == dict.fromkeys(BY_STATUS, True)
