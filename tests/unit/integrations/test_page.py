"""The page about frameworks as a program: `make frameworks` does what each of its sections says, in the framework's
environment."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from legato.model import Dialect
from legato.wire.dialects import dialect_parts
from legato.wire.rules import OBSERVED
from scripts.frameworks.results import FRAMEWORKS, PAGE, Title
from scripts.frameworks.sections import Shown, differing, program, section_of
from scripts.frameworks.stage import variables

TEXT = PAGE.read_text(encoding="utf-8")
EACH = pytest.mark.parametrize("title", FRAMEWORKS, ids=lambda title: title.player)


@EACH
def test_a_section_shows_the_line_and_what_comes_of_it(title: Title) -> None:
    blocks = section_of(TEXT, title.name)
    answered = [
        block for block in blocks if block.printed is not None and ("gent" in block.code or "litellm." in block.code)
    ]
    assert len(answered) >= 1
    compile(program(blocks), title.player, "exec")


@EACH
def test_a_section_needs_no_other_one(title: Title) -> None:
    imported = {line for block in section_of(TEXT, title.name) for line in block.code.splitlines()}
    assert "from pathlib import Path" in imported


def test_what_was_printed_is_compared_block_by_block() -> None:
    blocks = [Shown("print(1)", "1\n"), Shown("x = 2", None), Shown("print(x)", "2\n")]
    ran = subprocess.run([sys.executable, "-c", program(blocks)], capture_output=True, text=True, check=True).stdout
    assert differing(blocks, ran) == []
    assert differing([*blocks[:2], Shown("print(x)", "3\n")], ran) == ["the page says '3', and it printed '2'"]


def test_the_page_leads_clients_to_the_simulated_providers_as_the_run_does() -> None:
    given = variables("http://127.0.0.1:8123")
    told = dict(
        word.split("=", 1) for line in TEXT.splitlines() if line.startswith("export ") for word in line.split()[1:]
    )
    assert told == {name: value for name, value in given.items() if not name.startswith("LITELLM")}


def test_each_rule_that_the_page_names_is_known_from_a_recorded_refusal_or_a_public_issue() -> None:
    declared = {rule.id: rule for dialect in Dialect for rule in dialect_parts(dialect).rules.values()}
    named = sorted(set(re.findall(r"\[`([a-z-]+/[a-z-]+)`\]\(rules\.md#", TEXT)))
    assert len(named) > 10
    assert [name for name in named if not any(map(_is_refusal, declared[name].sources))] == []


def _is_refusal(source: str) -> bool:
    return source == OBSERVED or re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", source) is not None


def test_no_framework_is_imported_before_it_is_used() -> None:
    modules = [f"legato.integrations.{title.player}" for title in FRAMEWORKS]
    frameworks = ("pydantic_ai", "langchain", "langchain_core", "agents", "litellm", "google")
    code = f"""
import sys
from importlib import import_module
for name in {modules}:
    import_module(name)
print([name for name in {frameworks} if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert ran.strip() == "[]"
