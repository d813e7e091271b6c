"""lint: the findings of a file as values, and as SARIF."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec

from file_samples import CLEAN_BODY, OPEN_BODY, anthropic_body, chat_body, open_session, save, use
from legato.files import LintReport, lint, sarif
from legato.formats import Finding, Level

OPEN_CALL = Finding(
    rule="anthropic/unanswered-call",
    level=Level.ERROR,
    place="messages[1].content[2]",
    message="the call 'toolu_b' has no result after it",
    repair="repair puts in a result that says there is none",
    targets=("anthropic",),
    says={
        "anthropic": "“`tool_use` ids were found without `tool_result` blocks immediately after: toolu_b”.",
    },
    broken={"anthropic": "anthropic/unanswered-call"},
    line=33,
    column=9,
)


def test_a_body_is_judged_for_its_own_provider(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)

    report = lint(path)

    assert report == LintReport(file=str(path), format="anthropic", findings=(OPEN_CALL,))
    assert report.errors == (OPEN_CALL,)


def test_a_path_bytes_and_a_stream_give_the_same_findings(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)
    data = path.read_bytes()

    reports = [lint(path), lint(str(path)), lint(data), lint(io.BytesIO(data), name="upload")]

    assert [report.file for report in reports] == [str(path), str(path), "input", "upload"]
    assert [report.findings for report in reports] == [(OPEN_CALL,)] * 4


def test_one_target_or_several_can_be_named(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    one, several = lint(path, targets="gemini"), lint(path, targets=("gemini", "mistral"))

    assert [finding.targets for finding in one.findings] == [("gemini",)]
    assert [finding.targets for finding in several.findings] == [("gemini", "mistral")]


def test_a_clean_file_has_no_errors(tmp_path: Path):
    assert lint(save(tmp_path / "body.json", CLEAN_BODY)).errors == ()


def test_findings_in_one_of_several_conversations_say_in_which():
    bodies = [chat_body("a"), chat_body("b", answered=0)]

    report = lint(json.dumps([{"request": body} for body in bodies]).encode())

    assert [(finding.rule, finding.place) for finding in report.errors] == [
        ("openai-chat/unanswered-call", "[1].request.messages[2].tool_calls[0]")
    ]


def test_a_finding_in_one_line_of_json_is_told_by_its_column():
    body = json.dumps({"note": "émoji 🎈", **OPEN_BODY}, ensure_ascii=False)

    (finding,) = lint(body.encode()).findings

    assert finding.line == 1
    assert body[finding.column - 1 :].startswith('{"type": "tool_use", "id": "toolu_b"')


def test_what_is_missing_is_told_by_the_place_that_lacks_it():
    body = {name: value for name, value in CLEAN_BODY.items() if name != "max_tokens"}

    (finding,) = lint(json.dumps({**body, "system": "x"}).encode()).findings

    assert (finding.place, finding.line, finding.column) == ("max_tokens", 1, 1)


def test_findings_that_are_not_in_the_order_of_the_file_have_their_own_lines():
    body = json.dumps({"messages": OPEN_BODY["messages"], "model": "claude-sonnet-4-5", "tools": []}, indent=1)

    findings = lint(body.encode(), format="anthropic").findings

    lines = body.splitlines()
    assert {finding.place for finding in findings} >= {"messages[1].content[2]", "max_tokens"}
    for finding in findings:
        value = lines[finding.line - 1][finding.column - 1 :]
        assert value.startswith("{" if finding.place != "tools" else "[]"), finding


def test_a_secret_that_a_finding_would_quote_is_hidden():
    key = "sk-" + "0a1b2c3d" * 4
    body = anthropic_body(("user", "Read."), ("assistant", [use(key, path="a")]), ("user", "And?"))

    report = lint(json.dumps(body).encode())

    assert report.errors
    assert key not in str(report)
    assert "[hidden]" in report.errors[0].message


def test_a_report_can_be_encoded_and_decoded(tmp_path: Path):
    report = lint(save(tmp_path / "body.json", OPEN_BODY))

    assert msgspec.json.decode(msgspec.json.encode(report), type=LintReport) == report


def test_a_sarif_log_names_each_file_once_and_each_finding_with_its_rule(tmp_path: Path):
    reports = [lint(save(tmp_path / name, body)) for name, body in (("a.json", OPEN_BODY), ("b.json", CLEAN_BODY))]

    (run,) = sarif([*reports, reports[0]])["runs"]

    assert [item["location"]["uri"] for item in run["artifacts"]] == [
        str(tmp_path / "a.json"),
        str(tmp_path / "b.json"),
    ]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["anthropic/unanswered-call"]
    assert [(result["ruleId"], result["ruleIndex"], result["level"]) for result in run["results"]] == [
        ("anthropic/unanswered-call", 0, "error"),
        ("anthropic/unanswered-call", 0, "error"),
    ]
