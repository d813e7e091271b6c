"""Findings as SARIF 2.1.0, which code hosts and editors show beside the file.

In:  the reports of `lint` on any number of files, and what could not be read.
Out: one SARIF log with one run, as JSON, without secrets: it is made to be uploaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import PurePath
from typing import cast
from urllib.parse import quote

from legato.diagnostics import Redactor
from legato.files.linting import LintReport, Unread
from legato.formats import Finding, Level
from legato.formats.targets import WIRE, find_target
from legato.model import JsonObject
from legato.version import __version__
from legato.wire.dialects import dialect_parts
from legato.wire.rules import WireRule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {Level.ERROR: "error", Level.RISK: "warning", Level.NOTE: "note"}


def sarif(reports: Iterable[LintReport], unread: Sequence[Unread] = ()) -> JsonObject:
    """One run of `lint` over files, as a SARIF log; `unread` are those that it could not look into."""
    rules: dict[str, int] = {}
    results: list[JsonObject] = []
    files: dict[str, None] = {}
    for report in reports:
        files[report.file] = None
        for finding in report.findings:
            index = rules.setdefault(finding.rule, len(rules))
            results.append(_result(report.file, finding, index))
    driver: JsonObject = {"name": "legato", "version": __version__, "rules": [_described(rule) for rule in rules]}
    invocation: JsonObject = {"executionSuccessful": not unread}
    if unread:
        invocation["toolExecutionNotifications"] = [_notification(one) for one in unread]
    run: JsonObject = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "artifacts": [{"location": {"uri": _uri(file)}} for file in files],
        "results": results,
    }
    return cast(JsonObject, Redactor().value({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}))


def _described(rule_id: str) -> JsonObject:
    """A rule: for one of a provider what it asks, and the page that says so."""
    rule = _rules().get(rule_id)
    if rule is None:
        return {"id": rule_id, "shortDescription": {"text": rule_id.partition("/")[2].replace("-", " ")}}
    described: JsonObject = {"id": rule_id, "shortDescription": {"text": rule.says}}
    if rule.pages:
        described["helpUri"] = next(iter(rule.pages.values()))
    return described


@cache
def _rules() -> dict[str, WireRule]:
    """The rules of all providers, by id."""
    return {id_: rule for name in WIRE for id_, rule in dialect_parts(find_target(name).dialect).rules.items()}


def _notification(unread: Unread) -> JsonObject:
    return {
        "level": "error",
        "message": {"text": unread.message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(unread.file)}}}],
    }


def _result(file: str, finding: Finding, index: int) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": _uri(file)}}
    location: JsonObject = {"physicalLocation": physical}
    if finding.line:
        column: JsonObject = {"startColumn": finding.column} if finding.column else {}
        physical["region"] = {"startLine": finding.line, **column}
    if finding.place:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.place}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.level],
        "message": {"text": _told(finding)},
        "locations": [location],
        "properties": {"targets": list(finding.targets), "calls": list(finding.calls), "repair": finding.repair},
    }


def _told(finding: Finding) -> str:
    says = [f"{name}: {text}" for name, text in finding.says.items()]
    return "\n".join([finding.message, *says, *([finding.repair] if finding.repair else [])])


def _uri(file: str) -> str:
    return quote(os.fsencode(PurePath(file).as_posix()))
