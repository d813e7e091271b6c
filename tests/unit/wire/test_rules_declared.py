"""A rule is declared once: what checks report is declared, what is declared is reported, known from somewhere, and shown."""

import re
from collections.abc import Mapping

import pytest

from legato.model import Dialect
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from legato.wire.rules import OBSERVED, WireRule, by_id, refused, risky
from rule_emissions import emissions
from rules import EXAMPLES

_SOURCE = re.compile(r"https://\S+|[\w.-]+/[\w.-]+#\d+")

_WITHOUT_A_SOURCE = {
    "openai-responses/call-items",  # what the specification says of a gateway; nothing public confirms it
}


def _declared(dialect: Dialect) -> Mapping[str, WireRule]:
    return dialect_parts(dialect).rules


@pytest.mark.parametrize("dialect", Dialect)
def test_checks_report_all_the_rules_that_are_declared_and_no_others(dialect: Dialect):
    reported = {rule for emission in emissions(dialect) for rule in emission.rules}

    assert reported == set(_declared(dialect))


@pytest.mark.parametrize("dialect", Dialect)
def test_checks_report_each_rule_with_its_declared_severity(dialect: Dialect):
    declared = _declared(dialect)

    assert [
        f"{emission.place}: {rule}"
        for emission in emissions(dialect)
        for rule in emission.rules
        if declared[rule].severity is not emission.severity
    ] == []


@pytest.mark.parametrize("dialect", Dialect)
def test_it_is_known_of_every_report_which_rule_it_names(dialect: Dialect):
    """Shared code reports under the prefix that it is given, and a dialect may not use it at all."""
    unknown = [emission.place for emission in emissions(dialect) if not emission.rules and not emission.is_shared]

    assert unknown == []


@pytest.mark.parametrize("dialect", Dialect)
def test_every_declared_rule_has_an_example_and_every_example_a_rule(dialect: Dialect):
    assert set(EXAMPLES[dialect]) == set(_declared(dialect))


def test_dialects_share_only_the_rules_about_json():
    owners = [rule for dialect in Dialect for rule in _declared(dialect) if not rule.startswith("json/")]

    assert len(owners) == len(set(owners))


@pytest.mark.parametrize("dialect", Dialect)
def test_every_rule_says_where_it_is_known_from(dialect: Dialect):
    rules = _declared(dialect).values()

    assert {rule.id for rule in rules if not rule.sources} <= _WITHOUT_A_SOURCE
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
    assert refused("a/b", "It is so.", source="", route="p/m").sources == ()
