"""Findings as SARIF 2.1.0, which code hosts and editors show beside the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import quote

from legato import __version__
from legato.formats.findings import Finding, Level
from legato.model import JsonObject

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {Level.ERROR: "error", Level.RISK: "warning", Level.NOTE: "note"}
_LINE = re.compile(r"line (\d+)")


class Linted(NamedTuple):
    """What was found in one file."""

    file: str
    format: str
    findings: Sequence[Finding]


def sarif(files: Sequence[Linted]) -> JsonObject:
    """One run over `files`."""
    rules: dict[str, int] = {}
    results: list[JsonObject] = []
    for linted in files:
        for finding in linted.findings:
            index = rules.setdefault(finding.rule, len(rules))
            results.append(_result(linted.file, finding, index))
    described = [{"id": rule, "shortDescription": {"text": rule.partition("/")[2].replace("-", " ")}} for rule in rules]
    driver: JsonObject = {"name": "legato", "version": __version__, "rules": described}
    artifacts = [{"location": {"uri": _uri(name)}} for name in dict.fromkeys(linted.file for linted in files)]
    run: JsonObject = {"tool": {"driver": driver}, "artifacts": artifacts, "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


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
