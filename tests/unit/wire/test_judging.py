"""What all rules share: strict JSON, brief quotations, and following calls to their results."""

import math
from typing import Any

import pytest

from legato.wire.findings import Severity, Violation
from legato.wire.judging import Findings, brief, holds_object
from legato.wire.judging_json import MAX_DEPTH, examine_json
from legato.wire.judging_pairs import Pairing, PairingRules
from legato.wire.rules import refused, risky


def _examine(body: Any) -> list[tuple[str, str]]:
    found = Findings()
    examine_json(body, found)
    return [(violation.rule, violation.path) for violation in found.violations]


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        ({}, []),
        ({"a": [1, 1.5, "é😀", None, True, {"b": []}], "big": 10**40}, []),
        ({"a": "tab\t, line\n, back\b, feed\f, escape \\u0000"}, []),
        ([], [("json/not-json", "")]),
        ({"a": [1.0, math.nan]}, [("json/not-json", "a[1]")]),
        ({"a": {"b": -math.inf}}, [("json/not-json", "a.b")]),
        ({"a": {1, 2}}, [("json/not-json", "a")]),
        ({"a": [{"b": "half \udc00"}]}, [("json/lone-surrogate", "a[0].b")]),
        ({"a": {"\ud83d": 1}}, [("json/lone-surrogate", "a.?")]),
        ({"a": "nul \x00"}, [("json/control-character", "a")]),
        ({"a": "\x1b[31m", "b": "\x7f"}, [("json/control-character", "a")]),
        ({"a": _nested(MAX_DEPTH - 1)}, []),
        (
            {"a": _nested(MAX_DEPTH), "b": math.nan},
            [("json/not-json", "b"), ("json/too-deep", "a" + "[0]" * (MAX_DEPTH - 1))],
        ),
        ({"a": [_nested(MAX_DEPTH), _nested(MAX_DEPTH)]}, [("json/too-deep", "a[1]" + "[0]" * (MAX_DEPTH - 2))]),
        ({(1, 2): "no key of JSON", "a": 1}, []),
    ],
    ids=lambda value: None,
)
def test_only_strict_json_is_clean(body: Any, findings: list[tuple[str, str]]):
    assert _examine(body) == findings


@pytest.mark.parametrize(
    ("text", "is_object"),
    [
        ("{}", True),
        (' {"a": [1, {"b": null}]} ', True),
        ('{"a": 123456789012345678901234567890}', True),
        ("", False),
        ("[]", False),
        ("null", False),
        ('"{}"', False),
        ('{"a": NaN}', False),
        ('{"a": ', False),
        ('{"a": "\ud83d"}', False),
        ('{"a":' * 100_000, False),
    ],
)
def test_arguments_hold_an_object_or_do_not(text: str, is_object: bool):
    assert holds_object(text) is is_object


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("call_1", "'call_1'"),
        ("a" * 100, "'" + "a" * 80 + "'…"),
        ("\ud83d", "'\\ud83d'"),
        (None, "None"),
        (1, "1"),
        ({"a": 1}, "an object"),
        (_nested(100_000), "an array"),
    ],
    ids=lambda value: None,
)
def test_a_quotation_is_short_and_printable(value: Any, quoted: str):
    assert brief(value) == quoted


def test_findings_carry_their_weight():
    found = Findings()
    found.report(refused("a/b", "It is so.", source="o/r#1"), "x[0]", "no")
    found.report(risky("a/c", "It may be so.", source="o/r#1"), "x.\ud83d", "perhaps")

    assert found.violations == [
        Violation("a/b", Severity.REFUSED, "x[0]", "no"),
        Violation("a/c", Severity.RISKY, "x.?", "perhaps"),
    ]


_PAIRS = PairingRules(
    *(refused(f"x/{name.replace('_', '-')}", "It is so.", source="o/r#1") for name in PairingRules._fields)
)


def _follow(*steps: str) -> list[str]:
    """Findings for steps such as "call a", "result a", "excuse a", "close"; the path of a step is its number."""
    found = Findings()
    pairing = Pairing(_PAIRS, found)
    for number, step in enumerate(steps):
        verb, _, call_id = step.partition(" ")
        if verb == "close":
            pairing.close()
        elif verb == "excuse":
            pairing.excuse(call_id)
        else:
            getattr(pairing, verb)(call_id, str(number))
    pairing.end()
    return [f"{violation.rule} {violation.path}" for violation in found.violations]


@pytest.mark.req("REQ-915-005")
@pytest.mark.parametrize(
    ("steps", "findings"),
    [
        ([], []),
        (["call a", "result a"], []),
        (["call a", "call b", "result b", "result a", "close", "call c", "result c"], []),
        (["call a"], ["x/unanswered-call 0"]),
        (["call a", "call b", "result a", "close"], ["x/unanswered-call 1"]),
        (["call a", "close", "result a"], ["x/result-too-late 2"]),
        (["call a", "close", "result a", "result a"], ["x/result-too-late 2", "x/orphan-result 3"]),
        (["result a"], ["x/orphan-result 0"]),
        (["call a", "result b", "result a"], ["x/unknown-result 1"]),
        (["call a", "result a", "result a"], ["x/duplicate-result 2"]),
        (["call a", "call a", "result a"], ["x/duplicate-call-id 1"]),
        (["call a", "result a", "close", "call a", "result a"], ["x/repeated-id 3"]),
        (["call a", "result a", "close", "call a"], ["x/repeated-id 3", "x/unanswered-call 3"]),
        (["call a", "excuse a", "close"], []),
        (["call a", "excuse a", "result a"], []),
        (["call a", "call b", "excuse a", "close"], ["x/unanswered-call 1"]),
    ],
    ids=lambda value: " ".join(value) or "nothing",
)
def test_calls_are_followed_to_their_results(steps: list[str], findings: list[str]):
    assert _follow(*steps) == findings
