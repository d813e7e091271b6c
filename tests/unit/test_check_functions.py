"""Functions of the core are short and simple, without exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check_functions import MOST_LINES, excepted_functions, long_functions


def core(folder: Path, source: str) -> Path:
    (folder / "station.py").write_text(source)
    return folder


@pytest.mark.parametrize(("lines", "count"), [(MOST_LINES, 0), (MOST_LINES + 1, 1)])
def test_a_function_has_as_many_lines_as_fit_on_a_screen(tmp_path: Path, lines: int, count: int) -> None:
    source = "class Station:\n    async def visit(self):\n" + "        ...\n" * (lines - 1)
    assert len(list(long_functions(core(tmp_path, source)))) == count


@pytest.mark.parametrize(
    "comment", ["# noqa: C901", "# noqa: A002, C901  # it has to be", "# noqa", "# ruff: noqa: C901", "# ruff: noqa"]
)
def test_no_comment_lets_a_function_be_more_complex(tmp_path: Path, comment: str) -> None:
    assert len(list(excepted_functions(core(tmp_path, f"def visit(): {comment}\n    ...\n")))) == 1


def test_other_exceptions_are_not_its_business(tmp_path: Path) -> None:
    source = "def visit(format: str): ...  # noqa: A002  # a format is a format\n"
    assert list(excepted_functions(core(tmp_path, source))) == []
