"""What healthy clients wrote is clean: sessions that others published, and requests as they were sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialect_support import SAMPLES
from legato.files import lint
from legato.formats import Level, lint_document, read_all

_AGENTS = "agent-sessions-multi/stage0/agents"
_KIMI = "kimi/legacy"
_WIRES = "kimi/vis/sessions"

HEALTHY = {
    "claude-code": ["claude-code/test__test_data__representative_messages.jsonl"],
    "codex": ["agent-sessions-multi/codex_052_raw.jsonl"],
    "gemini-cli": [f"{_AGENTS}/gemini/{name}" for name in ("jsonl_v040.jsonl", "large.json", "schema_drift.json")],
    "qwen-code": [
        f"{_AGENTS}/qwen/{name}.jsonl" for name in ("019f0000-0000-7000-8000-000000000002", "system_telemetry")
    ],
    "pi": [
        # This one has six calls without a result: answers that were cancelled, which pi does not send again.
        "pi/packages__coding-agent__test__fixtures__before-compaction.jsonl",
        "pi/packages__coding-agent__test__fixtures__assistant-message-with-thinking-code.json",
        f"{_AGENTS}/pi/small.jsonl",
        f"{_AGENTS}/openclaw/large.jsonl",
        f"{_AGENTS}/openclaw/small.jsonl",
    ],
    "kimi-cli": [
        f"{_KIMI}/{name}/context.jsonl"
        for name in (
            "archived",
            "broken-state-json",
            "tiny-hello-world",
            "with-image",
            "with-thinking",
            "with-tool-calls",
        )
    ],
    "kimi-code": [
        *(f"{_KIMI}/{name}/wire.jsonl" for name in ("large-100msgs", "with-image", "with-thinking", "with-tool-calls")),
        f"{_WIRES}/sample-compaction/agents/main/wire.jsonl",
    ],
    "cline": ["cline/sdk__packages__core__fixtures__session__agentic.compaction.json"],
    "opencode": [
        f"{_AGENTS}/opencode/storage_legacy/part/prt_0001.json",
        f"{_AGENTS}/opencode/storage_v2/part/m_assistant_small/001.json",
    ],
}
"""the samples of each format that have nothing wrong with them; the others are damaged, cut or made up"""

FOUND = SAMPLES.parent / "findings" / "files"
"""sessions as real clients wrote them"""
SESSIONS = {
    "gemini-healthy.jsonl": "gemini-cli",
    "gemini-healthy-image.jsonl": "gemini-cli",
    "claude-structured-output.jsonl": "claude-code",
    "codex-interrupted.jsonl": "codex",
}

CLIENTS = sorted((SAMPLES / "clients").glob("*.jsonl"))

OUTDATED = {"pi": {0, 6}}
"""requests that ask a model of today for thinking as older ones want it; who recorded them let that pass"""


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in HEALTHY.items() for path in paths])
def test_a_session_of_a_healthy_client_is_clean(name: str, path: str) -> None:
    if not (SAMPLES / path).exists():
        pytest.skip("the shared samples are not here")
    report = lint(SAMPLES / path)
    assert (report.format, report.errors) == (name, ())
    assert [found for found in report.findings if found.rule == "file/not-understood"] == []


@pytest.mark.parametrize("path", SESSIONS)
def test_a_session_that_a_real_client_wrote_is_clean(path: str) -> None:
    if not (FOUND / path).exists():
        pytest.skip("the sessions are not here")
    report = lint(FOUND / path)
    assert (report.format, report.errors) == (SESSIONS[path], ())


@pytest.mark.parametrize("path", CLIENTS, ids=lambda path: path.stem)
def test_a_request_of_a_real_client_is_refused_only_if_a_strict_provider_does(path: Path) -> None:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    refused = {number for number, one in enumerate(records) if _is_refused(one["note"])} | OUTDATED.get(
        path.stem, set()
    )
    found = {
        number
        for number, document in enumerate(read_all(path))
        if any(finding.level is Level.ERROR for finding in lint_document(document))
    }
    assert found == refused


def _is_refused(note: str) -> bool:
    """Whether the recorder of a request says so; what is sealed can be checked only by whoever sealed it."""
    return "Refused by a strict provider" in note and "could not be verified" not in note
