"""Every rule is proved by its own two examples."""

import pytest

from legato.model import Dialect
from legato.wire.contract import Rule, Severity
from rule_targets import RULE_SETS, check, target_of_route

_CASES = [
    pytest.param(dialect, rule, id=f"{dialect}-{rule.id}") for dialect, rules in RULE_SETS.items() for rule in rules
]


@pytest.mark.req("REQ-915-005")
@pytest.mark.parametrize(("dialect", "rule"), _CASES)
def test_the_refused_example_breaks_the_rule(dialect: Dialect, rule: Rule):
    findings = check(rule.refused, target_of_route(dialect, rule.route))

    assert (rule.id, rule.severity) in {(finding.rule, finding.severity) for finding in findings}


@pytest.mark.parametrize(("dialect", "rule"), _CASES)
def test_the_accepted_example_breaks_no_rule_that_is_refused(dialect: Dialect, rule: Rule):
    findings = check(rule.accepted, target_of_route(dialect, rule.route))

    assert [finding for finding in findings if finding.severity is Severity.REFUSED or finding.rule == rule.id] == []


@pytest.mark.parametrize(("dialect", "rule"), _CASES)
def test_the_refused_example_breaks_no_other_rule_of_the_same_weight(dialect: Dialect, rule: Rule):
    """An example that breaks three rules would prove none of them."""
    findings = check(rule.refused, target_of_route(dialect, rule.route))
    others = {finding.rule for finding in findings if finding.severity is Severity.REFUSED} - {rule.id}

    assert others <= _INSEPARABLE.get(rule.id, set())


# A broken call or message often leaves its result alone, or cannot be broken without breaking its neighbour.
_INSEPARABLE: dict[str, set[str]] = {
    "openai-responses/orphan-output": {"openai-responses/unanswered-call"},
    "gemini/response-count": {"gemini/orphan-response"},
    "gemini/part-place": {"gemini/unanswered-call"},
}


def test_no_rule_is_listed_twice():
    for rules in RULE_SETS.values():
        ids = [rule.id for rule in rules]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "habit", ["openai-chat/id-habit", "openai-responses/call-id-habit", "anthropic/id-habit", "vercel/id-habit"]
)
def test_a_missing_prefix_is_only_risky(habit: str):
    assert [rule.severity for rules in RULE_SETS.values() for rule in rules if rule.id == habit] == [Severity.RISKY]
