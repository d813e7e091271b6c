"""The tree of exceptions: it is what its docstring draws, and each class is filed under who can act."""

import inspect
import re

import pytest

from legato import errors
from legato.cli.exits import ExitCode, code_of
from legato.diagnostics import fault_of
from legato.errors import CallerError, IngestError, LegatoError
from legato.model import ingest, read_json

_BRANCH = re.compile(r"^    ((?:[│ ]   )*)(?:[├└]── )?([A-Z]\w+)")


def _drawn() -> dict[str, str]:
    """Each class that the docstring draws, with its base."""
    path: list[str] = []
    bases: dict[str, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        if found := _BRANCH.match(line):
            depth = len(found[1]) // 4 + ("── " in line)
            path[depth:] = [found[2]]
            bases[found[2]] = path[depth - 1] if depth else "Exception"
    return bases


def test_the_docstring_draws_the_tree_of_classes() -> None:
    classes = inspect.getmembers(errors, lambda value: inspect.isclass(value) and issubclass(value, LegatoError))
    assert _drawn() == {name: kind.__base__.__name__ for name, kind in classes}


def test_a_value_that_cannot_become_json_is_the_matter_of_the_caller() -> None:
    with pytest.raises(IngestError) as caught:
        ingest([0] * 1_000_001)
    assert isinstance(caught.value, CallerError)
    assert (fault_of(caught.value), code_of(caught.value)) == (None, ExitCode.USAGE)


def test_a_text_that_is_no_json_is_the_matter_of_the_caller() -> None:
    with pytest.raises(CallerError, match="not valid JSON"):
        read_json(b"{")
