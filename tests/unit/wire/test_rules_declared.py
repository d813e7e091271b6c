"""A rule is declared once, where it is checked: what checks report is declared, known from somewhere, and shown."""

import ast
import inspect
import re
from collections.abc import Mapping
from types import ModuleType

import pytest

from legato.model import Dialect
from legato.wire import judging
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from legato.wire.openai_chat.rules import checks, of_hosts
from legato.wire.rules import OBSERVED, WireRule, by_id, declared, refused, risky
from rule_constants import HOST_CHECKS, rule_constants, rule_modules
from rules import EXAMPLES

_SOURCE = re.compile(r"https://\S+|[\w.-]+/[\w.-]+#\d+")


def _declared(dialect: Dialect) -> Mapping[str, WireRule]:
    return dialect_parts(dialect).rules


@pytest.mark.parametrize("dialect", Dialect)
def test_every_rule_that_a_check_can_name_is_declared(dialect: Dialect):
    assert {rule.id for rule in rule_constants(dialect)} <= set(_declared(dialect))


_MAKERS = {"refused", "risky", "replace", "ReportedRule", "Violation", "WireRule"}
_MAKE_SOME = {
    of_hosts: "makes rules of what hosts declare",
    checks: "names them",
    judging: "makes violations of what is reported to it",
}


@pytest.mark.parametrize("dialect", Dialect)
def test_rules_are_constants_so_that_none_is_made_where_it_is_reported(dialect: Dialect):
    made = [
        f"{module.__name__}:{call.lineno}"
        for module in rule_modules(dialect)
        if module not in _MAKE_SOME
        for function in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(function, ast.FunctionDef)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and (_name_of(call) in _MAKERS or _reports_what_is_made(call))
    ]

    assert made == []


def _name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _reports_what_is_made(call: ast.Call) -> bool:
    """Whether a rule is made in the very words that report it."""
    is_report = isinstance(call.func, ast.Attribute) and call.func.attr == "report"
    return is_report and any(isinstance(inside, ast.Call) for inside in ast.walk(call.args[0]))


def test_what_checks_report_for_hosts_without_a_rule_of_their_own_is_declared_in_the_same_severity():
    declared = _declared(Dialect.OPENAI_CHAT)

    assert {name: declared[check.reports.id].severity for name, check in HOST_CHECKS.items()} == {
        name: check.reports.severity for name, check in HOST_CHECKS.items()
    }


@pytest.mark.parametrize("dialect", Dialect)
def test_every_declared_rule_has_an_example_and_every_example_a_rule(dialect: Dialect):
    assert set(EXAMPLES[dialect]) == set(_declared(dialect))


def test_dialects_share_only_the_rules_about_json():
    owners = [rule for dialect in Dialect for rule in _declared(dialect) if not rule.startswith("json/")]

    assert len(owners) == len(set(owners))


@pytest.mark.parametrize("dialect", Dialect)
def test_every_rule_says_where_it_is_known_from(dialect: Dialect):
    rules = _declared(dialect).values()

    assert [rule.id for rule in rules if not rule.sources] == []
    assert [
        source for rule in rules for source in rule.sources if source != OBSERVED and _SOURCE.fullmatch(source) is None
    ] == []


@pytest.mark.parametrize("dialect", Dialect)
def test_what_a_rule_asks_is_a_sentence(dialect: Dialect):
    assert [rule.id for rule in _declared(dialect).values() if not re.fullmatch(r"(?s)[A-Z`].*[.…]", rule.says)] == []


def test_a_rule_that_is_declared_twice_is_refused():
    rule = refused("a/b", "It is so.", source="o/r#1", route="p/m")

    with pytest.raises(ValueError, match="declared twice: a/b"):
        by_id(rule, risky("a/c", "It may be so.", source="o/r#2", route="p/m"), rule)


def test_a_declaration_is_a_rule():
    assert risky("a/b", "It may be so.", source=("o/r#1", "o/r#2"), route="p/m", error="no") == WireRule(
        id="a/b",
        severity=Severity.RISKY,
        says="It may be so.",
        sources=("o/r#1", "o/r#2"),
        error="no",
        errors={},
        code="",
        route="p/m",
    )


def test_the_rules_of_modules_are_their_constants_alone_and_in_tuples():
    first, second = ModuleType("first"), ModuleType("second")
    lone, paired, imported = (risky(f"a/{name}", "It may be so.", source="o/r#1") for name in "bcd")
    vars(first).update(LONE=lone, IMPORTED=imported, PAIR=("a name", paired), OTHER="nothing")
    vars(second).update(IMPORTED=imported, ELSEWHERE=refused("a/e", "It is so.", source="o/r#1", route="p/other"))

    assert {rule.id: rule.route for rule in declared(first, second, route="p/m").values()} == {
        "a/b": "p/m",
        "a/d": "p/m",
        "a/c": "p/m",
        "a/e": "p/other",
    }
