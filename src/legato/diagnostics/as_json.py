"""Reports and diagnoses as JSON values, for `--report`, for tests and for other programs."""

from __future__ import annotations

from typing import cast

import msgspec

from legato.diagnostics.diagnosis import Diagnosis
from legato.diagnostics.redaction import Redactor
from legato.model import JsonObject, ingest
from legato.request.report import RenderReport


def report_json(report: RenderReport, *, redactor: Redactor | None = None) -> JsonObject:
    """`report` as an object: its fields, and under `faults` for each fault class the calls it concerns."""
    value = msgspec.to_builtins(report)
    value["synthetic"] = {str(call.call_id): call.reason for call in report.synthetic}
    value["faults"] = {
        fault.value: {
            "decisions": len(decisions),
            "calls": list(dict.fromkeys(str(call) for decision in decisions for call in decision.calls)),
        }
        for fault, decisions in report.faults.items()
    }
    return cast(JsonObject, (redactor or Redactor()).value(value))


def diagnosis_json(diagnosis: Diagnosis, *, redactor: Redactor | None = None) -> JsonObject:
    """`diagnosis` as an object."""
    value = {**msgspec.to_builtins(msgspec.structs.replace(diagnosis, facts={})), "facts": ingest(diagnosis.facts)}
    return cast(JsonObject, (redactor or Redactor()).value(value))
