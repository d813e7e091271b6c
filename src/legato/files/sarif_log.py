"""Findings as SARIF 2.1.0, which code hosts and editors show beside the file.

In:  the reports of `lint` on any number of files.
Out: one SARIF log with one run, as JSON, without secrets: it is made to be uploaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import cast
from urllib.parse import quote

from legato.diagnostics import Redactor
from legato.files.linting import LintReport
from legato.formats import Finding, Level
from legato.model import JsonObject
from legato.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {Level.ERROR: "error", Level.RISK: "warning", Level.NOTE: "note"}
_LINE = re.compile(r"line (\d+)")


def sarif(reports: Iterable[LintReport]) -> JsonObject:
    """One run of `lint` over files, as a SARIF log."""
    rules: dict[str, int] = {}
    results: list[JsonObject] = []
    files: dict[str, None] = {}
    for report in reports:
        files[report.file] = None
        for finding in report.findings:
            index = rules.setdefault(finding.rule, len(rules))
            results.append(_result(report.file, finding, index))
    described = [{"id": rule, "shortDescription": {"text": rule.partition("/")[2].replace("-", " ")}} for rule in rules]
    driver: JsonObject = {"name": "legato", "version": __version__, "rules": described}
    artifacts = [{"location": {"uri": _uri(file)}} for file in files]
    run: JsonObject = {"tool": {"driver": driver}, "artifacts": artifacts, "results": results}
    return cast(JsonObject, Redactor().value({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}))


def _result(file: str, finding: Finding, index: int) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": _uri(file)}}
    location: JsonObject = {"physicalLocation": physical}
    if line := _LINE.match(finding.place):
        physical["region"] = {"startLine": int(line[1])}
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
    return quote(PurePath(file).as_posix())
