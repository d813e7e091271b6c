"""Every rule is proved by its own two examples."""

import pytest

from legato.model import Dialect
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity
from rule_targets import check, target_of_route
from rules import CASES, Case


@pytest.mark.req("REQ-915-005")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_refused_example_breaks_the_rule(case: Case):
    findings = check(case.refused, target_of_route(case.dialect, case.rule.route))

    assert (case.rule.id, case.rule.severity) in {(finding.rule, finding.severity) for finding in findings}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_accepted_example_breaks_no_rule_that_is_refused(case: Case):
    findings = check(case.accepted, target_of_route(case.dialect, case.rule.route))

    assert [
        finding for finding in findings if finding.severity is Severity.REFUSED or finding.rule == case.rule.id
    ] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_refused_example_breaks_no_other_rule_of_the_same_weight(case: Case):
    """An example that breaks three rules would prove none of them."""
    findings = check(case.refused, target_of_route(case.dialect, case.rule.route))
    others = {finding.rule for finding in findings if finding.severity is Severity.REFUSED} - {case.rule.id}

    assert others <= _INSEPARABLE.get(case.rule.id, set())


# A broken call or message often leaves its result alone, or cannot be broken without breaking its neighbour.
_INSEPARABLE: dict[str, set[str]] = {
    "openai-responses/orphan-output": {"openai-responses/unanswered-call"},
    "gemini/response-count": {"gemini/orphan-response"},
    "gemini/part-place": {"gemini/unanswered-call"},
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_words_of_a_rule_find_in_its_example_what_they_point_at(case: Case):
    target = target_of_route(case.dialect, case.rule.route)
    paths = [finding.path for finding in check(case.refused, target) if finding.rule == case.rule.id]

    words = [case.rule.words(path, case.refused, host=target.server) for path in paths]

    assert [said for said in words if "…" in said and case.rule.id not in _POINT_ELSEWHERE] == []


_POINT_ELSEWHERE = {
    "mistral/first-message-calls",  # the validator names the result, the rule is about the call
    "openai-responses/item-id-form",  # the prefix depends on the type of the item
    "anthropic/block-place",  # the role depends on the type of the block
}


@pytest.mark.parametrize(
    ("dialect", "habit"),
    [
        (Dialect.OPENAI_CHAT, "openai-chat/id-habit"),
        (Dialect.OPENAI_RESPONSES, "openai-responses/call-id-habit"),
        (Dialect.ANTHROPIC, "anthropic/id-habit"),
        (Dialect.VERCEL, "vercel/id-habit"),
        (Dialect.BEDROCK, "bedrock/id-habit"),
    ],
)
def test_a_missing_prefix_is_only_risky(dialect: Dialect, habit: str):
    assert dialect_parts(dialect).rules[habit].severity is Severity.RISKY
