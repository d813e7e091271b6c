"""Whole requests as files: one small diff for each change. `make golden` rewrites them; they are reviewed like code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from legato import render
from legato.wire.findings import Severity

from builders import OTHER_ROUTES, ROUTES
from cases import CASES

HERE = Path(__file__).parent
GOLDEN_ROUTES = (*ROUTES, "vercel-gateway/openai/gpt-5.1", "deepseek-anthropic/deepseek-v4-pro")
TOOLS = [{"name": "read", "description": "Reads a file.", "parameters": {"type": "object", "properties": {}}}]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("route", GOLDEN_ROUTES)
def test_a_request_is_what_it_was(route: str, name: str) -> None:
    request = render(CASES[name](), route, tools=TOOLS)
    decisions = [[d.action, d.reason, *d.calls] for d in request.report.decisions]
    text = (
        json.dumps({"body": request.body, "decisions": decisions}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    )
    path = HERE / route.partition("/")[0] / f"{name}.json"
    if os.environ.get("LEGATO_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.req("REQ-915-004", "REQ-915-005", "REQ-915-013", "REQ-915-041")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
def test_every_named_case_is_accepted_by_every_target(route: str, name: str) -> None:
    request = render(CASES[name](), route, tools=TOOLS)
    assert [v for v in request.check() if v.severity is Severity.REFUSED] == []


def test_no_golden_file_is_left_over() -> None:
    expected = {f"{route.partition('/')[0]}/{name}.json" for route in GOLDEN_ROUTES for name in CASES}
    assert {str(path.relative_to(HERE)) for path in HERE.glob("*/*.json")} == expected
