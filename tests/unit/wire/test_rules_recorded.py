"""The rules against what live providers did: they refuse nothing that was accepted, and find what was refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from legato.wire.findings import Severity
from rule_targets import check, target_of_exchange

_EXCHANGES = Path(__file__).resolve().parents[4] / "shared" / "samples" / "provider-exchanges"
_ACCEPTED = _EXCHANGES / "accepted_tool_turns.jsonl"
_REJECTED = _EXCHANGES / "rejected.jsonl"

needs_exchanges = pytest.mark.skipif(not _EXCHANGES.is_dir(), reason="the recorded exchanges are not on this machine")


def _read(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            exchange = json.loads(line)
            yield f"{number}-{exchange['host']}", exchange


def _refused(exchange: dict[str, Any]) -> list[str] | None:
    body = exchange["request"]
    target = target_of_exchange(exchange["host"], exchange["path"], body.get("model") or "")
    if target is None:
        return None
    return [f"{found.rule} {found.path}" for found in check(body, target) if found.severity is Severity.REFUSED]


@needs_exchanges
@pytest.mark.parametrize("exchange", [pytest.param(value, id=name) for name, value in _read(_ACCEPTED)])
def test_what_a_provider_accepted_is_not_refused(exchange: dict[str, Any]):
    findings = _refused(exchange)

    if findings is None:
        pytest.skip("a dialect that is not spoken here")
    assert findings == []


# What the provider said, and what it found: requests whose structure of tools or reasoning was at fault.
_STRUCTURAL = {
    "without its required following item": "openai-responses/reasoning-alone",
    "No tool output found for": "openai-responses/unanswered-call",
    "No tool call found for": "openai-responses/orphan-output",
    "Image URLs are only allowed": "openai-chat/image-place",
    "must be followed by tool messages": "openai-chat/unanswered-call",
}

# Faults that no look at the body can find: the model does not exist or lacks a feature, a file or an address cannot be
# read, the model did not call the tool it was forced to call. One request is Bedrock's (a video in a result).
_NOT_OURS = (
    "not found",
    "not supported",
    "does not exist",
    "model:",
    "model identifier is invalid",
    "doesn't support",
    "Cannot fetch content",
    "Tool choice is required, but model did not call a tool",
    "does not support 'developer'",
    "extraneous key [toolResult]",
)


@needs_exchanges
@pytest.mark.parametrize("exchange", [pytest.param(value, id=name) for name, value in _read(_REJECTED)])
def test_what_a_provider_refused_for_its_structure_is_found(exchange: dict[str, Any]):
    said = json.dumps(exchange["response"])
    rules = [rule for words, rule in _STRUCTURAL.items() if words in said]
    if not rules:
        assert any(words in said for words in _NOT_OURS)
        pytest.skip("not a matter of structure")

    assert [finding.split()[0] for finding in _refused(exchange) or []] == rules


@needs_exchanges
def test_a_role_that_a_model_did_not_know_is_called_risky():
    refused = [
        value for _, value in _read(_REJECTED) if "does not support 'developer'" in json.dumps(value["response"])
    ]
    assert refused

    for exchange in refused:
        body = exchange["request"]
        target = target_of_exchange(exchange["host"], exchange["path"], body["model"])
        assert target is not None
        assert [found.rule for found in check(body, target)] == ["openai-chat/developer-role"]
