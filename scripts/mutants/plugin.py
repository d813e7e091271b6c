"""A pytest plugin: run the tests that carry a requirement's mark, and note which those are and how long they took."""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import pytest

NOTES = "MUTANTS_NOTES"
"""the variable that names the file for the notes"""
ONLY = "MUTANTS_ONLY"
"""the variable that names the requirements whose tests are run; all that are marked if it is empty"""
PART = "MUTANTS_PART"
"""the variable that says which part of them: "0/2" is the first of two"""

_seconds: defaultdict[str, float] = defaultdict(float)
_marks: dict[str, list[str]] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave only tests with a mark."""
    only = set(os.environ.get(ONLY, "").split())
    for item in items:
        named = {requirement for marker in item.iter_markers("req") for requirement in marker.args}
        _marks[item.nodeid] = [] if item.get_closest_marker("live") else sorted(named)
    asked = [item for item in items if _marks[item.nodeid] and (not only or only & {*_marks[item.nodeid]})]
    part, _, parts = os.environ.get(PART, "0/1").partition("/")
    items[:] = asked[int(part) :: int(parts)]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up setting up, running and tidying up."""
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    """Write the notes: for every test its requirements and its seconds, and which modules of others were loaded."""
    tests = {test: {"requirements": marks, "seconds": _seconds[test]} for test, marks in _marks.items()}
    notes = {"tests": tests, "modules": sorted(filter(_is_of_others, sys.modules))}
    Path(os.environ[NOTES]).write_text(json.dumps(notes), encoding="utf-8")


def _is_of_others(name: str) -> bool:
    """Whether a module is none of the project's, so that no breakage can concern it."""
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec is not None and spec.origin is not None and "site-packages" in spec.origin
